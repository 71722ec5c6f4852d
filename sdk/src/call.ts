/** What a call answered, with the response that carried it. */
export interface Answered<T> {
  readonly data: T;
  /** Its body is used up: `data` is what it said. */
  readonly response: Response;
  /** Quote it when you ask for help. */
  readonly requestId: string | null;
  /** The key that was sent with a POST. */
  readonly idempotencyKey: string | null;
}

/** The promise of a call: its data when awaited, or the whole answer by `withResponse()`. */
export class Call<T> extends Promise<T> {
  readonly #answered: Promise<Answered<T>>;

  constructor(answered: Promise<Answered<T>>) {
    super((resolve, reject) => {
      answered.then(({ data }) => resolve(data), reject);
    });
    this.#answered = answered;
  }

  /** What `then` makes of a call is a plain promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  withResponse(): Promise<Answered<T>> {
    // The code that awaits the answer gets its error too, so it must not be reported a second time.
    this.catch(() => {});
    return this.#answered;
  }
}
