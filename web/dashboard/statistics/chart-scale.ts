import { localDecimal } from '#core/sums.ts';
import { formatNumber, percentText } from '../../ui/numbers.ts';
import { textLocale } from '../../ui/text/t.ts';

/** Round numbers for the end of a scale, multiplied by a power of ten. */
const ROUND = [1, 1.5, 2, 3, 4, 5, 6, 8, 10];
/** Number of parts of the scale: one middle line is enough, and more would only add clutter. */
const PARTS = 2;

export interface Scale {
  /** Value at the top edge. */
  readonly top: number;
  /** Labels at the side, from bottom to top. */
  readonly ticks: readonly number[];
}

/**
 * Returns a scale from zero to a round number at or above the largest value.
 * @param whole True if the values are counts, so that fractions get no label.
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

/**
 * Returns the day that an arrow key, Home or End selects in the chart, or `null` for any other key.
 */
export function dayAtKey(key: string, at: number, days: number): number | null {
  const last = days - 1;
  if (key === 'ArrowLeft') return Math.max(0, at - 1);
  if (key === 'ArrowRight') return Math.min(last, at + 1);
  if (key === 'Home') return 0;
  return key === 'End' ? last : null;
}

/**
 * Formats a change, for example `+12 %` or `−3.5 %`.
 * @returns `null` if there is nothing to compare with.
 */
export function changeWords(now: number, before: number): string | null {
  if (before === 0) return null;
  const percent = ((now - before) / before) * 100;
  const digits = Math.abs(percent) < 10 ? 1 : 0;
  const size = Number(percent.toFixed(digits));
  if (size === 0) return percentText(`±${formatNumber(0)}`);
  return percentText(localDecimal(String(size), textLocale(), { signDisplay: 'always' }));
}
