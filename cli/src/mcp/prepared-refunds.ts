import type { Payment } from 'tapline';

/** A refund as it was prepared. */
export interface PreparedRefund {
  /** In atoms. */
  readonly amount: number;
  /** The lines that it returns, as text; `null` for a sum. */
  readonly lines: string | null;
}

/**
 * The refunds that one session has prepared, each as a link to the dashboard. A link stays valid,
 * so its amount is removed from the total only if the user declined to open it. Partial refunds of
 * a payment add up; identical requests count once.
 */
export class RefundsAsked {
  /** The prepared parts in atoms, by payment, then by refund and the sum refunded before. */
  readonly #parts = new Map<string, Map<string, number>>();
  /** For each payment: what had been refunded before this session prepared anything. */
  readonly #before = new Map<string, number>();

  /** Returns the session's total for a payment including this part. */
  totalWith(payment: Payment, part: PreparedRefund): number {
    const { id, amount_refunded: refunded } = payment;
    const { amount } = part;
    const parts = new Map(this.#parts.get(id)).set(keyOf(payment, part), amount);
    // If a link was used twice, more was refunded than prepared.
    const given = refunded - (this.#before.get(id) ?? refunded) + amount;
    return this.others(id) + Math.max(sumOf(parts), given);
  }

  /** Returns the total that was prepared for other payments. */
  others(id: string): number {
    const rest = [...this.#parts].filter(([payment]) => payment !== id);
    return rest.reduce((sum, [, parts]) => sum + sumOf(parts), 0);
  }

  add(payment: Payment, part: PreparedRefund): void {
    const { id, amount_refunded: refunded } = payment;
    if (!this.#before.has(id)) this.#before.set(id, refunded);
    const parts = this.#parts.get(id) ?? new Map<string, number>();
    this.#parts.set(id, parts.set(keyOf(payment, part), part.amount));
  }

  /** Removes a part if the user did not open its link. */
  remove(payment: Payment, part: PreparedRefund): void {
    this.#parts.get(payment.id)?.delete(keyOf(payment, part));
  }
}

function keyOf({ amount_refunded }: Payment, { amount, lines }: PreparedRefund): string {
  return `${lines ?? amount} after ${amount_refunded}`;
}

function sumOf(parts: ReadonlyMap<string, number>): number {
  return [...parts.values()].reduce((sum, atoms) => sum + atoms, 0);
}
