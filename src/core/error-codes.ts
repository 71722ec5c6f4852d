/**
 * The error codes of behavior.md 2.10, each with its status and type. Using a code that is missing
 * here does not compile.
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
  pin_invalid: [403, 'permission_error'],
  offline_not_allowed: [403, 'permission_error'],
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
  rates_unavailable: [503, 'api_error'],
} as const satisfies Record<string, readonly [status: number, type: string]>;

export type ErrorCode = keyof typeof ERROR_CODES;

export function statusOf(code: ErrorCode): number {
  return ERROR_CODES[code][0];
}
