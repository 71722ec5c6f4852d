import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { ReadStatisticsResponse } from '../../data/types/dashboard.ts';
import { List } from '../../desk/list.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { Amount } from '../../ui/amount.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/shell.tsx';
import { useMerchant, useRead } from '../merchant.ts';
import { DayBars } from '../parts/day-bars.tsx';
import { dayBefore } from '../parts/days.ts';
import { declineWords } from '../parts/declines.ts';
import { FirstSteps } from '../parts/first-steps.tsx';
import { HealthCharts } from '../parts/health-charts.tsx';
import { LiveSteps } from '../parts/live-steps.tsx';
import { PAYMENT_COLUMNS } from '../parts/payment-columns.tsx';
import { sumDays } from '../parts/sum-days.ts';
import { useTimeZone } from '../parts/time-zone.ts';
import { useLive } from '../parts/use-live.ts';

type Day = ReadStatisticsResponse['data'][number];

/** How many days the figures span: two weeks show a weekday beside the same one. */
const DAYS = 14;

export function Overview(): ReactNode {
  const timeZone = useTimeZone();
  const { mode } = useMerchant();
  const query = useRead('GET /accounts/{account}/{mode}/statistics', {
    query: { from: dayBefore(DAYS - 1, timeZone), to: dayBefore(0, timeZone) },
  });
  return (
    <Page title="Overview">
      <Warnings />
      {mode === 'test' ? <FirstSteps /> : <LiveSteps />}
      <Loaded query={query} shape="card">
        {({ data }) => <Figures days={data} />}
      </Loaded>
      <HealthCharts days={DAYS} />
      <LatestSales />
    </Page>
  );
}

function Figures({ days }: { readonly days: readonly Day[] }): ReactNode {
  const sum = sumDays(days);
  return (
    <section className="card stack">
      <h2>The last {DAYS} days</h2>
      <dl className="figures">
        <div>
          <dt>Sales</dt>
          <dd>
            <Amount atoms={sum.volume} />
          </dd>
        </div>
        {sum.tips === 0n ? null : (
          <div>
            <dt>Tips, included</dt>
            <dd>
              <Amount atoms={sum.tips} />
            </dd>
          </div>
        )}
        <div>
          <dt>Payments</dt>
          <dd>{sum.payments}</dd>
        </div>
        <div>
          <dt>Success rate</dt>
          <dd>{sum.successRate === null ? '–' : `${(sum.successRate * 100).toFixed(1)} %`}</dd>
        </div>
        <div>
          <dt>From tap to paid</dt>
          <dd>{sum.settleMs === null ? '–' : `${(sum.settleMs / 1000).toFixed(1)} s`}</dd>
        </div>
      </dl>
      <DayBars
        days={DAYS}
        amountOf={(name) => days.find(({ day }) => day === name)?.volume ?? 0}
        labelOf={(name) =>
          `${name}: ${days.find(({ day }) => day === name)?.payments ?? 0} payments`
        }
        pathOf={(name) => `/dashboard/payments?from=${name}&to=${name}`}
      />
      <Declines counts={sum.declines} />
    </section>
  );
}

/** As many as a glance takes in. */
const LATEST = { query: { limit: 8 } } as const;

/** What was sold last; it comes while it happens. */
function LatestSales(): ReactNode {
  const query = useRead('GET /accounts/{account}/{mode}/payments', LATEST);
  const { scope } = useMerchant();
  useLive('payment.', [...scope, 'GET /accounts/{account}/{mode}/payments', LATEST]);
  return (
    <section className="stack">
      <div className="row row-apart">
        <h2>Latest sales</h2>
        {query.data?.data.length === 0 ? null : (
          <Link href="/dashboard/payments">See all sales</Link>
        )}
      </div>
      <List
        label="Latest sales"
        query={query}
        columns={PAYMENT_COLUMNS}
        keyOf={({ id }) => id}
        inPairs
        empty={<p className="card soft">What is sold from now on appears here.</p>}
      />
    </section>
  );
}

/** Of the intents that a decline has ended; each code leads to its intents. */
function Declines({ counts }: { readonly counts: Readonly<Record<string, number>> }): ReactNode {
  const declines = Object.entries(counts).sort((one, other) => other[1] - one[1]);
  const timeZone = useTimeZone();
  if (declines.length === 0) return null;
  const [from, to] = [dayBefore(DAYS - 1, timeZone), dayBefore(0, timeZone)];
  return (
    <div className="stack stack-tight">
      <h3>Declined</h3>
      <ul className="row">
        {declines.map(([code, count]) => (
          <li key={code}>
            <Link href={`/dashboard/intents?decline=${code}&from=${from}&to=${to}`}>
              {declineWords(code)}: {count}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Only what somebody has to do something about. */
function Warnings(): ReactNode {
  const endpoints = useRead('GET /accounts/{account}/{mode}/webhook_endpoints').data?.data ?? [];
  const failing = endpoints.filter(
    ({ failing_since: since, status }) => since !== null || status === 'disabled',
  );
  return failing.map(({ id, url, status }) => (
    <Notice key={id} tone="warn">
      <strong>{status === 'disabled' ? 'An endpoint is turned off' : 'An endpoint fails'}</strong>
      <p>
        <Link href={`/dashboard/webhooks/${id}`}>{url}</Link>
      </p>
    </Notice>
  ));
}
