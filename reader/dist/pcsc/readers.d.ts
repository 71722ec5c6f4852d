import { type Transceive } from '../protocols/apdu.ts';
import { type Tap, type ToSign, type Wallets } from '../protocols/tap.ts';
/** What a reader is doing. A program shows it, or acts on it. */
export type ReaderEvent = CardEvent<Tap>;
/** The same for any conversation with a card, which ends in a `T`. */
export type CardEvent<T> = 
/** No reader is plugged in, or the PC/SC service is not running. Waits for one. */
{
    readonly status: 'no_reader';
} | {
    readonly status: 'ready';
    readonly readers: readonly string[];
} | {
    readonly status: 'tapped';
    readonly reader: string;
    readonly tap: T | TwoCards | Gone;
};
/** The reader sees cards but cannot speak to one of them. */
export interface TwoCards {
    readonly status: 'two_cards';
}
interface Gone {
    readonly status: 'gone';
}
export interface ReadersOptions {
    readonly socket: string;
    readonly wallets: () => Wallets;
    /** What a chip is asked to sign; left out: chips that sign cannot pay here. */
    readonly toSign?: ToSign;
    readonly onEvent: (event: ReaderEvent) => void;
    readonly signal: AbortSignal;
}
/** Reads every card on every reader, once for each time that it comes, until `signal` ends it. */
export declare function watchReaders({ wallets, toSign, ...options }: ReadersOptions): Promise<void>;
export interface CardsOptions<T> extends Pick<ReadersOptions, 'socket' | 'signal'> {
    readonly converse: (card: Transceive) => Promise<T>;
    readonly onEvent: (event: CardEvent<T>) => void;
}
/** Speaks to every card on every reader, once for each time that it comes. */
export declare function watchCards<T>(options: CardsOptions<T>): Promise<void>;
export {};
