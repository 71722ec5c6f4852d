import type { Taps } from './headless.ts';
import type { TwoCards } from './pcsc/readers.ts';
import type { Tap } from './protocols/tap.ts';
/** Hands each tap to the payment that waits. Without one, the tap is dropped and pays nothing. */
export declare class WaitingTaps implements Taps {
    #private;
    offer(tap: Tap | TwoCards): void;
    next(signal: AbortSignal): Promise<Tap | TwoCards>;
}
