/** What a request ends with: an answer, or a refusal that becomes one. */

/**
 * The error codes of behavior.md 2.10: one table from code to status and type. A code that
 * is missing here does not compile.
 */
export const ERROR_CODES = {
  parameter_missing: [400, 'invalid_request_error'],
  parameter_invalid: [400, 'invalid_request_error'],
  parameter_unknown: [400, 'invalid_request_error'],
  cursor_invalid: [400, 'invalid_request_error'],
  api_version_invalid: [400, 'invalid_request_error'],
  body_invalid: [400, 'invalid_request_error'],
  amount_too_large: [400, 'invalid_request_error'],
  url_not_allowed: [400, 'invalid_request_error'],
  endpoint_limit_reached: [400, 'invalid_request_error'],
  signature_invalid: [400, 'invalid_request_error'],
  wallet_not_deployed: [400, 'invalid_request_error'],
  idempotency_key_required: [400, 'idempotency_error'],
  idempotency_key_invalid: [400, 'idempotency_error'],
  api_key_missing: [401, 'authentication_error'],
  api_key_invalid: [401, 'authentication_error'],
  api_key_expired: [401, 'authentication_error'],
  api_key_revoked: [401, 'authentication_error'],
  session_missing: [401, 'authentication_error'],
  sign_in_failed: [401, 'authentication_error'],
  scope_missing: [403, 'permission_error'],
  ip_not_allowed: [403, 'permission_error'],
  account_disabled: [403, 'permission_error'],
  kyb_required: [403, 'permission_error'],
  role_missing: [403, 'permission_error'],
  csrf_token_invalid: [403, 'permission_error'],
  second_factor_required: [403, 'permission_error'],
  second_factor_too_new: [403, 'permission_error'],
  manager_required: [403, 'permission_error'],
  resource_missing: [404, 'invalid_request_error'],
  route_missing: [404, 'invalid_request_error'],
  method_not_allowed: [405, 'invalid_request_error'],
  body_too_large: [413, 'invalid_request_error'],
  content_type_unsupported: [415, 'invalid_request_error'],
  idempotency_key_reused: [409, 'idempotency_error'],
  idempotency_request_in_progress: [409, 'idempotency_error'],
  account_not_live: [409, 'invalid_request_error'],
  payment_intent_unexpected_state: [409, 'invalid_request_error'],
  order_id_in_use: [409, 'invalid_request_error'],
  terminal_inactive: [409, 'invalid_request_error'],
  already_exists: [409, 'invalid_request_error'],
  unexpected_state: [409, 'invalid_request_error'],
  not_configured: [409, 'invalid_request_error'],
  payouts_held: [409, 'invalid_request_error'],
  version_conflict: [409, 'invalid_request_error'],
  payment_already_refunded: [409, 'invalid_request_error'],
  rate_limit_exceeded: [429, 'rate_limit_error'],
  internal_error: [500, 'api_error'],
  request_timeout: [503, 'api_error'],
  service_unavailable: [503, 'api_error'],
} as const satisfies Record<string, readonly [status: number, type: string]>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** An expected "no": a value, never thrown. `param` names the parameter it is about. */
export interface Refusal {
  readonly refused: true;
  readonly code: ErrorCode;
  /** What was wrong, what is allowed, what to do next. Never echoes a secret. */
  readonly message: string;
  readonly param: string | null;
  /** Extra response headers, such as `Allow` and `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export function refuse(code: ErrorCode, message: string, param: string | null = null): Refusal {
  return { refused: true, code, message, param };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refused' in value;
}

export function statusOf(code: ErrorCode): number {
  return ERROR_CODES[code][0];
}

/** Object missing, or another account's or mode's: nobody can tell which (behavior.md 2.5). */
export function resourceMissing(what: string, param: string | null = 'id'): Refusal {
  return refuse('resource_missing', `No such ${what} for this key's account and mode.`, param);
}

/** A response as it is sent, stored and replayed: status, exact body, extra headers. */
export interface Answer {
  readonly status: number;
  /** The JSON text. */
  readonly body: string;
  readonly headers?: ResponseHeaders;
}

/** Several values of one name (Set-Cookie) are sent as several headers. */
export type ResponseHeaders = Readonly<Record<string, string | string[]>>;

export function answerWith(status: number, object: object): Answer {
  return { status, body: JSON.stringify(object) };
}

/** Where a service on one machine is reached when nothing else is said. */
export const DEFAULT_WEB_URL = 'http://127.0.0.1:4242';

/** The request that an error body answers. */
export interface Asked {
  readonly requestId: string;
  /** Where the service's documentation is: the root of `doc_url`. */
  readonly docsUrl: string;
}

/** The error body of behavior.md 2.3. */
export function answerRefusal(refusal: Refusal, { requestId, docsUrl }: Asked): Answer {
  const error = {
    type: ERROR_CODES[refusal.code][1],
    code: refusal.code,
    message: refusal.message,
    param: refusal.param,
    request_id: requestId,
    doc_url: `${docsUrl}/docs/errors#${refusal.code}`,
  };
  const answer = { status: statusOf(refusal.code), body: JSON.stringify({ error }) };
  return refusal.headers === undefined ? answer : { ...answer, headers: refusal.headers };
}
