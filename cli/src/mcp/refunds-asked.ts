import type { Payment } from 'tapline';

/**
 * What one session has prepared to give back. Its links stay good, so the total never falls: parts
 * of one payment add up, and only the same part asked for again is not another one.
 */
export class RefundsAsked {
  /** Atoms of each part, by payment, and by amount and what was given back before. */
  readonly #parts = new Map<string, Map<string, number>>();
  /** What was given back of a payment before the session asked for any of it. */
  readonly #before = new Map<string, number>();

  /** What the session would have prepared in all with this part of a payment. */
  totalWith(payment: Payment, amount: number): number {
    const { id, amount_refunded: refunded } = payment;
    const parts = new Map(this.#parts.get(id)).set(keyOf(payment, amount), amount);
    // A link may be used twice: then more was given back than was prepared.
    const given = refunded - (this.#before.get(id) ?? refunded) + amount;
    return this.others(id) + Math.max(sumOf(parts), given);
  }

  /** What it has prepared of other payments. */
  others(id: string): number {
    const rest = [...this.#parts].filter(([payment]) => payment !== id);
    return rest.reduce((sum, [, parts]) => sum + sumOf(parts), 0);
  }

  add(payment: Payment, amount: number): void {
    const { id, amount_refunded: refunded } = payment;
    if (!this.#before.has(id)) this.#before.set(id, refunded);
    const parts = this.#parts.get(id) ?? new Map<string, number>();
    this.#parts.set(id, parts.set(keyOf(payment, amount), amount));
  }

  /** The person did not open the link. */
  remove(payment: Payment, amount: number): void {
    this.#parts.get(payment.id)?.delete(keyOf(payment, amount));
  }
}

function keyOf({ amount_refunded }: Payment, amount: number): string {
  return `${amount} after ${amount_refunded}`;
}

function sumOf(parts: ReadonlyMap<string, number>): number {
  return [...parts.values()].reduce((sum, atoms) => sum + atoms, 0);
}
