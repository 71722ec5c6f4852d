import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerWith, isRefusal, refuse } from '#core/answer.ts';
import type { ErrorCode } from '#core/error-codes.ts';
import { keyExpiry } from '#idempotency/expire-keys.ts';
import type { KeyRow } from '#idempotency/key-queries.ts';
import { fingerprint, type IdempotentRequest, keyOf } from '#idempotency/request-fingerprint.ts';
import {
  type Decided,
  type Done,
  decideKeyed,
  freesKey,
  type Keyed,
} from '#idempotency/run-once-per-key.ts';

const NOW = new Date('2026-11-22T12:00:00Z');
const DONE: Done = { answer: answerWith(201, { status: 'done' }), resource: 'obj_1' };

function keyed(key: string | null, body = 'a'): Keyed {
  const tenant = { accountId: 'acct_1', livemode: false };
  const sent = { method: 'POST', path: '/v1/test', fingerprint: fingerprint('POST', '/', body) };
  const docsUrl = 'http://docs.test';
  const idempotency = key === null ? null : { tenant, caller: '', key, docsUrl, ...sent };
  return { idempotency, requestId: 'req_1', now: NOW };
}

/**
 * Returns the row of a request's key, with its stored response or, while its work continues,
 * without one.
 */
function rowOf({ idempotency }: Keyed, answer: Done['answer'] | null): [string, KeyRow] {
  const request = idempotency as IdempotentRequest;
  const { key, method, path } = request;
  const row = {
    ...{ key, method, path, fingerprint: request.fingerprint, resource: 'obj_1', created: NOW },
    status: answer === null ? ('in_progress' as const) : ('completed' as const),
    response_status: answer?.status ?? null,
    response_body: answer?.body ?? null,
    expires_at: keyExpiry(NOW),
  };
  return [keyOf(request), row];
}

function said({ answer }: Decided<Done>): string {
  if (isRefusal(answer)) return answer.code;
  const { status, error } = JSON.parse(answer.body);
  return answer.headers === undefined ? (status ?? error.code) : `${status ?? error.code} again`;
}

/** Decides these requests. Returns their responses, which of them ran, and what is stored. */
function decide(
  known: readonly [string, KeyRow][],
  requests: readonly Keyed[],
  codes?: ErrorCode[],
) {
  const ran: number[] = [];
  const { decided, stored } = decideKeyed(new Map(known), requests, (_, index) => {
    ran.push(index);
    const code = codes?.[index];
    return code === undefined ? DONE : refuse(code, 'No.');
  });
  const kept = stored.map(({ request, answer }) => [request.key, answer?.status ?? null]);
  return { said: decided.map(said), ran, kept, decided };
}

test('a new key runs and is stored; without a key the work runs and nothing is stored', () => {
  const { said, ran, kept } = decide([], [keyed('k'), keyed(null), keyed(null)]);
  assert.deepEqual([said, ran, kept], [['done', 'done', 'done'], [0, 1, 2], [['k', 201]]]);
});

test('a known key does not run: it gets its response, in progress, or a conflict', () => {
  const known = [rowOf(keyed('old'), DONE.answer), rowOf(keyed('running'), null)];
  const requests = [keyed('old'), keyed('old', 'b'), keyed('running'), keyed('running', 'b')];
  const { said, ran, kept } = decide(known, requests);
  assert.deepEqual(said, [
    'done again',
    'idempotency_key_reused',
    'idempotency_request_in_progress',
    'idempotency_key_reused',
  ]);
  assert.deepEqual([ran, kept], [[], []]);
});

test('of several with one key the first runs, and the others are refused as in progress', () => {
  const { said, ran, kept } = decide([], [keyed('k'), keyed('k'), keyed('k', 'b'), keyed('l')]);
  assert.deepEqual(said, [
    'done',
    'idempotency_request_in_progress',
    'idempotency_key_reused',
    'done',
  ]);
  assert.deepEqual(ran, [0, 3]);
  assert.deepEqual(kept, [
    ['k', 201],
    ['l', 201],
  ]);
});

test('a refusal that frees its key stores nothing; every other one is stored', () => {
  const codes: ErrorCode[] = ['parameter_invalid', 'terminal_inactive', 'terminal_inactive'];
  const requests = [keyed('freed'), keyed('held'), keyed(null)];
  const { said, kept, decided } = decide([], requests, codes);
  assert.deepEqual(said, codes);
  assert.deepEqual(kept, [['held', 409]]);
  assert.deepEqual(
    decided.map(({ answer, done }) => [isRefusal(answer), done]),
    [
      [true, null],
      [false, null],
      [true, null],
    ],
  );
});

test('work that continues stores its key without a response', () => {
  const { decided, stored } = decideKeyed(new Map(), [keyed('k')], () => {
    return { ...DONE, goesOn: true };
  });
  assert.equal(decided[0]?.answer, DONE.answer);
  assert.deepEqual([stored[0]?.answer, stored[0]?.resource], [null, 'obj_1']);
  assert.deepEqual(stored[0]?.expiresAt, keyExpiry(NOW));
});

/** Codes of refusals after which a request may be corrected and sent again with its key. */
const FREE: readonly ErrorCode[] = [
  'parameter_missing',
  'parameter_invalid',
  'parameter_unknown',
  'cursor_invalid',
  'api_version_invalid',
  'body_invalid',
  'amount_too_large',
  'url_not_allowed',
  'endpoint_limit_reached',
  'idempotency_key_required',
  'idempotency_key_invalid',
  'api_key_missing',
  'api_key_invalid',
  'api_key_expired',
  'api_key_revoked',
  'scope_missing',
  'ip_not_allowed',
  'account_disabled',
  'rate_limit_exceeded',
  'internal_error',
  'service_unavailable',
];

/** Codes of refusals that are stored as the key's response. */
const HOLD: readonly ErrorCode[] = [
  'kyb_required',
  'resource_missing',
  'account_not_live',
  'payment_intent_unexpected_state',
  'order_id_in_use',
  'terminal_inactive',
  'payment_already_refunded',
];

test('validation, authentication, rate limits and faults free the key; decisions hold it', () => {
  assert.deepEqual(
    FREE.filter((code) => !freesKey(code)),
    [],
  );
  assert.deepEqual(
    HOLD.filter((code) => freesKey(code)),
    [],
  );
});
