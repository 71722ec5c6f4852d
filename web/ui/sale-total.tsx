import type { ReactNode } from 'react';
import { chargesOf, type FeeRates } from '#core/charges.ts';
import { presentTotal, toMinorUnits } from '#core/currency-conversion.ts';
import { Amount } from './amount.tsx';
import { feeIn, type SaleTotal } from './paid-total.ts';
import type { Quoted } from './quoted-price.ts';
import { Sum } from './sum.tsx';
import { t } from './text/t.ts';
import { tippedPrice } from './tip-price.ts';

/**
 * Returns what a customer pays for a sale, as the service computes it (behavior.md 23.2).
 * @param sums The sale and its tip in atoms; `paid`, what leaves the wallet, is `null` if unknown.
 */
export function saleTotal(
  quoted: Quoted | null,
  { sale, tip, paid }: { sale: bigint; tip: bigint; paid: bigint | null },
): SaleTotal {
  const owed = sale + tip;
  if (quoted === null) {
    const total = { atoms: paid === null || paid < owed ? owed : paid, price: null };
    return { total, fee: feeIn(total, owed, null) };
  }
  const { currency, rate } = quoted;
  const sums = { ...quoted, tip: toMinorUnits(tip, quoted), paid: paid ?? 0n };
  const { total: units, fees } = presentTotal(sums);
  const total = { atoms: paid ?? owed, price: { currency, rate, units: BigInt(units) } };
  return { total, fee: feeIn(total, owed, fees) };
}

/** Returns what a pass would pay for an intent with this tip. */
export function dueFor(
  { amount, presentment }: { readonly amount: number; readonly presentment: Quoted | null },
  tip: bigint,
  rates: FeeRates | null | undefined,
): SaleTotal {
  const sale = BigInt(amount);
  const paid = rates ? chargesOf(sale + tip, rates).pulled : null;
  return saleTotal(presentment, { sale, tip, paid });
}

interface ShownIntent {
  readonly amount: number;
  readonly tip: number | null;
  readonly presentment: (Quoted & { readonly total: number | null }) | null;
  /** In atoms; `null` if unknown. */
  readonly total: number | null;
}

/** Returns what the customer of an intent pays; while that is unknown, price and tip. */
export function intentSum({ amount, tip, presentment, total: paid }: ShownIntent) {
  const atoms = BigInt(paid ?? amount + (tip ?? 0));
  if (presentment === null) return { atoms, price: null };
  const { currency, total } = presentment;
  if (total === null) return { atoms, price: tippedPrice(presentment, BigInt(tip ?? 0)) };
  return { atoms: null, price: { currency, units: BigInt(total) } };
}

/** Shows what a customer pays, as large as its digits allow, and the service fee in it. */
export function Total({ total, fee }: SaleTotal): ReactNode {
  return (
    <>
      <p>{t('ui.total')}</p>
      <Sum {...total} />
      {fee === null ? null : (
        <p>
          {t('ui.service_fee')} <Amount {...fee} />
        </p>
      )}
    </>
  );
}
