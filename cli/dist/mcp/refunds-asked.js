export class RefundsAsked {
    #parts = new Map();
    #before = new Map();
    totalWith(payment, amount) {
        const { id, amount_refunded: refunded } = payment;
        const parts = new Map(this.#parts.get(id)).set(keyOf(payment, amount), amount);
        const given = refunded - (this.#before.get(id) ?? refunded) + amount;
        return this.others(id) + Math.max(sumOf(parts), given);
    }
    others(id) {
        const rest = [...this.#parts].filter(([payment]) => payment !== id);
        return rest.reduce((sum, [, parts]) => sum + sumOf(parts), 0);
    }
    add(payment, amount) {
        const { id, amount_refunded: refunded } = payment;
        if (!this.#before.has(id))
            this.#before.set(id, refunded);
        const parts = this.#parts.get(id) ?? new Map();
        this.#parts.set(id, parts.set(keyOf(payment, amount), amount));
    }
    remove(payment, amount) {
        this.#parts.get(payment.id)?.delete(keyOf(payment, amount));
    }
}
function keyOf({ amount_refunded }, amount) {
    return `${amount} after ${amount_refunded}`;
}
function sumOf(parts) {
    return [...parts.values()].reduce((sum, atoms) => sum + atoms, 0);
}
