import type { ReaderEvent } from './pcsc/readers.ts';
import { type ProveCollector } from './protocols/collector.ts';
/**
 * The reader of a till that runs in a browser of the same machine. The till's page connects to a
 * port of this machine and is told what the reader sees; what becomes of a tap is its business.
 *
 * Only pages of the network that it was paired with are let in, only with the code that the till
 * shows or with the token that this code was changed into, and only one at a time: the newest.
 */
export interface TillFeed {
    readonly port: number;
    /** Tells the till, if one is connected. A tap without a till is dropped: it pays nothing. */
    tell(event: ReaderEvent): void;
    /** Asks the till what a chip with this key signs. null: nothing, or no till answers in time. */
    toSign(publicKey: Uint8Array): Promise<Uint8Array | null>;
    /** Asks the till to have a tap of a phone signed by its network. */
    readonly proveCollector: ProveCollector;
    close(): Promise<void>;
}
export interface TillFeedOptions {
    /** 0: one that is free. */
    readonly port: number;
    /** `https://pay.example.com`: the network's pages. */
    readonly origin: string;
    /** The code that the till shows, which is good once; null: it was used. */
    readonly code: string | null;
    /** The hash of the token that the till got for its code, in hex; null: it has none yet. */
    readonly tokenHash: string | null;
    /** A till has used the code. What it gets from now on has to be kept first. */
    readonly onPaired: (tokenHash: string) => Promise<void>;
    readonly onTill: (isThere: boolean) => void;
}
/** How the page learns why it was let go; the numbers are free for programs to use. */
export declare const CLOSED: {
    readonly refused: 4401;
    readonly replaced: 4409;
    readonly tooOften: 4429;
};
export declare function hashOf(token: string): string;
export declare function openTillFeed(options: TillFeedOptions): Promise<TillFeed>;
