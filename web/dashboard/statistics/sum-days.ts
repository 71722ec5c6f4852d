import type { ReadStatisticsResponse } from '../../data/types/dashboard.ts';

type Day = ReadStatisticsResponse['data'][number];

export interface DaysSum {
  readonly volume: bigint;
  /** The part of the volume that is tips. */
  readonly tips: bigint;
  readonly payments: number;
  /**
   * Paid intents as a share of ended ones, without those that the shop called off. `null` if none
   * has ended.
   */
  readonly successRate: number | null;
  /** Median time to settle in ms, of the newest day that has one; `null` if no day has. */
  readonly settleMs: number | null;
  readonly declines: Readonly<Record<string, number>>;
}

export function sumDays(days: readonly Day[]): DaysSum {
  const declines: Record<string, number> = {};
  let [volume, tips, payments, succeeded, ended] = [0n, 0n, 0, 0, 0];
  for (const day of days) {
    volume += BigInt(day.volume);
    tips += BigInt(day.tips);
    payments += day.payments;
    succeeded += day.succeeded;
    ended += day.succeeded + day.canceled - day.called_off;
    for (const [code, count] of Object.entries(day.declines)) {
      declines[code] = (declines[code] ?? 0) + Number(count);
    }
  }
  const medians = days
    .toSorted((one, other) => other.day.localeCompare(one.day))
    .map(({ settle_ms_median: median }) => median);
  return {
    volume,
    tips,
    payments,
    successRate: ended === 0 ? null : succeeded / ended,
    settleMs: medians.find((median) => median !== null) ?? null,
    declines,
  };
}
