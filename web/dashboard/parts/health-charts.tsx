import type { ReactNode } from 'react';
import type { ReadHealthResponse } from '../../data/types/dashboard.ts';
import { Loaded } from '../../desk/loaded.tsx';
import { useRead } from '../merchant.ts';
import { DayChart } from './day-chart.tsx';
import { dayBefore } from './days.ts';
import { useTimeZone } from './time-zone.ts';

type Day = ReadHealthResponse['data'][number];

/** `0.4 %`. A little is never rounded to nothing. */
function percent(part: number, whole: number): string {
  const share = (part / whole) * 100;
  return share < 0.1 ? 'under 0.1 %' : `${share.toFixed(1)} %`;
}

function sum(days: readonly Day[], figureOf: (day: Day) => number): number {
  return days.reduce((total, day) => total + figureOf(day), 0);
}

/** `1,200`. */
function countWords(count: number): string {
  return count.toLocaleString('en-US');
}

const callsFailed = ({ refused, failed }: Day) => refused + failed;
const undelivered = (day: Day) => day.undelivered;

/** Integrations break silently: how calls and deliveries got on, day by day. */
export function HealthCharts({ days }: { readonly days: number }): ReactNode {
  const timeZone = useTimeZone();
  const query = useRead(
    'GET /accounts/{account}/{mode}/health',
    { query: { from: dayBefore(days - 1, timeZone), to: dayBefore(0, timeZone) } },
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
        what="API calls"
        count={sum(data, (day) => day.requests)}
        failed={sum(data, callsFailed)}
        days={days}
        figureOf={(name) => callsOn(data, name)}
        labelOf={(value) => `${value} failed calls`}
        pathOf={(name) => `/dashboard/request-log?failed=yes&from=${name}&to=${name}`}
      />
      <Health
        what="Webhook deliveries"
        count={sum(data, (day) => day.delivered + day.undelivered)}
        failed={sum(data, undelivered)}
        days={days}
        figureOf={(name) => data.find(({ day }) => day === name)?.undelivered ?? 0}
        labelOf={(value) => `${value} failed deliveries`}
        pathOf={(name) => `/dashboard/webhooks?from=${name}&to=${name}`}
      />
    </div>
  );
}

interface HealthProps {
  readonly what: string;
  readonly count: number;
  readonly failed: number;
  readonly days: number;
  readonly figureOf: (day: string) => number;
  readonly labelOf: (value: number) => string;
  readonly pathOf: (day: string) => string;
}

/** A chart where something failed; where nothing did, one line says so. */
function Health({ what, count, failed, days, labelOf, ...chart }: HealthProps): ReactNode {
  if (failed === 0) {
    return (
      <section className="card stack stack-tight">
        <h2>{what}</h2>
        <p className="soft">
          {count === 0
            ? `None in the last ${days} days`
            : `All ${countWords(count)} succeeded in the last ${days} days`}
        </p>
      </section>
    );
  }
  return (
    <section className="card stack">
      <h2>{what} that failed</h2>
      <p>
        <strong>{percent(failed, count)}</strong>{' '}
        <span className="soft">of {countWords(count)}</span>
      </p>
      <DayChart
        days={days}
        tone="bad"
        whole
        tickOf={countWords}
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
