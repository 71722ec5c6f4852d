import { type Address, type Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Authorization } from './wire.ts';
export interface TokenFacts {
    readonly rpcUrl: string;
    readonly chainId: number;
    readonly usdc: Address;
    /** The token's own, which may change while the facilitator runs. */
    readonly domain: {
        name: string;
        version: string;
    };
}
/** What the chain made of a transfer: `sent` is under way, and nobody knows yet. */
export type Transfer = {
    readonly status: 'done';
    readonly hash: Hex | null;
} | {
    readonly status: 'sent';
    readonly hash: Hex | null;
} | {
    readonly status: 'refused';
    readonly reason: string;
};
/** What the token knows an authorization by. */
type Named = Pick<Authorization, 'from' | 'nonce'>;
/** USDC as the bridge wallet uses it. Its nonces guard every transfer: none can happen twice. */
export interface Token {
    readonly facts: TokenFacts;
    balanceOf(account: Address): Promise<bigint>;
    isUsed(authorization: Named): Promise<boolean>;
    /** Whether this process has sent it and not seen it in a block. */
    isUnderWay(authorization: Named): boolean;
    isSignedBy(authorization: Authorization): Promise<boolean>;
    /** Has the transfer made, or waits for the one that is under way, for at most `waitMs`. */
    transfer(authorization: Authorization, waitMs: number): Promise<Transfer>;
    /** What made the transfer; null where it is too long ago to be found. */
    findTransfer(authorization: Named): Promise<Hex | null>;
    /** The bridge's own authorization that gives the money of another one back, always the same. */
    giveBack(authorization: Authorization): Promise<Authorization>;
}
export declare function openToken(facts: TokenFacts, account: PrivateKeyAccount): Token;
export {};
