import type { ReactNode } from 'react';
import type { ReadNetworkActivityResponse } from '../../data/types/operator.ts';
import { FilterBar, FilterSelect, useFilters } from '../../desk/filters.tsx';
import { LoadTogether } from '../../desk/load-together.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { Amount } from '../../ui/amount.tsx';
import { formatUsdc } from '../../ui/format-usdc.ts';
import { formatNumber, formatTenths, percentText } from '../../ui/numbers.ts';
import { Page } from '../../ui/shell.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { formatTime } from '../../ui/time.tsx';
import { ActivityChart, type ChartStep } from '../parts/activity-chart.tsx';
import { MeasuredAt } from '../parts/measured-at.tsx';
import { useRead } from '../use-operator.ts';

type Activity = ReadNetworkActivityResponse;
type Network = Activity['network'];
type Step = Activity['data'][number];
type Figures = Activity['total'];

const WATCH_MS = 30_000;

const PERIODS = { day: '24 hours', week: '7 days', month: '30 days' } as const;
type Period = keyof typeof PERIODS;

const NETWORKS = [
  ['mainnet', 'Live (mainnet)'],
  ['testnet', 'Test (testnet)'],
] as const;

function periodIn(text: string | undefined): Period {
  return text === 'week' || text === 'month' ? text : 'day';
}

/** Shows how each network has sold: the figures of a span, and how they changed within it. */
export function Overview(): ReactNode {
  const filters = useFilters();
  const period = periodIn(filters.get('period'));
  return (
    <Page title="Overview">
      <FilterBar filters={filters}>
        <FilterSelect
          filters={filters}
          name="period"
          label="Period"
          all={PERIODS.day}
          options={[
            ['week', PERIODS.week],
            ['month', PERIODS.month],
          ]}
        />
      </FilterBar>
      <LoadTogether>
        {NETWORKS.map(([network, title]) => (
          <NetworkActivity key={network} network={network} title={title} period={period} />
        ))}
      </LoadTogether>
    </Page>
  );
}

interface NetworkActivityProps {
  readonly network: Network;
  readonly title: string;
  readonly period: Period;
}

function NetworkActivity({ network, title, period }: NetworkActivityProps): ReactNode {
  const query = useRead(
    'GET /networks/{network}/activity',
    { path: { network }, query: { period } },
    { everyMs: WATCH_MS, keepsBefore: true },
  );
  return (
    <section className="card stack" aria-label={title}>
      <h2>{title}</h2>
      <Loaded query={query}>
        {(activity) =>
          activity.total.payments + activity.total.failed === 0 ? (
            <p className="soft">
              No customer tried to pay in the last {PERIODS[period]}. The first payment shows
              volume, success rate, time to paid and gas here.
            </p>
          ) : (
            <>
              <Total of={activity.total} />
              <Charts activity={activity} />
              <Table
                label={`${title}, by ${activity.every}`}
                columns={columnsOf(activity)}
                rows={activity.data.filter(({ payments, failed }) => payments + failed > 0)}
                keyOf={({ start }) => start}
              />
            </>
          )
        }
      </Loaded>
      <MeasuredAt query={query} />
    </section>
  );
}

function success({ payments, failed }: Figures): number | null {
  return payments + failed === 0 ? null : (payments / (payments + failed)) * 100;
}

const UNKNOWN = '–';

function successText(figures: Figures): string {
  const rate = success(figures);
  // A rate of 99.96 % is no 100 %.
  return rate === null ? UNKNOWN : percentText(formatTenths(Math.floor(rate * 10) / 10));
}

function seconds(ms: number | null): string {
  return ms === null ? UNKNOWN : `${formatTenths(ms / 1_000)} s`;
}

function gas(used: number | null): string {
  return used === null ? UNKNOWN : formatNumber(used);
}

function Total({ of: total }: { readonly of: Figures }): ReactNode {
  return (
    <dl className="activity-total">
      <div>
        <dt>Volume</dt>
        <dd>
          <Amount atoms={BigInt(total.volume)} />
        </dd>
      </div>
      <div>
        <dt>Payments</dt>
        <dd>{formatNumber(total.payments)}</dd>
      </div>
      <div>
        <dt>Success rate</dt>
        <dd>{successText(total)}</dd>
      </div>
      <div>
        <dt>Time to paid, p50</dt>
        <dd>{seconds(total.paid_ms_p50)}</dd>
      </div>
      <div>
        <dt>Time to paid, p99</dt>
        <dd>{seconds(total.paid_ms_p99)}</dd>
      </div>
      <div>
        <dt>Gas per payment</dt>
        <dd>{gas(total.gas_per_payment)}</dd>
      </div>
    </dl>
  );
}

/** Names a step: an hour in the reader's time zone, or a day, which is in UTC. */
function stepName({ every }: Activity, { start }: Step): string {
  return every === 'hour' ? formatTime(start, 'full') : `${formatTime(start, 'day', 'UTC')} (UTC)`;
}

function Charts({ activity }: { readonly activity: Activity }): ReactNode {
  const stepsOf = (figureOf: (step: Step) => Omit<ChartStep, 'key' | 'name'>) =>
    activity.data.map((step) => ({
      ...{ key: step.start, name: stepName(activity, step) },
      ...figureOf(step),
    }));
  return (
    <div className="activity-charts">
      <ActivityChart
        title="Volume"
        textOf={(atoms) => formatUsdc(BigInt(atoms))}
        steps={stepsOf(({ volume }) => ({ value: volume, says: formatUsdc(BigInt(volume)) }))}
      />
      <ActivityChart
        title="Success rate"
        top={100}
        textOf={(percent) => percentText(formatNumber(percent))}
        steps={stepsOf((step) => ({ value: success(step), says: successText(step) }))}
      />
      <ActivityChart
        title="Time to paid"
        legend="dark: p50, light: p99"
        textOf={seconds}
        steps={stepsOf(({ paid_ms_p50: half, paid_ms_p99: most }) => {
          return { value: most, part: half, says: `p50 ${seconds(half)}, p99 ${seconds(most)}` };
        })}
      />
      <ActivityChart
        title="Gas per payment"
        textOf={gas}
        steps={stepsOf(({ gas_per_payment: used }) => ({ value: used, says: gas(used) }))}
      />
    </div>
  );
}

function columnsOf(activity: Activity): readonly Column<Step>[] {
  return [
    { name: activity.every === 'hour' ? 'Hour' : 'Day', cell: (step) => stepName(activity, step) },
    { name: 'Volume', number: true, cell: ({ volume }) => <Amount atoms={BigInt(volume)} /> },
    { name: 'Payments', number: true, cell: ({ payments }) => formatNumber(payments) },
    { name: 'Success rate', number: true, cell: successText },
    { name: 'p50', number: true, cell: (step) => seconds(step.paid_ms_p50) },
    { name: 'p99', number: true, cell: (step) => seconds(step.paid_ms_p99) },
    { name: 'Gas per payment', number: true, cell: (step) => gas(step.gas_per_payment) },
  ];
}
