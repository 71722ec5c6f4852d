const BASIS_POINTS = 10_000;
function feeOf(price, rate) {
    return Number((BigInt(price) * BigInt(rate)) / BigInt(BASIS_POINTS));
}
/**
 * Atoms that leave the bridge wallet for a sale of `price`: what the client has to pay, so that the
 * bridge neither earns nor loses.
 */
export function totalOf(price, { acquirer, protocol, cashback }) {
    return price + feeOf(price, acquirer) + feeOf(price, protocol) - feeOf(price, cashback);
}
/**
 * The other way: the largest sale that `total` pays for. Fees are rounded down, so an atom or two
 * may be left; those stay with the bridge.
 */
export function priceOf(total, rates) {
    let low = 0;
    let high = total;
    while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (totalOf(middle, rates) <= total)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}
