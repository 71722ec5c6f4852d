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
export declare class Call<T> extends Promise<T> {
    #private;
    constructor(answered: Promise<Answered<T>>);
    /** What `then` makes of a call is a plain promise. */
    static get [Symbol.species](): PromiseConstructor;
    withResponse(): Promise<Answered<T>>;
}
