import { type Seller } from './sale.ts';
import type { Settled } from './wire.ts';
export interface SettleOptions {
    /** Milliseconds to wait for chain and network before the answer is `settlement_pending`. */
    readonly waitMs: number;
}
/**
 * Takes the client's money and pays the merchant. The same call gives the same answer and moves no
 * money twice: the token knows each nonce, the network each intent, and both are asked, not
 * remembered. A process that ends in the middle has lost nothing.
 */
export declare function settle(seller: Seller, asked: {
    readonly payload: unknown;
    readonly requirements: unknown;
}, options: SettleOptions): Promise<Settled>;
