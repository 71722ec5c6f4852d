import { withoutIsolates } from '#i18n/bidi-isolates.ts';
import { t, textLocale } from './text/t.ts';

/** Formats a number, for example `1,200`. */
export function formatNumber(number: number, options: Intl.NumberFormatOptions = {}): string {
  return new Intl.NumberFormat(textLocale(), options).format(number);
}

/** Formats a number with one decimal, for example `3.5`. */
export function formatTenths(number: number): string {
  return formatNumber(number, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

/**
 * Formats a percentage, for example `12 %`, from the output of {@link formatNumber} or {@link
 * formatTenths}.
 */
export function percentText(number: string): string {
  return withoutIsolates(t('ui.percent', { number }));
}
