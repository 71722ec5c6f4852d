import type { LineItem } from '#prices/sale-lines.ts';
import { decimalKey } from '../ui/typed-sum.ts';

/**
 * Formats a quantity with all of its decimals and the reader's decimal separator: `0.350` or
 * `0,350`.
 */
export function quantityText(quantity: LineItem['quantity']): string {
  return String(quantity).replace('.', decimalKey({ decimals: 3 }) ?? '.');
}
