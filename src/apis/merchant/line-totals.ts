import type { Json } from '#core/canonical-json.ts';
import { toJsonAtoms } from '#core/money.ts';
import { paymentTaxes } from '#payments/payment.ts';
import type { SoldLines, TaxSum } from '#payments/shift-totals-queries.ts';

/** This file computes a shift's totals by item and tax rate, as an object and as rows of a file. */

/** Adds up the stored taxes of sales by currency and rate. The rate 0 is included. */
export function sumTaxes(sold: readonly SoldLines[]): TaxSum[] {
  const sums = new Map<string, TaxSum>();
  for (const { currency, count, ...sale } of sold) {
    for (const { rate, net, tax, gross } of paymentTaxes(sale) ?? []) {
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

/** What the last rows of the file show. */
interface FileTotals {
  readonly presentment: readonly { readonly currency: string; readonly [sum: string]: Json }[];
  readonly sold: readonly SoldLines[];
  readonly refundedTaxes: readonly TaxSum[];
  readonly paidOut: PaidOut;
}

export function lineRows({ presentment, sold, refundedTaxes, paidOut }: FileTotals) {
  const taxRow = (label: string) => {
    return ({ rate, ...sums }: TaxSum) => ({ label, tax_rate: rate, ...sums });
  };
  const discounts = sumDiscounts(sold).map(({ currency, amount }) => {
    return { label: 'Discounts', currency, discounts: amount };
  });
  const payouts =
    paidOut.count === 0 ? [] : [{ label: 'Payouts', payouts: payoutsView(paidOut).amount }];
  return [
    ...presentment.map((sums) => ({ label: 'Sales', ...sums })),
    ...sumTaxes(sold).map(taxRow('Tax')),
    ...refundedTaxes.map(taxRow('Refunded tax')),
    ...discounts,
    ...payouts,
  ];
}
