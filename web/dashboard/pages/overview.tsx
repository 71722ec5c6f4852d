import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { named } from '#i18n/bidi-isolates.ts';
import { useFilters } from '../../desk/filters.tsx';
import { LoadTogether } from '../../desk/load-together.tsx';
import { List } from '../../desk/short-list.tsx';
import { firstPartOf } from '../../ui/lazy-part.ts';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/shell.tsx';
import { t } from '../../ui/text/t.ts';
import { FirstSteps } from '../account/first-steps.tsx';
import { paymentColumns } from '../payments/payment-columns.tsx';
import { HealthCharts } from '../statistics/health-charts.tsx';
import { SalesFigures } from '../statistics/sales-figures.tsx';
import { Today } from '../statistics/sales-today.tsx';
import { useLiveSales } from '../statistics/use-live-refresh.ts';
import { useMerchant, useRead } from '../use-merchant.ts';

const LiveSteps = firstPartOf(async () => (await import('../payouts/live-steps.tsx')).LiveSteps);

/** Periods that the charts can show, in days. The URL omits the default. */
const PERIODS = [7, 30, 90] as const;
const USUAL = 30;

/** Everything on the page that a sale or a refund changes. */
const LIVE = [
  'GET /accounts/{account}/{mode}/statistics',
  'GET /accounts/{account}/{mode}/totals',
  'GET /accounts/{account}/{mode}/balance',
  'GET /accounts/{account}/{mode}/payments',
];

export function Overview(): ReactNode {
  const { mode } = useMerchant();
  const filters = useFilters();
  useLiveSales(LIVE);
  const days = PERIODS.find((one) => String(one) === filters.get('days')) ?? USUAL;
  return (
    <Page title={t('dashboard.page.overview')}>
      <LoadTogether>
        <Warnings />
        {mode === 'test' ? <FirstSteps /> : <LiveSteps />}
        <Today />
        <fieldset className="presets">
          <legend className="unseen">{t('dashboard.overview.period.legend')}</legend>
          {PERIODS.map((one) => (
            <button
              key={one}
              type="button"
              className="preset"
              aria-pressed={days === one}
              onClick={() => filters.set('days', one === USUAL ? '' : String(one))}
            >
              {t('dashboard.overview.days.button', { count: one })}
            </button>
          ))}
        </fieldset>
        <SalesFigures length={days} />
        <HealthCharts days={days} />
        <LatestSales />
      </LoadTogether>
    </Page>
  );
}

/** Few enough rows to see at a glance. */
const LATEST = { query: { limit: 8 } } as const;

function LatestSales(): ReactNode {
  const query = useRead('GET /accounts/{account}/{mode}/payments', LATEST);
  return (
    <section className="stack">
      <div className="row row-apart">
        <h2>{t('dashboard.overview.latest_sales.heading')}</h2>
        {query.data?.data.length === 0 ? null : (
          <Link href="/dashboard/payments">{t('dashboard.overview.see_all_sales.link')}</Link>
        )}
      </div>
      <List
        label={t('dashboard.overview.latest_sales.label')}
        query={query}
        columns={paymentColumns()}
        keyOf={({ id }) => id}
        inPairs
        empty={<p className="card soft">{t('dashboard.overview.new_sales_appear_here')}</p>}
      />
    </section>
  );
}

function Warnings(): ReactNode {
  const endpoints = useRead('GET /accounts/{account}/{mode}/webhook_endpoints').data?.data ?? [];
  const failing = endpoints.filter(
    ({ failing_since: since, status }) => since !== null || status === 'disabled',
  );
  return failing.map(({ id, url, status }) => (
    <Notice key={id} tone="warn">
      <strong>
        {status === 'disabled'
          ? t('dashboard.overview.warning.turned_off')
          : t('dashboard.overview.warning.failing')}
      </strong>
      <p>
        <Link href={`/dashboard/webhooks/${id}`}>{named(url)}</Link>
      </p>
    </Notice>
  ));
}
