import type { LineItem } from '#prices/sale-lines.ts';
import { decimalKey } from './typed-sum.ts';

/**
 * Formats a quantity with all of its decimals and the reader's decimal separator: `0.350` or
 * `0,350`.
 */
export function quantityText(quantity: LineItem['quantity']): string {
  return String(quantity).replace('.', decimalKey({ decimals: 3 }) ?? '.');
}

/** Returns a quantity in thousandths as the API takes it. */
export function quantityOf(value: bigint): LineItem['quantity'] {
  const fraction = value % 1_000n;
  if (fraction === 0n) return Number(value / 1_000n);
  return `${value / 1_000n}.${String(fraction).padStart(3, '0')}`;
}
