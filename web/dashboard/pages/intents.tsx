import type { ReactNode } from 'react';
import type { PaymentIntentWithTotal as PaymentIntent } from '../../data/types/dashboard.ts';
import { FilterSelect, type Filters, FilterText, useFilters } from '../../desk/filters.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { intentSum } from '../../ui/sale-total.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { tipPrice } from '../../ui/tip-price.ts';
import { DECLINE_CODES, type DeclineCode, declineWords } from '../payments/decline-words.ts';
import { SaleSum } from '../payments/sale-sum.tsx';
import { useChosenDays } from '../statistics/chosen-days.ts';
import { ListFilters, StatusFilter } from '../statistics/day-filters.tsx';
import { useLive } from '../statistics/use-live-refresh.ts';
import { TerminalFilter } from '../terminals/terminal-filter.tsx';
import { TerminalName } from '../terminals/terminal-names.tsx';
import { usePages } from '../use-merchant.ts';

// Loaded as one file with this page, because each further file costs the first load some bytes.
export { IntentPage } from './intent.tsx';

const columns = (): readonly Column<PaymentIntent>[] => [
  {
    name: t('dashboard.field.amount'),
    number: true,
    cell: ({ id, amount, tip, presentment, total }) => (
      <SaleSum
        id={id}
        {...intentSum({ amount, tip, presentment, total })}
        tip={tip}
        tipPrice={tipPrice(presentment, BigInt(tip ?? 0))}
      />
    ),
  },
  { name: t('dashboard.field.status'), cell: ({ status }) => <ObjectStatus status={status} /> },
  {
    name: t('dashboard.intents.sale.column'),
    cell: ({ description, order_id: order }) =>
      description === null ? <span className="id">{order}</span> : given(description),
  },
  {
    name: t('dashboard.intents.last_decline.column'),
    cell: (intent) => declineWords(intent.last_payment_error?.decline_code),
  },
  { name: t('dashboard.field.terminal'), cell: ({ terminal }) => <TerminalName id={terminal} /> },
  { name: t('dashboard.field.created'), cell: ({ created }) => <Time at={created} /> },
];

function useIntents(filters: Filters) {
  const decline = filters.get('decline');
  const common = { ...useChosenDays(filters), terminal: filters.get('terminal') };
  const others = {
    order_id: filters.get('order'),
    status: filters.get('status') as PaymentIntent['status'] | undefined,
    source: filters.get('source') as PaymentIntent['source'] | undefined,
  };
  const listed = usePages('GET /accounts/{account}/{mode}/payment_intents', {
    query: { ...common, ...others },
  });
  const declined = usePages('GET /accounts/{account}/{mode}/declined_payment_intents', {
    query: { ...common, decline_code: decline as DeclineCode },
  });
  return decline === undefined ? listed : declined;
}

/** Lists all payment intents, including those that were not paid. */
export function Intents(): ReactNode {
  const filters = useFilters();
  const pages = useIntents(filters);
  useLive('payment_intent.', pages.at(filters.cursor).queryKey);
  return (
    <Page title={t('dashboard.page.intents')}>
      <IntentFilters filters={filters} />
      <LongList
        label={t('dashboard.page.intents')}
        pages={pages}
        columns={columns()}
        inPairs
        keyOf={({ id }) => id}
        filters={filters}
        empty={{ title: t('dashboard.intents.empty.heading'), text: t('dashboard.intents.empty') }}
      />
    </Page>
  );
}

function IntentFilters({ filters }: { readonly filters: Filters }): ReactNode {
  return (
    <ListFilters filters={filters}>
      <FilterSelect
        filters={filters}
        name="decline"
        label={t('dashboard.intents.declined_because.label')}
        all={t('dashboard.filter.any')}
        options={DECLINE_CODES.map((code) => [code, declineWords(code)])}
      />
      {filters.get('decline') === undefined ? <OtherFilters filters={filters} /> : null}
      <TerminalFilter filters={filters} />
    </ListFilters>
  );
}

/** Filters of the full list that the list of declines lacks. */
function OtherFilters({ filters }: { readonly filters: Filters }): ReactNode {
  return (
    <>
      <FilterText filters={filters} name="order" label={t('dashboard.field.order')} />
      <StatusFilter
        filters={filters}
        options={[
          ['requires_payment_method', t('dashboard.intents.waiting_for_a_tap')],
          ['requires_action', t('dashboard.intents.waiting_for_the_customer')],
          ['processing', t('dashboard.status.processing')],
          ['succeeded', t('dashboard.status.succeeded')],
          ['canceled', t('dashboard.status.canceled')],
        ]}
      />
      <FilterSelect
        filters={filters}
        name="source"
        label={t('dashboard.field.created_by')}
        all={t('dashboard.filter.anyone')}
        options={[
          ['api', t('dashboard.intents.your_server')],
          ['terminal', t('dashboard.intents.a_terminal')],
        ]}
      />
    </>
  );
}
