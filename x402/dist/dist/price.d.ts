/** What the network takes, in basis points of the sale, each rounded down. */
export interface FeeRates {
    readonly acquirer: number;
    readonly protocol: number;
    readonly cashback: number;
}
/**
 * Atoms that leave the bridge wallet for a sale of `price`: what the client has to pay, so that the
 * bridge neither earns nor loses.
 */
export declare function totalOf(price: number, { acquirer, protocol, cashback }: FeeRates): number;
/**
 * The other way: the largest sale that `total` pays for. Fees are rounded down, so an atom or two
 * may be left; those stay with the bridge.
 */
export declare function priceOf(total: number, rates: FeeRates): number;
