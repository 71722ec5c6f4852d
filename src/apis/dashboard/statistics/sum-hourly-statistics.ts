import type { DayRow, PartRow } from '#apis/dashboard/statistics/statistics-queries.ts';

function addCounts(parts: readonly { readonly [name: string]: number }[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const counts of parts) {
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}

/**
 * Each pair is a time in milliseconds and the number of payments that took so long, shortest first.
 */
type Times = readonly (readonly [ms: number, count: number])[];

const NUMBERS = /-?\d+/g;

/**
 * Adds up the settlement times of a day's hours. Reads the numbers from the JSON text by a pattern,
 * because parsing took five times as long and blocked the event loop: V8 sorts numeric keys.
 */
function addTimes(hours: readonly string[]): Times {
  const sums = new Map<number, number>();
  for (const hour of hours) {
    const numbers = hour.match(NUMBERS) ?? [];
    for (let at = 0; at < numbers.length; at += 2) {
      const ms = Number(numbers[at]);
      sums.set(ms, (sums.get(ms) ?? 0) + Number(numbers[at + 1]));
    }
  }
  return [...sums].sort(([one], [other]) => one - other);
}

/**
 * Returns the shortest time within which this share of the payments was settled; `null` if there
 * were none.
 */
function timeWithin(share: number, times: Times): number | null {
  const needed = share * times.reduce((sum, [, count]) => sum + count, 0);
  let reached = 0;
  for (const [ms, count] of times) {
    reached += count;
    if (reached >= needed) return ms;
  }
  return null;
}

function sumOf(rows: readonly PartRow[]) {
  const sum = { intents: 0, succeeded: 0, canceled: 0, called_off: 0, payments: 0, refunds: 0 };
  const atoms = { volume: 0n, tips: 0n, refunded: 0n };
  for (const row of rows) {
    sum.intents += row.intents;
    sum.succeeded += row.succeeded;
    sum.canceled += row.canceled;
    sum.called_off += row.called_off;
    sum.payments += row.payments;
    sum.refunds += row.refunds;
    atoms.volume += row.volume;
    atoms.tips += row.tips;
    atoms.refunded += row.refunded;
  }
  return { ...sum, ...atoms };
}

export function sumParts(day: string, parts: readonly PartRow[]): DayRow[] {
  const groups = Map.groupBy(parts, (part) => part.terminal_id);
  return [...groups].map(([terminal, rows]) => {
    const times = addTimes(rows.map(({ settle_ms: hour }) => hour));
    return {
      day,
      terminal_id: terminal,
      ...sumOf(rows),
      settle_ms_median: timeWithin(0.5, times),
      settle_ms_p95: timeWithin(0.95, times),
      declines: addCounts(rows.map(({ declines }) => declines)),
    };
  });
}
