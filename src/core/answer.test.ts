import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRefusal, isRefusal, refuse, resourceMissing } from '#core/answer.ts';
import { ERROR_CODES, type ErrorCode, statusOf } from '#core/error-codes.ts';

/**
 * The error codes of the public contract, repeated here on purpose: changing them breaks clients.
 */
const PUBLISHED: readonly (readonly [number, string, string])[] = [
  [400, 'invalid_request_error', 'parameter_missing'],
  [400, 'invalid_request_error', 'parameter_invalid'],
  [400, 'invalid_request_error', 'parameter_unknown'],
  [400, 'invalid_request_error', 'cursor_invalid'],
  [400, 'invalid_request_error', 'api_version_invalid'],
  [400, 'invalid_request_error', 'body_invalid'],
  [400, 'invalid_request_error', 'amount_too_large'],
  [400, 'invalid_request_error', 'url_not_allowed'],
  [400, 'invalid_request_error', 'endpoint_limit_reached'],
  [400, 'idempotency_error', 'idempotency_key_required'],
  [400, 'idempotency_error', 'idempotency_key_invalid'],
  [401, 'authentication_error', 'api_key_missing'],
  [401, 'authentication_error', 'api_key_invalid'],
  [401, 'authentication_error', 'api_key_expired'],
  [401, 'authentication_error', 'api_key_revoked'],
  [403, 'permission_error', 'scope_missing'],
  [403, 'permission_error', 'ip_not_allowed'],
  [403, 'permission_error', 'account_disabled'],
  [403, 'permission_error', 'kyb_required'],
  [404, 'invalid_request_error', 'resource_missing'],
  [404, 'invalid_request_error', 'route_missing'],
  [405, 'invalid_request_error', 'method_not_allowed'],
  [413, 'invalid_request_error', 'body_too_large'],
  [415, 'invalid_request_error', 'content_type_unsupported'],
  [409, 'idempotency_error', 'idempotency_key_reused'],
  [409, 'idempotency_error', 'idempotency_request_in_progress'],
  [409, 'invalid_request_error', 'account_not_live'],
  [409, 'invalid_request_error', 'payment_intent_unexpected_state'],
  [409, 'invalid_request_error', 'order_id_in_use'],
  [409, 'invalid_request_error', 'terminal_inactive'],
  [409, 'invalid_request_error', 'payment_already_refunded'],
  [429, 'rate_limit_error', 'rate_limit_exceeded'],
  [500, 'api_error', 'internal_error'],
  [503, 'api_error', 'request_timeout'],
  [503, 'api_error', 'service_unavailable'],
];

const TYPE_OF_STATUS: Readonly<Record<number, readonly string[]>> = {
  400: ['invalid_request_error', 'idempotency_error'],
  401: ['authentication_error'],
  403: ['permission_error'],
  404: ['invalid_request_error'],
  405: ['invalid_request_error'],
  409: ['invalid_request_error', 'idempotency_error'],
  413: ['invalid_request_error'],
  415: ['invalid_request_error'],
  429: ['rate_limit_error'],
  500: ['api_error'],
  503: ['api_error'],
};

test('every published code has its published status and type', () => {
  for (const [status, type, code] of PUBLISHED) {
    assert.deepEqual(ERROR_CODES[code as ErrorCode], [status, type], code);
  }
});

test('codes of the dashboard use the types that belong to their status', () => {
  for (const [code, [status, type]] of Object.entries(ERROR_CODES)) {
    assert.ok(TYPE_OF_STATUS[status]?.includes(type), `${code}: ${status} ${type}`);
  }
});

test('an error body has the six published fields and nothing else', () => {
  const refusal = refuse('parameter_invalid', 'amount must be an integer.', 'amount');
  const answer = answerRefusal(refusal, { requestId: 'req_1', docsUrl: 'https://pay.example' });
  assert.equal(answer.status, 400);
  assert.equal(answer.headers, undefined);
  assert.deepEqual(JSON.parse(answer.body), {
    error: {
      type: 'invalid_request_error',
      code: 'parameter_invalid',
      message: 'amount must be an integer.',
      param: 'amount',
      request_id: 'req_1',
      doc_url: 'https://pay.example/docs/errors#parameter_invalid',
    },
  });
});

test('a refusal without a parameter says null, and keeps its headers', () => {
  const refusal = {
    ...refuse('rate_limit_exceeded', 'Slow down.'),
    headers: { 'Retry-After': '1' },
  };
  const answer = answerRefusal(refusal, { requestId: 'req_1', docsUrl: 'https://pay.example' });
  assert.equal(JSON.parse(answer.body).error.param, null);
  assert.deepEqual(answer.headers, { 'Retry-After': '1' });
});

test('a refusal is distinguished from every other value', () => {
  assert.ok(isRefusal(resourceMissing('refund')));
  assert.equal(statusOf(resourceMissing('refund').code), 404);
  for (const other of [null, undefined, 'refused', [], {}, { status: 200, body: '{}' }]) {
    assert.equal(isRefusal(other), false);
  }
});
