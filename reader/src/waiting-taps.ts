import type { TwoCards } from './pcsc/readers.ts';
import type { Tap, ToSign } from './protocols/read-tap.ts';
import type { Taps } from './reader-without-screen.ts';

/**
 * Passes a tap to the payment that waits for one. If none does, the tap is dropped and pays
 * nothing.
 */
export class WaitingTaps implements Taps {
  #take: ((tap: Tap | TwoCards) => void) | null = null;
  #toSign: ToSign = async () => null;

  offer(tap: Tap | TwoCards): void {
    this.#take?.(tap);
    this.#take = null;
  }

  /**
   * Returns the digest that the chip held to the reader must sign, or `null` if no payment waits.
   */
  toSign(publicKey: Uint8Array): Promise<Uint8Array | null> {
    return this.#take === null ? Promise.resolve(null) : this.#toSign(publicKey);
  }

  next(signal: AbortSignal, toSign: ToSign): Promise<Tap | TwoCards> {
    return new Promise((resolve, reject) => {
      this.#take = resolve;
      this.#toSign = toSign;
      signal.addEventListener('abort', () => {
        if (this.#take === resolve) this.#take = null;
        reject(signal.reason);
      });
    });
  }
}
