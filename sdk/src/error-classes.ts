import { type ErrorDetails, TaplineError } from './base-error.ts';

/** The request was invalid, or the object's state does not allow it. */
export class InvalidRequestError extends TaplineError {}
/**
 * The Idempotency-Key was used for a different request, or its first request is still in progress.
 */
export class IdempotencyError extends TaplineError {}
/** The API key is missing, invalid, expired or revoked. */
export class AuthenticationError extends TaplineError {}
/** The API key lacks the permission. */
export class PermissionError extends TaplineError {}
/** Too many requests. The client has already waited and retried. */
export class RateLimitError extends TaplineError {}
/**
 * The service failed. A call that moves money did nothing, because it otherwise throws an
 * `OutcomeUnknownError`. Any other change may have taken effect.
 */
export class ApiError extends TaplineError {}
/**
 * There was no response. A call that changes something may have taken effect, so check before you
 * repeat it. (Calls that move money throw an `OutcomeUnknownError` instead.)
 */
export class ConnectionError extends TaplineError {}
/** The arguments were invalid; nothing was sent. */
export class UsageError extends TaplineError {}
/** The time-out of `waitFor` has passed. The object may still change. */
export class WaitTimeoutError extends TaplineError {}

/**
 * The request was sent and its result is unknown: the money may have moved or not. Call
 * `resolve()`, or repeat the same call with this `idempotencyKey`, which is always safe. Never
 * repeat it with another key.
 */
export class OutcomeUnknownError<T = unknown> extends TaplineError {
  readonly idempotencyKey: string;
  /**
   * Finds out the result of the request.
   * @returns the object that the call would have returned, in its current state
   * @throws the service's refusal if it refused the request, or this error again while the result
   * is unknown
   */
  readonly resolve: () => Promise<T>;

  constructor({
    why,
    details,
    idempotencyKey,
    resolve,
  }: {
    readonly idempotencyKey: string;
    readonly why: string;
    readonly resolve: () => Promise<T>;
    readonly details: ErrorDetails;
  }) {
    super(
      `${why} The result is unknown: call resolve(), or repeat the same call with the ` +
        `same idempotencyKey. Never repeat it with another key.`,
      { ...details, code: details.code ?? 'outcome_unknown' },
    );
    this.idempotencyKey = idempotencyKey;
    this.resolve = resolve;
  }
}

type ErrorClass = new (message: string, details: ErrorDetails) => TaplineError;

const CLASSES: Readonly<Record<string, ErrorClass>> = {
  invalid_request_error: InvalidRequestError,
  idempotency_error: IdempotencyError,
  authentication_error: AuthenticationError,
  permission_error: PermissionError,
  rate_limit_error: RateLimitError,
  api_error: ApiError,
};

/** Converts a response to an error, even if a proxy sent it and not the service. */
export function errorOf(response: Response, body: unknown): TaplineError {
  const { status, headers } = response;
  const { error } = (body ?? {}) as { error?: Record<string, string | null> };
  if (typeof error?.type !== 'string') {
    const hint = 'Check baseUrl: it must end with /api.';
    return new TaplineError(`The response (${status}) is not from a Tapline API. ${hint}`, {
      status,
    });
  }
  const kind = CLASSES[error.type] ?? TaplineError;
  return new kind(error.message ?? error.type, {
    status,
    type: error.type,
    code: error.code ?? null,
    param: error.param ?? null,
    requestId: error.request_id ?? headers.get('Request-Id'),
    docUrl: error.doc_url ?? null,
  });
}
