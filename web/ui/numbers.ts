import { withoutMarks } from '#core/isolates.ts';
import { t, textLocale } from './text/t.ts';

/** `1,200`. */
export function formatNumber(number: number, options: Intl.NumberFormatOptions = {}): string {
  return new Intl.NumberFormat(textLocale(), options).format(number);
}

/** With one digit behind the point: `3.5`. */
export function formatTenths(number: number): string {
  return formatNumber(number, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

/** `12 %`, of what {@link formatNumber} or {@link formatTenths} wrote. */
export function percentText(number: string): string {
  return withoutMarks(t('ui.percent', { number }));
}
