import type { OfflineRequest } from '../data/offline-request.ts';
import type { PayerPayment } from '../data/payer-api.ts';
import { leftWallet } from '../ui/quoted-price.ts';
import { keep, kept, type SignedPrice } from './wallet-storage.ts';

/** More than a wallet signs within the days until all tills have forwarded their sales. */
const MOST_KEPT = 50;

/** Remembers the rates that the service has shown for payments, newest payment first. */
export function rememberRates(payments: readonly Pick<PayerPayment, 'presentment'>[]): void {
  const seen = new Map(Object.entries(kept('seenRates')));
  for (const { presentment } of payments.toReversed()) {
    if (presentment !== null) seen.set(presentment.currency, presentment.rate);
  }
  if (seen.size > 0) keep('seenRates', Object.fromEntries(seen));
}

export function rememberSigned({ price, value }: OfflineRequest): void {
  if (price === undefined) return;
  const { currency, amount } = price;
  const signed = { at: new Date().toISOString(), value: String(value), currency, amount };
  keep('signedPrices', [signed, ...kept('signedPrices')].slice(0, MOST_KEPT));
}

type Receipted = Pick<PayerPayment, 'presentment' | 'settled_at' | 'total_charged' | 'fees'>;

/**
 * Returns the price that was signed offline for a payment if its receipt shows another one. The
 * payment is recognized by the atoms that left the wallet.
 */
export function otherPrice(payment: Receipted): SignedPrice | null {
  const value = String(leftWallet(payment));
  const signed = kept('signedPrices').filter((one) => {
    return one.value === value && one.at <= payment.settled_at;
  });
  const { presentment } = payment;
  const isShown = signed.some(
    ({ currency, amount }) => presentment?.currency === currency && presentment.amount === amount,
  );
  return isShown ? null : (signed[0] ?? null);
}
