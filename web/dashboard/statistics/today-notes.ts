import { formatAtoms } from '../../ui/format-usdc.ts';
import { t, textLocale } from '../../ui/text/t.ts';

/** The sales of the same weekday last week. */
export interface DayBefore {
  readonly payments: number;
  readonly volume: bigint;
}

/** Returns the weekday, for example `Friday` for 2026-11-20. */
export function weekdayOf(day: string): string {
  const format = new Intl.DateTimeFormat(textLocale(), { weekday: 'long', timeZone: 'UTC' });
  return format.format(new Date(day));
}

export function salesNote({ payments, volume }: DayBefore, weekday: string): string {
  if (payments === 0) return t('dashboard.today.no_sales', { weekday });
  return t('dashboard.today.sales_note', { volume: formatAtoms(volume), weekday });
}

/**
 * Compares the number of payments with last week's.
 * @returns `null` if there were none then, because the note about sales already says that.
 */
export function paymentsNote({ payments }: DayBefore, weekday: string): string | null {
  if (payments === 0) return null;
  return t('dashboard.today.payments_note', { count: payments, weekday });
}
