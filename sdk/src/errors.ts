import { type ErrorDetails, TaplineError } from './error.ts';

/** The request was wrong, or the object is in a state that does not allow it. */
export class InvalidRequestError extends TaplineError {}
/** The Idempotency-Key was used for another request, or its first request still runs. */
export class IdempotencyError extends TaplineError {}
/** The API key is missing, wrong, expired or revoked. */
export class AuthenticationError extends TaplineError {}
/** The API key may not do this. */
export class PermissionError extends TaplineError {}
/** Too many requests; the client has already waited and tried again. */
export class RateLimitError extends TaplineError {}
/** The service failed, and said so before it did anything. */
export class ApiError extends TaplineError {}
/**
 * No answer came. Where the call changes something, it may have done so: look before you repeat it.
 * (Calls that move money end in an `OutcomeUnknownError` instead.)
 */
export class ConnectionError extends TaplineError {}
/** The call could not have worked: nothing was sent. */
export class UsageError extends TaplineError {}
/** The time given to `waitFor` is over. The object may still change. */
export class WaitTimeoutError extends TaplineError {}

/**
 * The request was sent and its outcome is not known: the money may have moved or not. Ask with
 * `resolve()`, or send the same call again with this `idempotencyKey`, which is always safe. Never
 * send it with another key.
 */
export class OutcomeUnknownError<T = unknown> extends TaplineError {
  readonly idempotencyKey: string;
  /**
   * Asks the service what became of the request.
   * @returns the object that the call would have returned, as it is now
   * @throws the refusal, if the service refused the request; this error again while nobody knows
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
      `${why} The outcome is not known: ask with resolve(), or send the same call with the ` +
        `same idempotencyKey again. Never send it with another key.`,
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

/** The error that an answer carries; an answer that is not from the service says that. */
export function errorOf(response: Response, body: unknown): TaplineError {
  const { status, headers } = response;
  const { error } = (body ?? {}) as { error?: Record<string, string | null> };
  if (typeof error?.type !== 'string') {
    const hint = 'Check baseUrl: it ends with /api.';
    return new TaplineError(`The answer (${status}) is not from a Tapline API. ${hint}`, {
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
