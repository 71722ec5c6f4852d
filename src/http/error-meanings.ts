import type { ErrorCode } from '#core/error-codes.ts';

/** The meaning and remedy of each code, for the reference. A missing code does not compile. */
export const ERROR_MEANINGS: Readonly<Record<ErrorCode, string>> = {
  parameter_missing: 'A required parameter is missing; `param` names it.',
  parameter_invalid: 'A parameter has a value that is not allowed; `param` names it.',
  parameter_unknown: 'The request contains an unknown parameter; `param` names it.',
  cursor_invalid: 'The cursor belongs to another list, other filters, or was changed.',
  api_version_invalid: 'There is no such `Service-Version`.',
  body_invalid: 'The body is not a JSON object in UTF-8, or the request is not well-formed HTTP.',
  amount_too_large: 'The refund exceeds what is left of the payment.',
  url_not_allowed: 'The webhook URL breaks a rule for endpoint URLs.',
  endpoint_limit_reached: 'The mode already has the maximum number of webhook endpoints.',
  signature_invalid: 'The wallet did not sign the requested message.',
  wallet_not_deployed: 'The wallet is a contract that has not been deployed yet.',
  payouts_held:
    'Part of the balance was settled with a network key that was used outside the service. ' +
    'It is on hold until the operators decide; the rest can be withdrawn.',
  not_configured: 'The operator of this network has not set this up.',
  idempotency_key_required: 'This request needs an `Idempotency-Key` header.',
  idempotency_key_invalid: 'The `Idempotency-Key` is not 1 to 255 printable ASCII characters.',
  api_key_missing: 'There is no `Authorization` header.',
  api_key_invalid: 'This is not a valid key for this API.',
  api_key_expired: 'The key has expired.',
  api_key_revoked: 'The key was revoked.',
  session_missing: 'The request has no signed-in session.',
  sign_in_failed: 'The sign-in details are incorrect.',
  scope_missing: 'The key lacks the scope that this operation requires.',
  ip_not_allowed: "The request's IP address is not on the key's allowlist.",
  account_disabled: 'The network operator has disabled the account.',
  kyb_required: 'Live mode requires an approved business verification.',
  role_missing: 'The role of the signed-in person does not allow this.',
  csrf_token_invalid: 'The request does not come from the web app that the person signed in to.',
  second_factor_required: 'Verify a second factor first.',
  second_factor_too_new:
    'The second factor was set up with the password alone. It is trusted after 72 hours, or ' +
    'once it is confirmed from the email about it.',
  manager_required:
    'This till, or the signed-in person, may not make this refund or give this discount, and the ' +
    '`manager` or `manager_code` of the request does not allow it. Send the id and PIN of a ' +
    'manager.',
  pin_invalid: 'No one in this account has this id and PIN. Wrong PINs are counted.',
  offline_not_allowed:
    'The terminal has no limits for offline sales, is inactive, or the operator does not allow ' +
    'them. The sales stay at the terminal.',
  resource_missing: 'There is no such object in this account and mode.',
  route_missing: 'There is no such path.',
  method_not_allowed: 'The path does not take this method; `Allow` lists those that it takes.',
  body_too_large: 'The body is larger than 64 KiB.',
  content_type_unsupported: 'The body was not sent as `application/json`.',
  idempotency_key_reused:
    'The key was already used with a different method, path or body. Nothing was done. Use ' +
    'a new key for a new request.',
  idempotency_request_in_progress:
    'The first request with this key is still running. Nothing was done twice. Send the request ' +
    'again later with the same key.',
  account_not_live: 'The account has not gone live on the network of this mode.',
  payment_intent_unexpected_state: 'The status of the payment intent does not allow this.',
  order_id_in_use: 'Another payment intent of this account and mode has this `order_id`.',
  terminal_inactive: 'The terminal is inactive.',
  already_exists: 'An object like this already exists.',
  unexpected_state: 'The state of the object does not allow this.',
  version_conflict: 'The object has changed since it was read.',
  payment_already_refunded: 'The payment has nothing left to refund.',
  rate_limit_exceeded: 'Too many requests. Wait the number of seconds in `Retry-After`.',
  internal_error: 'An internal error occurred. Retry with the same `Idempotency-Key`.',
  request_timeout:
    'The request timed out, but may still complete. Retry with the same `Idempotency-Key`, ' +
    'or read the object.',
  service_unavailable: 'The database or the chain cannot be reached. Nothing was done. Retry.',
  rates_unavailable:
    'There is no usable exchange rate for the currency of `presentment` right now. ' +
    'Retry the same request with the same `Idempotency-Key`.',
};
