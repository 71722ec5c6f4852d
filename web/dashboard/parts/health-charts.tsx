import type { ReactNode } from 'react';
import type { ReadHealthResponse } from '../../data/types/dashboard.ts';
import { Loaded } from '../../desk/loaded.tsx';
import { useRead } from '../merchant.ts';
import { DayChart } from './day-chart.tsx';
import { dayBefore } from './days.ts';
import { useTimeZone } from './time-zone.ts';

type Day = ReadHealthResponse['data'][number];

/** `0.4 %`; nothing was asked: a dash. A little is never rounded to nothing. */
function percent(part: number, whole: number): string {
  if (whole === 0) return '–';
  if (part === 0) return '0 %';
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
  const requests = sum(data, (day) => day.requests);
  const sent = sum(data, (day) => day.delivered + day.undelivered);
  return (
    <div className="columns">
      <section className="card stack">
        <h2>API calls that failed</h2>
        <p>
          <strong>{percent(sum(data, callsFailed), requests)}</strong>{' '}
          <span className="soft">of {countWords(requests)} calls</span>
        </p>
        <DayChart
          days={days}
          tone="bad"
          whole
          tickOf={countWords}
          figureOf={(name) => callsOn(data, name)}
          labelOf={(_, value) => `${value} failed calls`}
          pathOf={(name) => `/dashboard/request-log?failed=yes&from=${name}&to=${name}`}
        />
      </section>
      <section className="card stack">
        <h2>Webhooks that failed</h2>
        <p>
          <strong>{percent(sum(data, undelivered), sent)}</strong>{' '}
          <span className="soft">of {countWords(sent)} deliveries</span>
        </p>
        <DayChart
          days={days}
          tone="bad"
          whole
          tickOf={countWords}
          figureOf={(name) => data.find(({ day }) => day === name)?.undelivered ?? 0}
          labelOf={(_, value) => `${value} failed deliveries`}
          pathOf={(name) => `/dashboard/webhooks?from=${name}&to=${name}`}
        />
      </section>
    </div>
  );
}

function callsOn(data: readonly Day[], name: string): number {
  const day = data.find((one) => one.day === name);
  return day === undefined ? 0 : callsFailed(day);
}
