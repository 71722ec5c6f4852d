import { type ReactNode, useState } from 'react';
import type { DashboardTerminal as Terminal } from '../../data/types/dashboard.ts';
import { FilterBar, useFilters } from '../../desk/filters.tsx';
import { List } from '../../desk/short-list.tsx';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { ObjectLink } from '../payments/object-link.tsx';
import { StatusFilter } from '../statistics/day-filters.tsx';
import { ManagerCode } from '../team/manager-code.tsx';
import { AddTerminalDialog } from '../terminals/add-terminal-dialog.tsx';
import { Software } from '../terminals/terminal-software.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';

// Loaded as one file with this page, because each further file costs the first load some bytes.
export { TerminalPage } from './terminal.tsx';

const PAGE = 50;

const columns = (): readonly Column<Terminal>[] => [
  { name: t('dashboard.field.terminal'), cell: ({ id }) => <ObjectLink id={id} /> },
  { name: t('dashboard.field.label'), cell: ({ label }) => given(label) },
  { name: t('dashboard.field.status'), cell: ({ status }) => <ObjectStatus status={status} /> },
  { name: t('dashboard.field.software'), cell: (terminal) => <Software terminal={terminal} /> },
  {
    name: t('dashboard.field.last_seen'),
    cell: ({ last_seen_at: seen }) => (seen === null ? t('dashboard.never') : <Time at={seen} />),
  },
  { name: t('dashboard.field.added'), cell: ({ created }) => <Time at={created} shape="day" /> },
];

export function Terminals(): ReactNode {
  const filters = useFilters();
  const { may } = useMerchant();
  const [isAdding, setIsAdding] = useState(false);
  const query = useRead(
    'GET /accounts/{account}/{mode}/terminals',
    {
      query: {
        limit: PAGE,
        cursor: filters.cursor,
        status: filters.get('status') as Terminal['status'] | undefined,
      },
    },
    { keepsBefore: true },
  );
  return (
    <Page
      title={t('dashboard.page.terminals')}
      actions={
        <>
          {may('member') ? <ManagerCode /> : null}
          {may('admin') ? (
            <Button data-name="Add terminal" kind="primary" onClick={() => setIsAdding(true)}>
              {t('dashboard.button.add_terminal')}
            </Button>
          ) : null}
        </>
      }
    >
      <FilterBar filters={filters}>
        <StatusFilter
          filters={filters}
          options={[
            ['active', t('dashboard.status.active')],
            ['inactive', t('dashboard.status.inactive')],
          ]}
        />
      </FilterBar>
      <List
        label={t('dashboard.page.terminals')}
        query={query}
        columns={columns()}
        keyOf={({ id }) => id}
        filters={filters}
        empty={{
          title: t('dashboard.terminals.empty.heading'),
          text: t('dashboard.terminals.empty'),
        }}
      />
      {isAdding ? <AddTerminalDialog onClose={() => setIsAdding(false)} /> : null}
    </Page>
  );
}
