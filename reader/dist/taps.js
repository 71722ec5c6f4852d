/** Hands each tap to the payment that waits. Without one, the tap is dropped and pays nothing. */
export class WaitingTaps {
    #take = null;
    #toSign = async () => null;
    offer(tap) {
        this.#take?.(tap);
        this.#take = null;
    }
    /** What a chip that is held there now signs. */
    toSign(publicKey) {
        return this.#take === null ? Promise.resolve(null) : this.#toSign(publicKey);
    }
    next(signal, toSign) {
        return new Promise((resolve, reject) => {
            this.#take = resolve;
            this.#toSign = toSign;
            signal.addEventListener('abort', () => {
                if (this.#take === resolve)
                    this.#take = null;
                reject(signal.reason);
            });
        });
    }
}
