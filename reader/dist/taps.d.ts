import type { Taps } from './headless.ts';
import type { TwoCards } from './pcsc/readers.ts';
import type { Tap, ToSign } from './protocols/tap.ts';
/** Hands each tap to the payment that waits. Without one, the tap is dropped and pays nothing. */
export declare class WaitingTaps implements Taps {
    #private;
    offer(tap: Tap | TwoCards): void;
    /** What a chip that is held there now signs. */
    toSign(publicKey: Uint8Array): Promise<Uint8Array | null>;
    next(signal: AbortSignal, toSign: ToSign): Promise<Tap | TwoCards>;
}
