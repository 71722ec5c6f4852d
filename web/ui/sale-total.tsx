import type { ReactNode } from 'react';
import { chargesOf, type FeeRates } from '#core/charges.ts';
import { presentTotal, toMinorUnits } from '#core/currency-conversion.ts';
import { Amount } from './amount.tsx';
import { formatPrice, type Price } from './format-price.ts';
import { formatUsdc } from './format-usdc.ts';
import type { Quoted } from './quoted-price.ts';
import { Sum } from './sum.tsx';
import { t } from './text/t.ts';
import { tippedPrice } from './tip-price.ts';
import { leftWallet, type PaidBy } from './wallet-paid.ts';

/** A sum in atoms, and in the shop's currency; `price` is `null` for a sale in USDC. */
export interface SaleSum {
  readonly atoms: bigint;
  readonly price: Price | null;
}

/** What a customer pays, and the service fee in it; `null` if unknown or 0. */
export interface SaleTotal {
  readonly total: SaleSum;
  readonly fee: SaleSum | null;
}

/**
 * Returns what a customer pays for a sale, as the service computes it (behavior.md 23.2).
 * @param sums The sale and its tip in atoms; `paid`, what leaves the wallet, is `null` if unknown.
 */
export function saleTotal(
  quoted: Quoted | null,
  { sale, tip, paid }: { sale: bigint; tip: bigint; paid: bigint | null },
): SaleTotal {
  const owed = sale + tip;
  const atoms = paid === null || (quoted === null && paid < owed) ? owed : paid;
  const feeAtoms = atoms > owed ? atoms - owed : 0n;
  if (quoted === null) {
    const fee = feeAtoms === 0n ? null : { atoms: feeAtoms, price: null };
    return { total: { atoms, price: null }, fee };
  }
  const { currency, rate } = quoted;
  const { total, fees } = presentTotal({
    ...quoted,
    tip: toMinorUnits(tip, quoted),
    paid: paid ?? 0n,
  });
  const fee = fees === 0 ? null : { atoms: feeAtoms, price: { currency, units: BigInt(fees) } };
  return { total: { atoms, price: { currency, rate, units: BigInt(total) } }, fee };
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

interface Paid extends PaidBy {
  /** In atoms, including the tip. */
  readonly amount: number;
  readonly tip?: number;
  readonly presentment: Quoted | null;
}

/** Returns what the customer of a payment paid. */
export function paidTotal(payment: Paid): SaleTotal {
  const tip = BigInt(payment.tip ?? 0);
  const sale = BigInt(payment.amount) - tip;
  return saleTotal(payment.presentment, { sale, tip, paid: leftWallet(payment) });
}

interface ShownIntent {
  readonly amount: number;
  readonly tip: number | null;
  readonly presentment: (Quoted & { readonly total: number | null }) | null;
}

/**
 * Returns an intent's total in the shop's currency. The API does not say how many atoms it is
 * (`null`); of an intent in USDC, it says only price and tip.
 */
export function intentSum({ amount, tip, presentment }: ShownIntent) {
  const atoms = BigInt(amount + (tip ?? 0));
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

/** Formats a sum in the currency of its sale, for a button's label. */
export function sumWords({ atoms, price }: SaleSum): string {
  return price === null ? formatUsdc(atoms) : formatPrice(price);
}
