import { type ErrorDetails, TaplineError } from './error.ts';
/** The request was wrong, or the object is in a state that does not allow it. */
export declare class InvalidRequestError extends TaplineError {
}
/** The Idempotency-Key was used for another request, or its first request still runs. */
export declare class IdempotencyError extends TaplineError {
}
/** The API key is missing, wrong, expired or revoked. */
export declare class AuthenticationError extends TaplineError {
}
/** The API key may not do this. */
export declare class PermissionError extends TaplineError {
}
/** Too many requests; the client has already waited and tried again. */
export declare class RateLimitError extends TaplineError {
}
/** The service failed, and said so before it did anything. */
export declare class ApiError extends TaplineError {
}
/**
 * No answer came. Where the call changes something, it may have done so: look before you repeat it.
 * (Calls that move money end in an `OutcomeUnknownError` instead.)
 */
export declare class ConnectionError extends TaplineError {
}
/** The call could not have worked: nothing was sent. */
export declare class UsageError extends TaplineError {
}
/** The time given to `waitFor` is over. The object may still change. */
export declare class WaitTimeoutError extends TaplineError {
}
/**
 * The request was sent and its outcome is not known: the money may have moved or not. Ask with
 * `resolve()`, or send the same call again with this `idempotencyKey`, which is always safe. Never
 * send it with another key.
 */
export declare class OutcomeUnknownError<T = unknown> extends TaplineError {
    readonly idempotencyKey: string;
    /**
     * Asks the service what became of the request.
     * @returns the object that the call would have returned, as it is now
     * @throws the refusal, if the service refused the request; this error again while nobody knows
     */
    readonly resolve: () => Promise<T>;
    constructor({ why, details, idempotencyKey, resolve, }: {
        readonly idempotencyKey: string;
        readonly why: string;
        readonly resolve: () => Promise<T>;
        readonly details: ErrorDetails;
    });
}
/** The error that an answer carries; an answer that is not from the service says that. */
export declare function errorOf(response: Response, body: unknown): TaplineError;
