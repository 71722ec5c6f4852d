import type { ReactNode } from 'react';
import { DAY_MS } from '#core/durations.ts';
import { fromRoot } from '../../data/root-path.ts';
import type { SalesReport } from '../../data/types/dashboard.ts';
import { FilterSelect, type Filters, useFilters } from '../../desk/filters.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { formatNumber, percentText } from '../../ui/numbers.ts';
import { Page } from '../../ui/shell.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { t, textLocale } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Money } from '../../ui/typed-money.tsx';
import { useShopDays } from '../account/time-zone.ts';
import { changeWords } from '../statistics/chart-scale.ts';
import { useDays } from '../statistics/chosen-days.ts';
import { dayBefore } from '../statistics/day-bounds.ts';
import { ListFilters } from '../statistics/day-filters.tsx';
import { Figure } from '../statistics/labeled-figure.tsx';
import { useLiveSales } from '../statistics/use-live-refresh.ts';
import { useMerchant, useRead } from '../use-merchant.ts';

type Totals = SalesReport['totals'][number];
type Row = SalesReport['rows'][number];

const groupings = (): readonly (readonly [name: string, words: string])[] => [
  ['hour', t('dashboard.reports.hour')],
  ['weekday', t('dashboard.reports.weekday')],
  ['item', t('dashboard.reports.item')],
  ['category', t('dashboard.reports.category')],
  ['cashier', t('dashboard.reports.cashier')],
  ['location', t('dashboard.reports.location')],
  ['terminal', t('dashboard.field.terminal')],
  ['tax_rate', t('dashboard.reports.tax_rate')],
  ['method', t('dashboard.reports.method')],
];

/** A Monday, from which the names of weekdays are counted. */
const MONDAY = Date.UTC(2026, 0, 5);
/** Every sale and refund of the shown days changes the report. */
const LIVE = ['GET /accounts/{account}/{mode}/reports/sales'];

function dayWords(at: number, format: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(textLocale(), { ...format, timeZone: 'UTC' }).format(at);
}

function nameOf(group: string, { key, label }: Row): string {
  if (key === null) return t('dashboard.reports.none');
  if (group === 'day') {
    const format = { weekday: 'short', day: 'numeric', month: 'short' } as const;
    return dayWords(Date.parse(`${key}T00:00:00.000Z`), format);
  }
  if (group === 'weekday') {
    return dayWords(MONDAY + (Number(key) - 1) * DAY_MS, { weekday: 'long' });
  }
  if (group === 'tax_rate') return percentText(formatNumber(Number(key) / 100));
  return given(String(label));
}

const currencyOf = ({ currency }: Pick<Totals, 'currency'>) =>
  currency === 'usdc' ? null : currency;

/** What the shop gets: sales with tips. */
const sumOf = ({ gross, tip }: Pick<Totals, 'gross' | 'tip'>) => gross + tip;

function sumColumn(name: string, sum: (row: Row) => number): Column<Row> {
  return {
    name,
    number: true,
    cell: (row) => <Money units={BigInt(sum(row))} currency={currencyOf(row)} />,
  };
}

/** Not in a style sheet, because the names of its files are part of the first load. */
const BAR = {
  ...{ background: 'var(--accent)', display: 'block', borderRadius: '0.1875rem' },
  ...{ blockSize: '0.375rem', minInlineSize: '2px', maxInlineSize: '12rem' },
  marginBlockStart: '0.25rem',
};

/** The bar of a row: its part of the largest sum in its currency. The table says the same. */
function Bar({ row, rows }: { readonly row: Row; readonly rows: readonly Row[] }): ReactNode {
  const sums = rows.filter(({ currency }) => currency === row.currency).map(sumOf);
  const share = Math.max(0, sumOf(row)) / Math.max(1, ...sums);
  return <span aria-hidden="true" style={{ ...BAR, inlineSize: `${share * 100}%` }} />;
}

const columns = (group: string, words: string, rows: readonly Row[]): readonly Column<Row>[] => [
  {
    name: words,
    cell: (row) => (
      <>
        {nameOf(group, row)}
        <Bar row={row} rows={rows} />
      </>
    ),
  },
  { name: t('dashboard.page.payments'), number: true, cell: ({ count }) => formatNumber(count) },
  sumColumn(t('dashboard.reports.sales'), sumOf),
  sumColumn(t('dashboard.reports.tax'), ({ tax }) => tax),
  sumColumn(t('dashboard.field.tip'), ({ tip }) => tip),
  sumColumn(t('dashboard.field.refunded'), ({ refunded }) => refunded),
];

/** The sums of each currency, with the change since the period before. */
function Headline({ totals, previous }: SalesReport): ReactNode {
  return (
    <dl className="figures">
      {totals.map((total) => {
        const earlier = previous?.totals.find(({ currency }) => currency === total.currency);
        const change = changeWords(sumOf(total), earlier === undefined ? 0 : sumOf(earlier));
        return (
          <Figure
            key={total.currency}
            name={t('dashboard.reports.with_tips', { count: total.count })}
            note={change === null ? null : t('dashboard.reports.change', { change })}
          >
            <Money units={BigInt(sumOf(total))} currency={currencyOf(total)} />
          </Figure>
        );
      })}
    </dl>
  );
}

/** Returns filters that choose the last seven days until the reader chooses days. */
function withPeriod(filters: Filters): Filters {
  const isChosen = ['time', 'from', 'to'].some((name) => filters.get(name));
  return {
    ...filters,
    get: (name) => (name === 'time' && !isChosen ? '7_days' : filters.get(name)),
  };
}

export function Reports(): ReactNode {
  const { account, mode } = useMerchant();
  const shop = useShopDays();
  useLiveSales(LIVE);
  const filters = withPeriod(useFilters());
  const chosen = useDays(filters);
  const to = chosen.to || dayBefore(0, shop);
  const [from = to] = [chosen.from || to, to].toSorted();
  const group = filters.get('group') || 'day';
  const asked = { from, to, group_by: group };
  const query = useRead(
    'GET /accounts/{account}/{mode}/reports/sales',
    { query: { ...asked, compare: 'previous' } },
    { keepsBefore: true },
  );
  const options = groupings();
  const words = options.find(([name]) => name === group)?.[1] ?? t('dashboard.reports.day');
  const file = fromRoot(`api/dashboard/v1/accounts/${account.id}/${mode}/reports/sales`);
  for (const [name, value] of Object.entries({ ...asked, format: 'csv' })) {
    file.searchParams.set(name, value);
  }
  return (
    <Page title={t('dashboard.page.reports')}>
      <ListFilters filters={filters}>
        <FilterSelect
          filters={filters}
          name="group"
          label={t('dashboard.reports.group')}
          all={t('dashboard.reports.day')}
          options={options}
        />
      </ListFilters>
      <Loaded query={query} shape="rows">
        {(report) =>
          report.rows.length === 0 ? (
            <p className="soft">{t('dashboard.reports.empty')}</p>
          ) : (
            <section className="card stack">
              <Headline {...report} />
              <Table
                label={t('dashboard.page.reports')}
                columns={columns(report.group_by[0] ?? group, words, report.rows)}
                rows={report.rows}
                keyOf={({ key, currency }) => `${key} ${currency}`}
              />
              <div>
                <a className={buttonClass({})} data-name="CSV" href={file.href} download>
                  {t('dashboard.reports.csv')}
                </a>
              </div>
            </section>
          )
        }
      </Loaded>
    </Page>
  );
}
