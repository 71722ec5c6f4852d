import { TaplineError } from './error.ts';
import type { WebhookEvent } from './types.ts';
export type { EventType, WebhookEvent } from './types.ts';
export { TaplineError };
/** The message is not from the service, or too old. Answer 400 and do nothing. */
export declare class WebhookVerificationError extends TaplineError {
}
/** `Headers`, or the `headers` of a Node request. */
export type WebhookHeaders = {
    get(name: string): string | null;
} | {
    readonly [name: string]: string | readonly string[] | undefined;
};
export interface VerifyOptions {
    /** How many seconds a message may be old. @default 300 */
    readonly tolerance?: number;
    /** The time, in seconds since 1970: for tests. */
    readonly now?: number;
}
/**
 * The event of a webhook, once its signature and age are proved: by `Service-Signature`, or where
 * that is missing by the headers of Standard Webhooks.
 * @param rawBody the bytes as they came, before any JSON parsing
 * @param secret the endpoint's `whsec_…`; several while you change endpoints. `undefined` is what
 *   a forgotten setting gives: the message is refused, and the error says so
 */
export declare function verify(rawBody: string | Uint8Array | ArrayBuffer, headers: WebhookHeaders, secret: string | readonly string[] | undefined, { tolerance, now }?: VerifyOptions): Promise<WebhookEvent>;
/** The `Service-Signature` of a message, as the service makes it: for tests of your receiver. */
export declare function sign(rawBody: string | Uint8Array | ArrayBuffer, secret: string, timestamp?: number): Promise<string>;
