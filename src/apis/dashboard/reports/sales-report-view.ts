import { selectReportNames } from '#apis/dashboard/reports/sales-report-queries.ts';
import type { Grouping, Key, Tallied, Tally } from '#apis/dashboard/reports/sales-tally.ts';
import { assert } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import { selectPersonNames } from '#people/user-queries.ts';
import { quantityText } from '#prices/sale-lines.ts';

/** Renders a tally as the rows and totals of a report. */

const WEEKDAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ');

export type Names = ReadonlyMap<string, string>;

const NAMED: readonly Grouping[] = ['item', 'location', 'terminal'];

/** Returns the names of the IDs in these tallies, of the things by which they are grouped. */
export async function selectNames(
  sql: Sql,
  input: { readonly tenants: readonly Tenant[]; readonly groupBy: readonly Grouping[] },
  tallies: readonly Tally[],
): Promise<Names> {
  const { tenants, groupBy } = input;
  const index = groupBy.indexOf('cashier');
  const keys = tallies.flatMap(({ rows }) => [...rows.values()].map((row) => row.keys[index]));
  const people = new Set(keys.filter((key) => typeof key === 'string'));
  const names = new Map(people.size === 0 ? [] : await selectPersonNames(sql, [...people]));
  if (!groupBy.some((grouping) => NAMED.includes(grouping))) return names;
  for (const tenant of tenants) {
    for (const [id, name] of await selectReportNames(sql, tenant)) names.set(id, name);
  }
  return names;
}

function labelOf(grouping: Grouping, key: Key, row: Tallied, names: Names): string | null {
  if (key === null) return null;
  if (grouping === 'hour') return `${String(key).padStart(2, '0')}:00`;
  if (grouping === 'weekday') return WEEKDAYS[Number(key) - 1] ?? null;
  if (grouping === 'tax_rate') return `${Number(key) / 100} %`;
  return names.get(String(key)) ?? (grouping === 'item' ? row.itemName : null) ?? String(key);
}

function toNumber(sum: bigint): number {
  const value = Number(sum);
  assert(Number.isSafeInteger(value), 'a sum of a report does not fit a JSON integer');
  return value;
}

function figuresView(row: Tallied) {
  return {
    currency: row.currency,
    count: row.count,
    quantity: quantityText(row.quantity),
    gross: toNumber(row.gross),
    net: toNumber(row.net),
    tax: toNumber(row.tax),
    discount: toNumber(row.discount),
    tip: toNumber(row.tip),
    refunded: toNumber(row.refunded),
    refunded_net: toNumber(row.refundedNet),
    refunded_tax: toNumber(row.refundedTax),
  };
}

/** Orders keys: numbers and days upward, `null` last. */
function compareKeys(one: Key | undefined, other: Key | undefined): number {
  if (one === other) return 0;
  if (one == null) return 1;
  if (other == null) return -1;
  return one < other ? -1 : 1;
}

function compareRows(one: Tallied, other: Tallied): number {
  return (
    compareKeys(one.keys[0], other.keys[0]) ||
    compareKeys(one.keys[1], other.keys[1]) ||
    compareKeys(one.currency, other.currency)
  );
}

export function tallyView(tally: Tally, groupBy: readonly Grouping[], names: Names) {
  const rows = [...tally.rows.values()].sort(compareRows).map((row) => {
    const labels = groupBy.map((grouping, index) => {
      return labelOf(grouping, row.keys[index] ?? null, row, names);
    });
    const isPair = groupBy.length > 1;
    const key = isPair ? row.keys : (row.keys[0] ?? null);
    return { key, label: isPair ? labels : (labels[0] ?? null), ...figuresView(row) };
  });
  const totals = [...tally.totals.values()].sort(compareRows).map(figuresView);
  return { rows, totals };
}

export type ReportRows = ReturnType<typeof tallyView>['rows'];
