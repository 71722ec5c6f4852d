import { Call } from './call.ts';
export interface ClientOptions {
    /**
     * Where the API is: it ends with `/api`.
     * @default TAPLINE_BASE_URL, or the sandbox for test keys: http://127.0.0.1:4242/api
     */
    readonly baseUrl?: string;
    /** Milliseconds that one try may take. @default 70000, because a refund waits for its block */
    readonly timeout?: number;
    /** How often a call is tried again, where that is safe. @default 3 */
    readonly maxRetries?: number;
    /** What sends the requests. @default the global `fetch` */
    readonly fetch?: typeof fetch;
}
/** What every call takes beside its parameters. */
export interface RequestOptions {
    /** Of a POST: the same key never does the same thing twice. @default a random one per call */
    readonly idempotencyKey?: string;
    readonly timeout?: number;
    readonly maxRetries?: number;
    readonly signal?: AbortSignal;
    /** The dated version of the API. @default that of this package's types */
    readonly version?: string;
}
/** A request as a method of a resource asks for it. */
export interface Asked {
    readonly method: string;
    /** Below `/v1`, with its ids. */
    readonly path: string;
    readonly query?: object | undefined;
    readonly body?: object | undefined;
    /** Whether the service keeps the answer under the key: a repetition then does nothing twice. */
    readonly keyed: boolean;
}
export interface Connection {
    readonly apiKey: string;
    readonly baseUrl: string;
    readonly options: ClientOptions;
    /** The one event stream that all waits of the client hear, while there are any. */
    watching: Watching | null;
}
/** What a wait wants to hear of. */
export interface Bell {
    readonly id: string;
    readonly ring: () => void;
}
export interface Watching {
    readonly bells: Set<Bell>;
    /** Whether events come: otherwise each wait has to ask. */
    readonly works: () => boolean;
    /** Resolves once no later change can be missed. */
    readonly begun: Promise<unknown>;
    readonly stop: () => void;
}
/** Starts a call. What is wrong with it rejects the promise, like everything else. */
export declare function ask<T>(to: Connection, asked: Asked | (() => Asked), options?: RequestOptions): Call<T>;
/** What every request carries. */
export declare function headersOf({ apiKey }: Connection): {
    Authorization: string;
    'User-Agent': string;
    'Service-Version': string;
};
export declare function queryOf(query: object | undefined): string;
/** Ends early when the signal is aborted, and is no error then. */
export declare function sleep(ms: number, signal?: AbortSignal): Promise<void>;
