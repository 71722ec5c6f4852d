import { refusal, type Step } from '../../sdk/test/scripted-api.ts';

/** The call that a client must make. */
export type Call = 'create' | 'refund' | 'retrieve' | 'register';

/** The expected result, in the terms of every language. */
export type Outcome = 'ok' | 'refused' | 'unknown' | 'no_answer';

export interface Case {
  /** The promise, as docs/clients.md lists it. */
  readonly name: string;
  readonly call: Call;
  readonly script: readonly Step[];
  /** Default: 3 */
  readonly retries?: number;
  readonly outcome: Outcome;
  readonly requests: number;
  readonly key?: string;
  /** The check with `resolve()` after an unknown result. */
  readonly resolve?: {
    readonly script: readonly Step[];
    readonly outcome: Outcome;
    /** Expected requests in order, as methods and paths below /v1. */
    readonly asks: readonly string[];
  };
}

export const INTENT = { id: 'pi_1', object: 'payment_intent', status: 'succeeded' };
const DONE: Step = { status: 200, body: INTENT };
const RUNNING = refusal(409, 'idempotency_error', 'idempotency_request_in_progress');
const NOTHING_DONE = refusal(503, 'api_error', 'service_unavailable');
const BROKEN = refusal(500, 'api_error', 'internal_error');
const IN_USE = refusal(409, 'invalid_request_error', 'order_id_in_use');
const REVOKED = refusal(401, 'authentication_error', 'api_key_revoked');
const MISSING = refusal(404, 'invalid_request_error', 'resource_missing');
const limited = (after: string) =>
  refusal(429, 'rate_limit_error', 'rate_limit_exceeded', { 'Retry-After': after });
const moved: Step = { status: 302, body: {}, headers: { Location: 'http://127.0.0.1:9/' } };
const knownKey = (fields: object): Step => ({
  status: 200,
  body: { object: 'idempotency_key', resource: null, response_status: null, ...fields },
});
const COMPLETED = { status: 'completed', resource: 'pi_1', response_status: 201 };
const ASK_KEY = 'GET /idempotency_keys/k%201';
const BY_ORDER = 'GET /payment_intents?limit=1&order_id=A-1';

const tried: readonly (readonly [string, Step])[] = [
  ['a connection that is cut', 'cut'],
  ['429 with Retry-After', limited('0')],
  ['500', BROKEN],
  ['503 service_unavailable', NOTHING_DONE],
  ['503 request_timeout', refusal(503, 'api_error', 'request_timeout')],
  ['a response that is cut off', { status: 201, body: '{"id": "pi_' }],
];
const final: readonly (readonly [string, Step])[] = [
  ['400', refusal(400, 'invalid_request_error', 'parameter_invalid')],
  ['401', REVOKED],
  ['404', MISSING],
  ['409 order_id_in_use', IN_USE],
  ['409 idempotency_key_reused', refusal(409, 'idempotency_error', 'idempotency_key_reused')],
  ['429 with an hour in Retry-After', limited('3600')],
  ['a redirect, which would carry the key elsewhere', moved],
];
const left: readonly (readonly [string, Step])[] = [
  ['a lost response', 'cut'],
  ['a time-out', 'hang'],
  ['headers that arrive a byte at a time', { drips: 'headers' }],
  ['a body that arrives a byte at a time', { drips: 'chunks' }],
  ['an error page that arrives a byte at a time', { drips: 'error page' }],
  ['500', BROKEN],
  ['a proxy’s own 502', { status: 502, body: '<html>Bad Gateway</html>' }],
  ['a proxy’s own 503', { status: 503, body: '<html>Service Unavailable</html>' }],
  ['a proxy’s own 504', { status: 504, body: '<html>Gateway Timeout</html>' }],
];

const refund = { call: 'refund' } as const;
const unknownCreate = {
  call: 'create',
  script: ['cut'],
  retries: 0,
  key: 'k 1',
  outcome: 'unknown',
  requests: 1,
} as const;

/** The cases, shared by the clients of all languages. */
export const CASES: readonly Case[] = [
  {
    name: 'all attempts of a call have the same key and the same bytes',
    call: 'create',
    script: ['cut', BROKEN, NOTHING_DONE, DONE],
    outcome: 'ok',
    requests: 4,
  },
  ...tried.map(([what, step]): Case => {
    const name = `retried: ${what}`;
    return { ...refund, name, script: [step, DONE], outcome: 'ok', requests: 2 };
  }),
  ...final.map(([what, step]): Case => {
    const name = `not retried: ${what}`;
    return { ...refund, name, script: [step, DONE], outcome: 'refused', requests: 1 };
  }),
  {
    name: 'waits while the first request still runs',
    ...{ ...refund, script: [RUNNING, RUNNING, DONE], retries: 0, outcome: 'ok', requests: 3 },
  },
  ...left.map(([what, step]): Case => {
    const name = `unknown after: ${what}`;
    return { ...refund, name, script: [step], retries: 0, outcome: 'unknown', requests: 1 };
  }),
  {
    name: 'refused, not unknown, when the service says that nothing was done',
    ...{ ...refund, script: [NOTHING_DONE], retries: 0, outcome: 'refused', requests: 1 },
  },
  {
    name: 'stays unknown when a later attempt is refused for another reason',
    ...{ ...refund, script: ['cut', REVOKED], outcome: 'unknown', requests: 2 },
  },
  {
    name: 'known when a later attempt learns that the request itself is refused',
    ...{ ...refund, script: ['cut', IN_USE], outcome: 'refused', requests: 2 },
  },
  {
    name: 'the outcome of a call that only reads is never unknown',
    ...{ call: 'retrieve', script: ['cut'], retries: 1, outcome: 'no_answer', requests: 2 },
  },
  {
    name: 'a POST whose key the service does not keep is sent only once',
    ...{ call: 'register', script: ['cut', DONE], outcome: 'no_answer', requests: 1 },
  },
  {
    ...unknownCreate,
    name: 'resolve: the current object, by the key',
    resolve: {
      script: [knownKey(COMPLETED), DONE],
      outcome: 'ok',
      asks: [ASK_KEY, 'GET /payment_intents/pi_1'],
    },
  },
  {
    ...unknownCreate,
    name: 'resolve: the stored refusal',
    resolve: {
      script: [knownKey({ status: 'completed', response_status: 409 }), IN_USE],
      outcome: 'refused',
      asks: [ASK_KEY, 'POST /payment_intents'],
    },
  },
  {
    ...unknownCreate,
    name: 'resolve: unknown while the first request runs',
    resolve: {
      script: [knownKey({ status: 'in_progress' })],
      outcome: 'unknown',
      asks: [ASK_KEY],
    },
  },
  {
    ...unknownCreate,
    name: 'resolve: by the order id, if the key is unknown',
    resolve: {
      script: [MISSING, { status: 200, body: { data: [INTENT] } }],
      outcome: 'ok',
      asks: [ASK_KEY, BY_ORDER],
    },
  },
  {
    ...unknownCreate,
    name: 'resolve: unknown, and never sent again, if neither is known',
    resolve: {
      script: [MISSING, { status: 200, body: { data: [] } }],
      outcome: 'unknown',
      asks: [ASK_KEY, BY_ORDER],
    },
  },
  {
    ...unknownCreate,
    name: 'resolve: unknown while the service is unreachable',
    resolve: {
      script: [{ status: 502, body: '<html>Bad Gateway</html>' }],
      outcome: 'unknown',
      asks: [ASK_KEY],
    },
  },
];
