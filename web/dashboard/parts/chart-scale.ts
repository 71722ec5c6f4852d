import { formatNumber, percentText } from '../../ui/numbers.ts';

/** Sums that people find round: a scale ends with one of them, times a power of ten. */
const ROUND = [1, 1.5, 2, 3, 4, 5, 6, 8, 10];
/** Up to here a scale in the middle says enough; more lines only make it gray. */
const PARTS = 2;

export interface Scale {
  /** The value at the upper edge. */
  readonly top: number;
  /** What is written at the side, from below. */
  readonly ticks: readonly number[];
}

/**
 * A scale that begins at zero and ends with a round number, not below the largest value.
 * @param whole Nothing between whole numbers is written: there are no half payments.
 */
export function scaleFor(values: readonly number[], whole: boolean): Scale {
  const most = Math.max(0, ...values);
  const floor = whole ? PARTS : 1;
  if (most <= floor) return { top: floor, ticks: ticksOf(floor, whole) };
  const power = 10 ** Math.floor(Math.log10(most));
  const top = (ROUND.find((round) => round * power >= most) ?? 10) * power;
  return { top, ticks: ticksOf(top, whole) };
}

function ticksOf(top: number, whole: boolean): number[] {
  const middle = top / PARTS;
  return whole && !Number.isInteger(middle) ? [0, top] : [0, middle, top];
}

/** Where the arrow keys, Home and End lead in a chart of so many days; null: they lead nowhere. */
export function dayAtKey(key: string, at: number, days: number): number | null {
  const last = days - 1;
  if (key === 'ArrowLeft') return Math.max(0, at - 1);
  if (key === 'ArrowRight') return Math.min(last, at + 1);
  if (key === 'Home') return 0;
  return key === 'End' ? last : null;
}

/** `+12 %`, `−3.5 %`; null: nothing to compare with. */
export function changeWords(now: number, before: number): string | null {
  if (before === 0) return null;
  const percent = ((now - before) / before) * 100;
  const digits = Math.abs(percent) < 10 ? 1 : 0;
  const size = Number(Math.abs(percent).toFixed(digits));
  const sign = size === 0 ? '±' : percent < 0 ? '−' : '+';
  return percentText(`${sign}${formatNumber(size)}`);
}
