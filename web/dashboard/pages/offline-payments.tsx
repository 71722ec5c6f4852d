import type { ReactNode } from 'react';
import { Link, useParams } from 'wouter';
import type { OfflinePayment } from '../../data/types/dashboard.ts';
import { DialogButton } from '../../desk/dialog-button.tsx';
import { useFilters } from '../../desk/filters.tsx';
import { Headline } from '../../desk/headline.tsx';
import { LoadTogether } from '../../desk/load-together.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { Amount } from '../../ui/amount.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { priceOf } from '../../ui/quoted-price.ts';
import { Page } from '../../ui/shell.tsx';
import { Sum } from '../../ui/sum.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { Time } from '../../ui/time.tsx';
import { useShopDays } from '../account/time-zone.ts';
import { ExportButton } from '../exports/export-dialog.tsx';
import { HandInDialog } from '../payments/hand-in-dialog.tsx';
import { ObjectLink } from '../payments/object-link.tsx';
import { bounceAdvice, bounceWords, offlineColumns } from '../payments/offline-columns.tsx';
import { OtherMode } from '../sessions/other-mode.tsx';
import { useChosenDays, useDays } from '../statistics/chosen-days.ts';
import { dayBefore } from '../statistics/day-bounds.ts';
import { ListFilters, StatusFilter } from '../statistics/day-filters.tsx';
import { useLiveSales } from '../statistics/use-live-refresh.ts';
import { TerminalFilter } from '../terminals/terminal-filter.tsx';
import { TerminalLink } from '../terminals/terminal-names.tsx';
import { useMerchant, usePages, useRead } from '../use-merchant.ts';

type Filters = ReturnType<typeof useFilters>;

/** The list and its figures. */
const LIVE = [
  'GET /accounts/{account}/{mode}/offline_payments',
  'GET /accounts/{account}/{mode}/totals',
];

function useSales(filters: Filters) {
  const days = useChosenDays(filters);
  const status = filters.get('status') as OfflinePayment['status'] | undefined;
  const terminal = filters.get('terminal');
  return usePages('GET /accounts/{account}/{mode}/offline_payments', {
    query: { ...days, status, terminal },
  });
}

export function OfflinePayments(): ReactNode {
  const filters = useFilters();
  const pages = useSales(filters);
  useLiveSales(LIVE);
  const days = useDays(filters);
  const { may } = useMerchant();
  return (
    <Page
      title={t('dashboard.page.offline_sales')}
      actions={
        <>
          {may('admin') ? (
            <DialogButton words={t('dashboard.hand_in.button')}>
              {(close) => <HandInDialog onClose={close} />}
            </DialogButton>
          ) : null}
          <ExportButton of="offline_payments" {...days} />
        </>
      }
    >
      <LoadTogether>
        <Figures {...days} />
        <ListFilters filters={filters}>
          <StatusFilter
            filters={filters}
            options={[
              ['processing', t('status.processing')],
              ['succeeded', t('status.succeeded')],
              ['bounced', t('status.bounced')],
            ]}
          />
          <TerminalFilter filters={filters} />
        </ListFilters>
        <LongList
          label={t('dashboard.page.offline_sales')}
          pages={pages}
          columns={offlineColumns()}
          inPairs
          keyOf={({ id }) => id}
          filters={filters}
          empty={{
            drawing: 'sales',
            title: t('dashboard.offline.empty.heading'),
            text: t('dashboard.offline.empty'),
            action: (
              <Link href="/dashboard/terminals" className={buttonClass({})}>
                {t('dashboard.offline.empty.link')}
              </Link>
            ),
          }}
        />
      </LoadTogether>
    </Page>
  );
}

/** Days that the figures cover if the list is not filtered by days. */
const USUAL_DAYS = 30;

interface FiguresProps {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

function Figures(chosen: FiguresProps): ReactNode {
  const shop = useShopDays();
  const to = chosen.to ?? dayBefore(0, shop);
  const from = chosen.from ?? dayBefore(USUAL_DAYS - 1, shop);
  const query = useRead(
    'GET /accounts/{account}/{mode}/totals',
    { query: { from: from < to ? from : to, to } },
    { keepsBefore: true },
  );
  return (
    <section className="card stack">
      <h2>
        {chosen.from === undefined && chosen.to === undefined
          ? t('dashboard.offline.figures.usual', { count: USUAL_DAYS })
          : t('dashboard.offline.figures.chosen')}
      </h2>
      <Loaded query={query}>
        {({ offline: { payments, sales, bounced, bounced_amount: lost } }) => (
          <FactList>
            <Fact name={t('dashboard.offline.settled.name', { count: payments })}>
              <Amount atoms={BigInt(sales)} />
            </Fact>
            <Fact name={t('dashboard.offline.bounced.name', { count: bounced })}>
              <Amount atoms={BigInt(lost)} />
            </Fact>
          </FactList>
        )}
      </Loaded>
    </section>
  );
}

/** Polling interval while the chain has not decided a sale. */
const WATCH_MS = 3_000;

export function OfflinePaymentPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead(
    'GET /accounts/{account}/{mode}/offline_payments/{id}',
    { path: { id } },
    { everyMs: WATCH_MS, isFinal: ({ status }) => status !== 'processing' },
  );
  return (
    <Page title={t('dashboard.offline.sale.page')}>
      <Loaded query={query} missing={<OtherMode />}>
        {(sale) => <SaleView sale={sale} />}
      </Loaded>
    </Page>
  );
}

function SaleView({ sale }: { readonly sale: OfflinePayment }): ReactNode {
  const { bounce_reason: reason, payment, payment_intent: intent } = sale;
  return (
    <>
      <Headline of={sale}>
        <Sum atoms={BigInt(sale.amount)} price={priceOf(sale.presentment)} />
      </Headline>
      {reason === null ? null : (
        <Notice tone="bad">
          <strong>{bounceWords(reason)}</strong>
          <p>{bounceAdvice(reason)}</p>
          {reason === 'already_paid' ? null : <p>{t('dashboard.offline.bounced.text')}</p>}
        </Notice>
      )}
      {sale.presentment_problem === null ? null : (
        <Notice tone="warn">
          <p>{t('dashboard.offline.in_usdc')}</p>
        </Notice>
      )}
      <section className="card">
        <FactList>
          <Fact name={t('dashboard.offline.accepted.column')}>
            <Time at={sale.accepted_at} />
          </Fact>
          <Fact name={t('dashboard.offline.forwarded.name')}>
            <Time at={sale.created} />
          </Fact>
          <Fact name={t('dashboard.field.terminal')}>
            <TerminalLink id={sale.terminal} />
          </Fact>
          <Fact name={t('dashboard.field.payment')}>
            {payment === null ? null : <ObjectLink id={payment} />}
          </Fact>
          <Fact name={t('dashboard.field.intent')}>
            {intent === null ? null : <ObjectLink id={intent} />}
          </Fact>
          <Fact name={t('dashboard.offline.nonce.name')}>
            <span className="id">{sale.nonce}</span>
          </Fact>
        </FactList>
      </section>
    </>
  );
}
