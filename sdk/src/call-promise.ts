/** The result of a call, with the response that carried it. */
export interface Answered<T> {
  readonly data: T;
  /** The response. Its body has been read, and `data` is the parsed body. */
  readonly response: Response;
  /** Include it in support requests. */
  readonly requestId: string | null;
  /** The idempotency key that was sent with a POST. */
  readonly idempotencyKey: string | null;
}

/** The promise of a call. It resolves to the data; `withResponse()` also gives the response. */
export class Call<T> extends Promise<T> {
  readonly #answered: Promise<Answered<T>>;

  constructor(answered: Promise<Answered<T>>) {
    super((resolve, reject) => {
      answered.then(({ data }) => resolve(data), reject);
    });
    this.#answered = answered;
  }

  /** `then` on a call returns a plain promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  withResponse(): Promise<Answered<T>> {
    // Prevents a report of an unhandled rejection, because the caller may await this promise later.
    this.catch(() => {});
    return this.#answered;
  }
}
