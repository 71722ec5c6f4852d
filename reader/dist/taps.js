/** Hands each tap to the payment that waits. Without one, the tap is dropped and pays nothing. */
export class WaitingTaps {
    #take = null;
    offer(tap) {
        this.#take?.(tap);
        this.#take = null;
    }
    next(signal) {
        return new Promise((resolve, reject) => {
            this.#take = resolve;
            signal.addEventListener('abort', () => {
                if (this.#take === resolve)
                    this.#take = null;
                reject(signal.reason);
            });
        });
    }
}
