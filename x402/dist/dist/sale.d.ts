import type { PaymentIntent, Tapline } from 'tapline';
import type { Address } from 'viem';
import type { Payer } from './payer.ts';
import type { FeeRates } from './price.ts';
import type { Token } from './token.ts';
import type { Authorization, Requirements } from './wire.ts';
/** Who sells, and with what. */
export interface Seller {
    readonly merchant: Tapline;
    readonly account: string;
    /** A terminal from which no device picks up intents. */
    readonly terminal: string;
    readonly payer: Payer;
    readonly token: Token;
    /** The wallet that takes the client's money and pays the merchant. */
    readonly bridge: Address;
    readonly feeRates: () => FeeRates;
}
/** One signature, and what it was asked for. */
export interface Sale {
    readonly authorization: Authorization;
    readonly requirements: Requirements;
    /** Atoms that the merchant gets. */
    readonly price: number;
}
/** Where a sale is kept: its payment intent, which can be found again from the signature. */
export type Place = {
    readonly intent: PaymentIntent;
}
/** The signature was used for something else. */
 | {
    readonly taken: true;
};
export declare function keyOf({ from, nonce }: Authorization): string;
/**
 * The intent of this sale, made now or before. It is there before any money moves, so one signature
 * buys what it was first presented for, once, whatever process asks and whenever.
 */
export declare function openSale(seller: Seller, sale: Sale): Promise<Place>;
/** The intent of an earlier call, if there was one; nothing is made. */
export declare function findSale(seller: Seller, sale: Sale): Promise<PaymentIntent | null>;
