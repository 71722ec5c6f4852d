import type { ReactNode } from 'react';
import type { ReadStatisticsResponse } from '../../data/types/dashboard.ts';
import { Loaded } from '../../desk/loaded.tsx';
import { formatUsdc } from '../../ui/format-usdc.ts';
import { firstPartOf } from '../../ui/lazy-part.ts';
import { formatNumber, formatTenths, percentText } from '../../ui/numbers.ts';
import { t } from '../../ui/text/t.ts';
import { useShopDays } from '../account/time-zone.ts';
import { useRead } from '../use-merchant.ts';
import { changeWords } from './chart-scale.ts';
import { dayBefore, later } from './day-bounds.ts';
import { DayChart } from './day-chart.tsx';
import { Figure } from './labeled-figure.tsx';
import { SalesOf } from './sales-of.tsx';
import { sumDays } from './sum-days.ts';

type Day = ReadStatisticsResponse['data'][number];

/** Loads if there are declines. Its texts load before, without those of all other pages. */
const Declines = firstPartOf(async () => (await import('./declines.tsx')).Declines);

const ATOMS = 1_000_000;

/** The days of a period and of the period before, which is `undefined` while loading. */
interface Periods {
  readonly days: readonly Day[];
  readonly before: readonly Day[] | undefined;
  readonly length: number;
}

export function useStatistics(from: string, to: string) {
  return useRead(
    'GET /accounts/{account}/{mode}/statistics',
    { query: { from, to } },
    { keepsBefore: true },
  );
}

export function SalesFigures({ length }: { readonly length: number }): ReactNode {
  const shop = useShopDays();
  const daysAgo = (days: number) => dayBefore(days, shop);
  const query = useStatistics(daysAgo(length - 1), daysAgo(0));
  // A separate request, so that the chart does not wait for the comparison.
  const earlier = useStatistics(daysAgo(2 * length - 1), daysAgo(length));
  const before = earlier.isPlaceholderData ? undefined : earlier.data?.data;
  return (
    <Loaded query={query} shape="card">
      {({ data }) => <Figures days={data} before={before} length={length} />}
    </Loaded>
  );
}

function volumeOn(days: readonly Day[], name: string): number {
  return days.find(({ day }) => day === name)?.volume ?? 0;
}

/** Formats atoms for the scale, for example `1.2K`. */
function tickWords(atoms: number): string {
  return formatNumber(atoms / ATOMS, { notation: 'compact', maximumFractionDigits: 2 });
}

function Figures(periods: Periods): ReactNode {
  const { days, before, length } = periods;
  const from = dayBefore(length - 1, useShopDays());
  const sum = sumDays(days);
  const sumBefore = before === undefined ? null : sumDays(before);
  return (
    <section className="card stack">
      <h2>{t('dashboard.sales_figures.the_last_days.heading', { count: length })}</h2>
      <dl className="figures">
        <Figure
          name={t('dashboard.sales_figures.sales.name')}
          note={changeNote(sum.volume, sumBefore?.volume)}
        >
          <SalesOf from={from} atoms={sum.volume} />
        </Figure>
        {sum.tips === 0n ? null : (
          <Figure name={t('dashboard.sales_figures.tips_included.name')}>
            <SalesOf from={from} atoms={sum.tips} of="tips" />
          </Figure>
        )}
        <Figure
          name={t('dashboard.page.payments')}
          note={changeNote(sum.payments, sumBefore?.payments)}
        >
          {formatNumber(sum.payments)}
        </Figure>
        <Figure name={t('dashboard.sales_figures.success_rate.name')}>
          {sum.successRate === null ? '–' : percentText(formatTenths(sum.successRate * 100))}
        </Figure>
        <Figure name={t('dashboard.sales_figures.from_tap_to_paid.name')}>
          {sum.settleMs === null
            ? '–'
            : t('ui.seconds', { number: formatTenths(sum.settleMs / 1000) })}
        </Figure>
      </dl>
      <SalesChart {...periods} />
      {Object.keys(sum.declines).length === 0 ? null : (
        <Declines counts={sum.declines} length={length} />
      )}
    </section>
  );
}

/** Describes the change since the previous period, if it is known. */
function changeNote(now: bigint | number, before: bigint | number | undefined): string | null {
  const words = before === undefined ? null : changeWords(Number(now), Number(before));
  return words === null ? null : t('dashboard.sales_figures.change', { change: words });
}

function usdc(atoms: number): string {
  return formatUsdc(BigInt(atoms));
}

function SalesChart({ days, before, length }: Periods): ReactNode {
  const paymentsOn = (name: string) => days.find(({ day }) => day === name)?.payments ?? 0;
  const beforeOf = (name: string) => volumeOn(before ?? [], later(name, -length));
  return (
    <DayChart
      // Changing the key resets the chart when the length changes, so that its last day is
      // selected.
      key={length}
      days={length}
      figureOf={(name) => volumeOn(days, name)}
      beforeOf={before === undefined ? undefined : beforeOf}
      tickOf={tickWords}
      labelOf={(name, value) => {
        const earlier = before === undefined ? 0 : beforeOf(name);
        const values = { count: paymentsOn(name), sum: usdc(value) };
        return earlier === 0
          ? t('dashboard.sales_figures.day', values)
          : t('dashboard.sales_figures.day_and_before', { ...values, before: usdc(earlier) });
      }}
      pathOf={(name) => `/dashboard/payments?from=${name}&to=${name}`}
    />
  );
}
