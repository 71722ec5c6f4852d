import type { ReactNode } from 'react';
import type { ReadHealthResponse } from '../../data/types/dashboard.ts';
import { Loaded } from '../../desk/loaded.tsx';
import { formatNumber, formatTenths, percentText } from '../../ui/numbers.ts';
import { t } from '../../ui/text/t.ts';
import { useShopDays } from '../account/time-zone.ts';
import { useRead } from '../use-merchant.ts';
import { dayBefore } from './day-bounds.ts';
import { DayChart } from './day-chart.tsx';

type Day = ReadHealthResponse['data'][number];

/**
 * The smallest share that is shown as a number, in percent. Smaller shares are shown as "less than
 * 0.1 %".
 */
const LEAST = 0.1;

/**
 * Formats a share, for example `0.4 %`. A share below 0.1 % is shown as less than 0.1 %, never as
 * zero.
 */
function percent(part: number, whole: number): string {
  const share = (part / whole) * 100;
  return share < LEAST
    ? t('dashboard.health_charts.under', { share: percentText(formatTenths(LEAST)) })
    : percentText(formatTenths(share));
}

function sum(days: readonly Day[], figureOf: (day: Day) => number): number {
  return days.reduce((total, day) => total + figureOf(day), 0);
}

const callsFailed = ({ refused, failed }: Day) => refused + failed;
const undelivered = (day: Day) => day.undelivered;

/** Shows failed requests and deliveries per day, because integrations often break unnoticed. */
export function HealthCharts({ days }: { readonly days: number }): ReactNode {
  const shop = useShopDays();
  const query = useRead(
    'GET /accounts/{account}/{mode}/health',
    { query: { from: dayBefore(days - 1, shop), to: dayBefore(0, shop) } },
    { keepsBefore: true },
  );
  return (
    <Loaded query={query}>
      {({ data }) => (data.length === 0 ? null : <Charts data={data} days={days} />)}
    </Loaded>
  );
}

interface ChartsProps {
  readonly data: readonly Day[];
  readonly days: number;
}

function Charts({ data, days }: ChartsProps): ReactNode {
  return (
    <div className="columns">
      <Health
        of="calls"
        count={sum(data, (day) => day.requests)}
        failed={sum(data, callsFailed)}
        days={days}
        figureOf={(name) => callsOn(data, name)}
        labelOf={(value) => t('dashboard.health_charts.failed_calls', { count: value })}
        pathOf={(name) => `/dashboard/request-log?failed=yes&from=${name}&to=${name}`}
      />
      <Health
        of="deliveries"
        count={sum(data, (day) => day.delivered + day.undelivered)}
        failed={sum(data, undelivered)}
        days={days}
        figureOf={(name) => data.find(({ day }) => day === name)?.undelivered ?? 0}
        labelOf={(value) => t('dashboard.health_charts.failed_deliveries', { count: value })}
        pathOf={(name) => `/dashboard/webhooks?from=${name}&to=${name}`}
      />
    </div>
  );
}

interface HealthProps {
  readonly of: 'calls' | 'deliveries';
  readonly count: number;
  readonly failed: number;
  readonly days: number;
  readonly figureOf: (day: string) => number;
  readonly labelOf: (value: number) => string;
  readonly pathOf: (day: string) => string;
}

/** Shows a chart if anything failed, otherwise one line that states that nothing did. */
function Health({ of, count, failed, days, labelOf, ...chart }: HealthProps): ReactNode {
  if (failed === 0) {
    return (
      <section className="card stack stack-tight">
        <h2>{t(`dashboard.health.${of}`)}</h2>
        <p className="soft">
          {count === 0
            ? t('dashboard.health_charts.none', { days })
            : t('dashboard.health_charts.all_succeeded', { count, days })}
        </p>
      </section>
    );
  }
  return (
    <section className="card stack">
      <h2>{t(`dashboard.health_failed.${of}`)}</h2>
      <p>
        <strong>{percent(failed, count)}</strong>{' '}
        <span className="soft">{t('dashboard.health_charts.of', { count })}</span>
      </p>
      <DayChart
        days={days}
        tone="bad"
        whole
        tickOf={formatNumber}
        labelOf={(_, value) => labelOf(value)}
        {...chart}
      />
    </section>
  );
}

function callsOn(data: readonly Day[], name: string): number {
  const day = data.find((one) => one.day === name);
  return day === undefined ? 0 : callsFailed(day);
}
