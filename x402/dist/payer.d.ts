import { type Address } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { FeeRates } from './price.ts';
/** The bridge wallet at the payer API: an ordinary payer, who signs in with the key of a wallet. */
export interface Payer {
    wallet(): Promise<Wallet>;
    /** A token that pays `account` exactly `amount`, once. */
    createAgentToken(token: {
        readonly account: string;
        readonly amount: number;
    }): Promise<string>;
    /** Lets the settlement contract take USDC for sales up to these limits. */
    approve(limits: SpendingLimits): Promise<void>;
}
/** Atoms of sales, fees not counted. */
export interface SpendingLimits {
    readonly perPayment: number;
    readonly perDay: number;
}
export interface Network {
    readonly livemode: boolean;
    readonly chain_id: number;
    readonly usdc: Address;
    readonly usdc_domain: {
        name: string;
        version: string;
    };
    readonly settlement: Address;
}
export interface Wallet extends Network {
    readonly balance: number;
    readonly allowance: number;
    readonly policy: {
        readonly per_payment: number;
        readonly per_period: number;
        readonly expires_at: string;
    } | null;
    readonly fee_rates: FeeRates;
    readonly nonces: {
        readonly permit: number;
        readonly policy: number;
    };
}
/** A refusal of the payer API. */
export declare class PayerError extends Error {
    readonly name = "PayerError";
    readonly status: number;
    constructor(message: string, status: number);
}
/** The network of the mode; the chain and its contracts follow from it. */
export declare function findNetwork(baseUrl: string, livemode: boolean): Promise<Network>;
export declare function openPayer(baseUrl: string, account: PrivateKeyAccount, network: Network): Payer;
