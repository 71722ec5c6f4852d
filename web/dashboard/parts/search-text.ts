import { readSum } from '../../ui/typed-sum.ts';

export interface PaymentQuery {
  readonly order_id?: string;
  readonly tx_hash?: string;
  readonly payer?: string;
  readonly amount?: number;
}

/** Orders are named with these, so `1234` may be one, or a sum. */
const ORDER = /^[A-Za-z0-9_-]{1,8}$/;
const LIKE_A_SUM = /^[\p{Nd}.,'’\s]+$/u;

/** The sum that a text may mean, in atoms; null: it looks like none, or it is refused. */
export function sumMeant(text: string): number | null {
  const sum = LIKE_A_SUM.test(text) ? readSum(text) : null;
  return sum?.is === 'sum' ? Number(sum.units) : null;
}

/** Why a text that can only be a sum is not looked for; null: it is. */
export function searchProblem(typed: string): string | null {
  const text = typed.trim();
  if (ORDER.test(text) || !LIKE_A_SUM.test(text)) return null;
  const sum = readSum(text);
  return sum.is === 'refused' ? sum.words : null;
}

/** What a person typed: a transaction, a wallet, a sum such as `2.50`, an order, or either. */
export function readSearch(typed: string): PaymentQuery {
  const text = typed.trim();
  if (/^0x[0-9a-f]{64}$/i.test(text)) return { tx_hash: text };
  if (/^0x[0-9a-f]{40}$/i.test(text)) return { payer: text };
  const amount = sumMeant(text);
  if (amount === null) return { order_id: text };
  return ORDER.test(text) ? { order_id: text, amount } : { amount };
}
