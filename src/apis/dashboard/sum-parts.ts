import type { DayRow, PartRow } from '#apis/dashboard/statistics-queries.ts';

function addCounts(parts: readonly { readonly [name: string]: number }[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const counts of parts) {
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}

/** The least time within which this share was paid; null: nobody has paid. */
function timeWithin(share: number, counts: Readonly<Record<string, number>>): number | null {
  const times = Object.entries(counts).map(([ms, count]) => ({ ms: Number(ms), count }));
  const needed = share * times.reduce((sum, { count }) => sum + count, 0);
  let reached = 0;
  for (const { ms, count } of times.sort((a, b) => a.ms - b.ms)) {
    reached += count;
    if (reached >= needed) return ms;
  }
  return null;
}

function sumOf(rows: readonly PartRow[]) {
  const sum = { intents: 0, succeeded: 0, canceled: 0, payments: 0, refunds: 0 };
  const atoms = { volume: 0n, tips: 0n, refunded: 0n };
  for (const row of rows) {
    sum.intents += row.intents;
    sum.succeeded += row.succeeded;
    sum.canceled += row.canceled;
    sum.payments += row.payments;
    sum.refunds += row.refunds;
    atoms.volume += row.volume;
    atoms.tips += row.tips;
    atoms.refunded += row.refunded;
  }
  return { ...sum, ...atoms };
}

/** Hours as the day that they make, by terminal. */
export function sumParts(day: string, parts: readonly PartRow[]): DayRow[] {
  const groups = Map.groupBy(parts, (part) => part.terminal_id);
  return [...groups].map(([terminal, rows]) => {
    const times = addCounts(rows.map(({ settle_ms: counts }) => counts));
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
