import { parseAtoms } from '../../ui/money.ts';

export interface PaymentQuery {
  readonly order_id?: string;
  readonly tx_hash?: string;
  readonly payer?: string;
  readonly amount?: number;
}

/** What a person typed: a transaction, a wallet, an amount such as `2.50`, or else an order id. */
export function readSearch(typed: string): PaymentQuery {
  const text = typed.trim();
  if (/^0x[0-9a-f]{64}$/i.test(text)) return { tx_hash: text };
  if (/^0x[0-9a-f]{40}$/i.test(text)) return { payer: text };
  const atoms = /[.,]/.test(text) ? parseAtoms(text) : null;
  if (atoms !== null) return { amount: Number(atoms) };
  return { order_id: text };
}
