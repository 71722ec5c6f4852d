import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { SearchNetworkResponse } from '../../data/types/operator.ts';
import { FilterBar, FilterText, useFilters } from '../../desk/filters.tsx';
import { List } from '../../desk/short-list.tsx';
import { Amount } from '../../ui/amount.tsx';
import { EmptyDrawing } from '../../ui/empty-drawing.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus, Status } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { useRead } from '../use-operator.ts';

type Result = SearchNetworkResponse['data'][number];

const KINDS = { payment_intent: 'Payment', account: 'Account', payer: 'Payer' } as const;

function pathOf({ kind, id }: Result): string {
  if (kind === 'account') return `/operator/accounts/${id}`;
  return kind === 'payer' ? `/operator/payers?text=${id}` : `/operator/support/${id}`;
}

/** Links to an object that was found. An object in another cell opens in that cell's console. */
function FoundLink({ found }: { readonly found: Result }): ReactNode {
  const id = <span className="id">{found.id}</span>;
  if (found.console_url === null) return <Link href={pathOf(found)}>{id}</Link>;
  return (
    <a href={`${found.console_url}${pathOf(found)}`} target="_blank" rel="noreferrer">
      {id} (cell {found.cell})
    </a>
  );
}

function FoundSum({ found }: { readonly found: Result }): ReactNode {
  const { amount, paid, presentment } = found;
  if (amount === null) return null;
  if (paid === null || presentment === null) return <Amount atoms={BigInt(paid ?? amount)} />;
  const { currency, total } = presentment;
  return <Amount atoms={BigInt(paid)} price={{ currency, units: BigInt(total ?? 0) }} />;
}

const COLUMNS: readonly Column<Result>[] = [
  {
    name: 'What',
    cell: (result) => (
      <div>
        {KINDS[result.kind]}
        <p>
          <FoundLink found={result} />
        </p>
      </div>
    ),
  },
  {
    name: 'Amount',
    number: true,
    cell: (found) => <FoundSum found={found} />,
  },
  {
    name: 'Status',
    cell: ({ status }) =>
      status === 'blocked' ? <Status tone="bad">Blocked</Status> : <ObjectStatus status={status} />,
  },
  { name: 'Account', cell: ({ account_name: name }) => given(name) },
  {
    name: 'Order',
    cell: ({ order_id: order }) => (order === null ? null : <span className="id">{order}</span>),
  },
  { name: 'Mode', cell: ({ mode }) => ({ test: 'Test', live: 'Live', none: '' })[mode ?? 'none'] },
  { name: 'Since', cell: ({ created }) => <Time at={created} /> },
];

export function Support(): ReactNode {
  const filters = useFilters();
  const text = filters.get('text') ?? '';
  const query = useRead('GET /search', { query: { text } }, { enabled: text !== '' });
  return (
    <Page title="Support">
      <FilterBar filters={filters}>
        <FilterText
          filters={filters}
          name="text"
          label="Search"
          placeholder="Order, receipt, transaction, wallet, email or ID"
        />
      </FilterBar>
      {text === '' ? (
        <EmptyState
          drawing={<EmptyDrawing name="search" />}
          title="Search by anything the caller has"
        >
          An order ID, receipt number, transaction, wallet, the email address of someone at the
          shop, or any ID, in full. Before you see a payment you enter a reason, which the shop can
          read in its audit log.
        </EmptyState>
      ) : (
        <List
          label="Found"
          query={query}
          columns={COLUMNS}
          keyOf={({ kind, id }) => `${kind} ${id}`}
          empty={{
            drawing: 'search',
            title: 'No exact match',
            text:
              'Only complete values match. If a transaction shown in the wallet is not found ' +
              'here, this network did not send it: ask for the order or the receipt.',
          }}
        />
      )}
    </Page>
  );
}
