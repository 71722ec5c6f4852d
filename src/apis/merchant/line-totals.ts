import { toJsonAtoms } from '#core/money.ts';
import type { SoldLines, TaxSum } from '#payments/shift-totals-queries.ts';
import { taxTable } from '#prices/sale-lines.ts';

/** This file computes a shift's totals by item and tax rate, as an object and as rows of a file. */

/** Adds up the taxes of sales by currency and rate. The rate 0 is included. */
export function sumTaxes(sold: readonly SoldLines[]): TaxSum[] {
  const sums = new Map<string, TaxSum>();
  for (const { currency, lines, count } of sold) {
    for (const { rate, net, tax, gross } of taxTable(lines)) {
      const key = `${currency ?? ''} ${rate}`;
      const known = sums.get(key) ?? { currency, rate, net: 0, tax: 0, gross: 0 };
      sums.set(key, {
        ...known,
        net: known.net + net * count,
        tax: known.tax + tax * count,
        gross: known.gross + gross * count,
      });
    }
  }
  return [...sums.values()].sort(byCurrency);
}

function byCurrency(one: TaxSum, other: TaxSum): number {
  return (one.currency ?? '').localeCompare(other.currency ?? '') || one.rate - other.rate;
}

/** Adds up the discounts of lines and of whole sales by currency. */
export function sumDiscounts(sold: readonly SoldLines[]) {
  const sums = new Map<string | null, number>();
  for (const { currency, lines, count } of sold) {
    const ofLines = lines.lineItems.reduce((sum, { discount }) => sum + discount, 0);
    const amount = (ofLines + lines.discount) * count;
    if (amount > 0) sums.set(currency, (sums.get(currency) ?? 0) + amount);
  }
  return [...sums].map(([currency, amount]) => ({ currency, amount }));
}

interface PaidOut {
  readonly count: number;
  readonly amount: bigint;
}

export function payoutsView({ count, amount }: PaidOut) {
  return { count, amount: toJsonAtoms(amount) };
}

/** Columns of the file that only its last rows fill. */
export const LINE_COLUMNS = ['currency', 'tax_rate', 'net', 'tax', 'gross', 'discounts', 'payouts'];

export function lineRows(sold: readonly SoldLines[], paidOut: PaidOut) {
  const taxes = sumTaxes(sold).map(({ rate, ...sums }) => {
    return { label: 'Tax', tax_rate: rate, ...sums };
  });
  const discounts = sumDiscounts(sold).map(({ currency, amount }) => {
    return { label: 'Discounts', currency, discounts: amount };
  });
  const payouts =
    paidOut.count === 0 ? [] : [{ label: 'Payouts', payouts: payoutsView(paidOut).amount }];
  return [...taxes, ...discounts, ...payouts];
}
