import type { Taps } from './headless.ts';
import type { TwoCards } from './pcsc/readers.ts';
import type { Tap } from './protocols/tap.ts';
/** Hands each tap to whoever waits for one. A tap that nobody waits for pays nothing later. */
export declare class WaitingTaps implements Taps {
    #private;
    offer(tap: Tap | TwoCards): void;
    next(signal: AbortSignal): Promise<Tap | TwoCards>;
}
