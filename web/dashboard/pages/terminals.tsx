import { type ReactNode, useState } from 'react';
import type { DashboardTerminal as Terminal } from '../../data/types/dashboard.ts';
import { FilterBar, FilterSelect, useFilters } from '../../desk/filters.tsx';
import { List } from '../../desk/list.tsx';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useMerchant, useRead } from '../merchant.ts';
import { AddTerminalDialog } from '../parts/add-terminal-dialog.tsx';
import { ManagerCode } from '../parts/manager-code.tsx';
import { ObjectLink } from '../parts/object-link.tsx';
import { Software } from '../parts/software.tsx';

const PAGE = 50;

const COLUMNS: readonly Column<Terminal>[] = [
  { name: 'Terminal', cell: ({ id }) => <ObjectLink id={id} /> },
  { name: 'Label', cell: ({ label }) => label },
  { name: 'Status', cell: ({ status }) => <ObjectStatus status={status} /> },
  { name: 'Software', cell: (terminal) => <Software terminal={terminal} /> },
  {
    name: 'Last seen',
    cell: ({ last_seen_at: seen }) => (seen === null ? 'Never' : <Time at={seen} />),
  },
  { name: 'Added', cell: ({ created }) => <Time at={created} shape="day" /> },
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
      title="Terminals"
      actions={
        <>
          {may('member') ? <ManagerCode /> : null}
          {may('admin') ? (
            <Button kind="primary" onClick={() => setIsAdding(true)}>
              Add terminal
            </Button>
          ) : null}
        </>
      }
    >
      <FilterBar filters={filters}>
        <FilterSelect
          filters={filters}
          name="status"
          label="Status"
          all="Any"
          options={[
            ['active', 'Active'],
            ['inactive', 'Inactive'],
          ]}
        />
      </FilterBar>
      <List
        label="Terminals"
        query={query}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        filters={filters}
        empty={
          <EmptyState title="No tills yet">
            Any phone, tablet or computer with a browser becomes a till: add it here, then scan its
            code.
          </EmptyState>
        }
      />
      {isAdding ? <AddTerminalDialog onClose={() => setIsAdding(false)} /> : null}
    </Page>
  );
}
