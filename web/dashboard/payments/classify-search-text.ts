import { readSum } from '../../ui/typed-sum.ts';

export interface PaymentQuery {
  readonly order_id?: string;
  readonly tx_hash?: string;
  readonly payer?: string;
  readonly amount?: number;
}

/** Order ids consist of these characters, so `1234` may be an order or an amount. */
const ORDER = /^[A-Za-z0-9_-]{1,8}$/;
const LIKE_A_SUM = /^[\p{Nd}.,'’٫٬．，،\s]+$/u;

/** Returns the amount in atoms that a text may mean, or `null` if it is not a valid amount. */
export function sumMeant(text: string): number | null {
  const sum = LIKE_A_SUM.test(text) ? readSum(text) : null;
  return sum?.is === 'sum' ? Number(sum.units) : null;
}

/** Returns the reason why an amount cannot be searched for, or `null` if it can be. */
export function searchProblem(typed: string): string | null {
  const text = typed.trim();
  if (ORDER.test(text) || !LIKE_A_SUM.test(text)) return null;
  const sum = readSum(text);
  return sum.is === 'refused' ? sum.words : null;
}

/**
 * Classifies the typed text: a transaction, a wallet, an amount such as `2.50`, an order, or (if
 * ambiguous) an amount or an order.
 */
export function readSearch(typed: string): PaymentQuery {
  const text = typed.trim();
  if (/^0x[0-9a-f]{64}$/i.test(text)) return { tx_hash: text };
  if (/^0x[0-9a-f]{40}$/i.test(text)) return { payer: text };
  const amount = sumMeant(text);
  if (amount === null) return { order_id: text };
  return ORDER.test(text) ? { order_id: text, amount } : { amount };
}
