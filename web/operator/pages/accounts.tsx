import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { named } from '#i18n/bidi-isolates.ts';
import type { SearchAccountsResponse } from '../../data/types/operator.ts';
import { FilterBar, FilterText, useFilters } from '../../desk/filters.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { usePages } from '../use-operator.ts';

type Account = SearchAccountsResponse['data'][number];

const PAGE = 50;

const COLUMNS: readonly Column<Account>[] = [
  {
    name: 'Name',
    cell: ({ id, name }) => (
      <Link href={`/operator/accounts/${id}`} className="row-link">
        <strong>{named(name)}</strong> <span className="unseen">{id}</span>
      </Link>
    ),
  },
  { name: 'Account', cell: ({ id }) => <span className="id soft">{id}</span> },
  { name: 'Status', cell: ({ status }) => <ObjectStatus status={status} /> },
  { name: 'Verification', cell: ({ kyb_status: kyb }) => <ObjectStatus status={kyb} /> },
  { name: 'Opened', cell: ({ created }) => <Time at={created} /> },
];

export function Accounts(): ReactNode {
  const filters = useFilters();
  const pages = usePages(
    'GET /accounts',
    { query: { text: filters.get('text') } },
    { limit: PAGE },
  );
  return (
    <Page title="Accounts">
      <FilterBar filters={filters}>
        <FilterText filters={filters} name="text" label="Find" placeholder="ID, email or name" />
      </FilterBar>
      <LongList
        label="Accounts"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        filters={filters}
        nextOf={({ data }) => (data.length < PAGE ? null : (data.at(-1)?.id ?? null))}
        empty={{
          title: 'No accounts yet',
          text: 'Accounts that merchants open in the dashboard are listed here.',
        }}
      />
    </Page>
  );
}
