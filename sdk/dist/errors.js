import { TaplineError } from './error.js';
export class InvalidRequestError extends TaplineError {
}
export class IdempotencyError extends TaplineError {
}
export class AuthenticationError extends TaplineError {
}
export class PermissionError extends TaplineError {
}
export class RateLimitError extends TaplineError {
}
export class ApiError extends TaplineError {
}
export class ConnectionError extends TaplineError {
}
export class UsageError extends TaplineError {
}
export class WaitTimeoutError extends TaplineError {
}
export class OutcomeUnknownError extends TaplineError {
    idempotencyKey;
    resolve;
    constructor({ why, details, idempotencyKey, resolve, }) {
        super(`${why} The outcome is not known: ask with resolve(), or send the same call with the ` +
            `same idempotencyKey again. Never send it with another key.`, { ...details, code: details.code ?? 'outcome_unknown' });
        this.idempotencyKey = idempotencyKey;
        this.resolve = resolve;
    }
}
const CLASSES = {
    invalid_request_error: InvalidRequestError,
    idempotency_error: IdempotencyError,
    authentication_error: AuthenticationError,
    permission_error: PermissionError,
    rate_limit_error: RateLimitError,
    api_error: ApiError,
};
export function errorOf(response, body) {
    const { status, headers } = response;
    const { error } = (body ?? {});
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
