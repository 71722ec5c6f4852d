import type { ReactNode } from 'react';
import type { PaymentIntent } from '../../data/types/dashboard.ts';
import {
  FilterBar,
  FilterSelect,
  type Filters,
  FilterText,
  useFilters,
} from '../../desk/filters.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { usePages } from '../merchant.ts';
import { DayFilters, NamedFilters } from '../parts/day-filters.tsx';
import { DECLINE_CODES, type DeclineCode, declineWords } from '../parts/declines.ts';
import { SaleSum } from '../parts/sale-sum.tsx';
import { TerminalName, useTerminalOptions } from '../parts/terminal-names.tsx';
import { useChosenDays } from '../parts/time-zone.ts';
import { useLive } from '../parts/use-live.ts';

const PAGE = 50;

const COLUMNS: readonly Column<PaymentIntent>[] = [
  {
    name: 'Amount',
    number: true,
    cell: ({ id, amount, tip }) => <SaleSum id={id} amount={amount + (tip ?? 0)} tip={tip} />,
  },
  { name: 'Status', cell: ({ status }) => <ObjectStatus status={status} /> },
  {
    name: 'Sale',
    cell: ({ description, order_id: order }) => description ?? <span className="id">{order}</span>,
  },
  {
    name: 'Last decline',
    cell: (intent) => declineWords(intent.last_payment_error?.decline_code),
  },
  { name: 'Terminal', cell: ({ terminal }) => <TerminalName id={terminal} /> },
  { name: 'Created', cell: ({ created }) => <Time at={created} /> },
];

function useIntents(filters: Filters) {
  const decline = filters.get('decline');
  const common = { limit: PAGE, ...useChosenDays(filters), terminal: filters.get('terminal') };
  const others = {
    order_id: filters.get('order'),
    status: filters.get('status') as PaymentIntent['status'] | undefined,
    source: filters.get('source') as PaymentIntent['source'] | undefined,
  };
  const listed = usePages('GET /accounts/{account}/{mode}/payment_intents', (cursor) => ({
    query: { ...common, ...others, cursor },
  }));
  const declined = usePages(
    'GET /accounts/{account}/{mode}/declined_payment_intents',
    (cursor) => ({ query: { ...common, cursor, decline_code: decline as DeclineCode } }),
  );
  return decline === undefined ? listed : declined;
}

/** Everything that somebody was asked to pay, also what was not paid. */
export function Intents(): ReactNode {
  const filters = useFilters();
  const pages = useIntents(filters);
  useLive('payment_intent.', pages.at(filters.cursor).queryKey);
  return (
    <Page title="Intents">
      <IntentFilters filters={filters} />
      <LongList
        label="Intents"
        pages={pages}
        columns={COLUMNS}
        inPairs
        keyOf={({ id }) => id}
        filters={filters}
        empty={
          <EmptyState title="No intents yet">
            Each amount that your server or a till requests is listed here, whether it is paid,
            declined or never tapped.
          </EmptyState>
        }
      />
    </Page>
  );
}

function IntentFilters({ filters }: { readonly filters: Filters }): ReactNode {
  const terminals = useTerminalOptions();
  return (
    <FilterBar filters={filters} below={<NamedFilters filters={filters} />}>
      <FilterSelect
        filters={filters}
        name="decline"
        label="Declined because"
        all="Any"
        options={DECLINE_CODES.map((code) => [code, declineWords(code)])}
      />
      {filters.get('decline') === undefined ? <OtherFilters filters={filters} /> : null}
      <FilterSelect
        filters={filters}
        name="terminal"
        label="Terminal"
        all="All"
        options={terminals}
      />
      <DayFilters filters={filters} />
    </FilterBar>
  );
}

/** What the list of declines is not filtered by. */
function OtherFilters({ filters }: { readonly filters: Filters }): ReactNode {
  return (
    <>
      <FilterText filters={filters} name="order" label="Order" />
      <FilterSelect
        filters={filters}
        name="status"
        label="Status"
        all="Any"
        options={[
          ['requires_payment_method', 'Waiting for a tap'],
          ['requires_action', 'Waiting for the customer'],
          ['processing', 'Processing'],
          ['succeeded', 'Succeeded'],
          ['canceled', 'Canceled'],
        ]}
      />
      <FilterSelect
        filters={filters}
        name="source"
        label="Created by"
        all="Anyone"
        options={[
          ['api', 'Your server'],
          ['terminal', 'A terminal'],
        ]}
      />
    </>
  );
}
