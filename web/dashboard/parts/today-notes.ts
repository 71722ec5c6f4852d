import { roundAtoms } from '../../ui/money.ts';

/** What was sold on the same day of last week. */
export interface DayBefore {
  readonly payments: number;
  readonly volume: bigint;
}

/** `Friday`, of 2026-11-20. */
export function weekdayOf(day: string): string {
  const format = new Intl.DateTimeFormat('en-US', { weekday: 'long', timeZone: 'UTC' });
  return format.format(new Date(day));
}

export function salesNote({ payments, volume }: DayBefore, weekday: string): string {
  if (payments === 0) return `No sales last ${weekday}`;
  return `${roundAtoms(volume)} USDC all day last ${weekday}`;
}

/** null: the note of the sales says it. */
export function paymentsNote({ payments }: DayBefore, weekday: string): string | null {
  if (payments === 0) return null;
  return `${payments.toLocaleString('en-US')} all day last ${weekday}`;
}
