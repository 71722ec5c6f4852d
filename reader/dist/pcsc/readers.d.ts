import { type Tap, type Wallets } from '../protocols/tap.ts';
/** What a reader is doing. A program shows it, or acts on it. */
export type ReaderEvent = 
/** No reader is plugged in, or the PC/SC service is not running. Waits for one. */
{
    readonly status: 'no_reader';
} | {
    readonly status: 'ready';
    readonly readers: readonly string[];
} | {
    readonly status: 'tapped';
    readonly reader: string;
    readonly tap: Tap | TwoCards;
};
/** The reader sees cards but cannot speak to one of them. */
export interface TwoCards {
    readonly status: 'two_cards';
}
export interface ReadersOptions {
    readonly socket: string;
    readonly wallets: () => Wallets;
    readonly onEvent: (event: ReaderEvent) => void;
    readonly signal: AbortSignal;
}
/** Reads every card on every reader, once for each time that it comes, until `signal` ends it. */
export declare function watchReaders(options: ReadersOptions): Promise<void>;
