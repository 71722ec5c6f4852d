/** Hands each tap to whoever waits for one. A tap that nobody waits for pays nothing later. */
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
