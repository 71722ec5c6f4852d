import { formatNumber, formatTenths } from './numbers.ts';
import { t } from './text/t.ts';

export function sizeWords(bytes: number): string {
  if (bytes < 1_000_000) {
    return t('ui.kilobytes', { number: formatNumber(Math.ceil(bytes / 1_000)) });
  }
  return t('ui.megabytes', { number: formatTenths(bytes / 1_000_000) });
}
