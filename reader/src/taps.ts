import type { Taps } from './headless.ts';
import type { TwoCards } from './pcsc/readers.ts';
import type { Tap } from './protocols/tap.ts';

/** Hands each tap to the payment that waits. Without one, the tap is dropped and pays nothing. */
export class WaitingTaps implements Taps {
  #take: ((tap: Tap | TwoCards) => void) | null = null;

  offer(tap: Tap | TwoCards): void {
    this.#take?.(tap);
    this.#take = null;
  }

  next(signal: AbortSignal): Promise<Tap | TwoCards> {
    return new Promise((resolve, reject) => {
      this.#take = resolve;
      signal.addEventListener('abort', () => {
        if (this.#take === resolve) this.#take = null;
        reject(signal.reason);
      });
    });
  }
}
