export class Call extends Promise {
    #answered;
    constructor(answered) {
        super((resolve, reject) => {
            answered.then(({ data }) => resolve(data), reject);
        });
        this.#answered = answered;
    }
    static get [Symbol.species]() {
        return Promise;
    }
    withResponse() {
        this.catch(() => { });
        return this.#answered;
    }
}
