import { type SpendingLimits } from './payer.ts';
import { type Requirements, type Settled, type Verified } from './wire.ts';
export interface FacilitatorOptions {
    /** The API of the network: it ends with `/api`. */
    readonly baseUrl: string;
    /** A key of the merchant, with `payments:read` and `payments:write`. */
    readonly apiKey: string;
    /** The merchant: `acct_…`. */
    readonly account: string;
    /** A terminal from which no device picks up intents. */
    readonly terminal: string;
    /** The bridge wallet's. It holds clients' money for a second, and pays gas for taking it. */
    readonly privateKey: string;
    /** A node of the chain. */
    readonly rpcUrl: string;
    /** What the bridge may pay for sales; signed at the start where less is allowed. Atoms. */
    readonly limits: SpendingLimits;
    /** Milliseconds that a settlement may take before its answer is "pending". @default 25000 */
    readonly waitMs?: number;
    /** Milliseconds between two searches for money that has to go back. @default 60000 */
    readonly sweepMs?: number;
    /** What went wrong beside an answer. @default written to the standard error */
    readonly onError?: (error: unknown) => void;
}
/** Takes payments of x402 clients for one merchant. */
export interface Facilitator {
    readonly bridge: string;
    /** What a client has to be asked for, so that the merchant gets `price` atoms. */
    requirements(offer: {
        readonly price: number;
        readonly resource: string;
    }): Requirements;
    verify(payload: unknown, requirements: unknown): Promise<Verified>;
    /** The same call gives the same answer; "pending" is to be asked again, never signed again. */
    settle(payload: unknown, requirements: unknown): Promise<Settled>;
    supported(): object;
    /** Gives back what belongs to sales that ended unpaid. Also done now and then by itself. */
    sweep(): Promise<string[]>;
    close(): void;
}
export declare function openFacilitator(options: FacilitatorOptions): Promise<Facilitator>;
