import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  AuthenticationError,
  ConnectionError,
  IdempotencyError,
  InvalidRequestError,
  OutcomeUnknownError,
  RateLimitError,
  Tapline,
  type TaplineError,
} from 'tapline';
import { openForTests } from '../../testkit/fixtures/core/open-for-tests.ts';
import { KEY, refusal, type Step, startScriptedApi } from './scripted-api.ts';

let tapline: Tapline;

const api = openForTests(startScriptedApi, async () => {
  tapline = api.tapline;
});

const INTENT = { id: 'pi_1', object: 'payment_intent', status: 'requires_payment_method' };
const DONE: Step = { status: 200, body: INTENT, headers: { 'Request-Id': 'req_9' } };
const ORDER = { amount: 2_500_000, terminal: 'tml_1', order_id: 'A-1' };
const NOTHING_DONE = refusal(503, 'api_error', 'service_unavailable');
const BROKEN = refusal(500, 'api_error', 'internal_error');

function keysSent(): unknown[] {
  return api.seen.map(({ headers }) => headers['idempotency-key']);
}

describe('a POST', () => {
  test('carries a key, the same in every try of a call and another one in every call', async () => {
    api.script('cut', BROKEN, NOTHING_DONE, DONE);
    assert.deepEqual(await tapline.paymentIntents.create(ORDER), INTENT);
    const [first, ...others] = keysSent();
    assert.match(String(first), /^[0-9a-f-]{36}$/);
    assert.deepEqual(others, [first, first, first]);
    assert.equal(new Set(api.seen.map(({ body }) => body)).size, 1);
    api.script(DONE);
    await tapline.paymentIntents.create(ORDER);
    assert.notEqual(keysSent()[0], first);
  });

  test('uses the key that it is given', async () => {
    api.script(DONE);
    const options = { idempotencyKey: 'order-A-1' };
    const { idempotencyKey, requestId } = await tapline.paymentIntents
      .create(ORDER, options)
      .withResponse();
    assert.deepEqual(
      [keysSent()[0], idempotencyKey, requestId],
      ['order-A-1', 'order-A-1', 'req_9'],
    );
  });

  test('whose key the service does not store is not repeated after a lost response', async () => {
    const create = () =>
      tapline.webhookEndpoints.create({ url: 'https://shop.example', enabled_events: ['*'] });
    for (const step of ['cut', BROKEN] as const) {
      api.script(step, DONE);
      await assert.rejects(create(), (error) => !(error instanceof OutcomeUnknownError));
      assert.equal(api.seen.length, 1);
    }
    // The service answered that it did nothing, so a retry is safe.
    api.script(NOTHING_DONE, DONE);
    await create();
    assert.equal(api.seen.length, 2);
  });
});

describe('retries', () => {
  const final: readonly (readonly [Step, new (message: string) => TaplineError])[] = [
    [refusal(400, 'invalid_request_error', 'parameter_invalid'), InvalidRequestError],
    [refusal(401, 'authentication_error', 'api_key_revoked'), AuthenticationError],
    [refusal(409, 'invalid_request_error', 'order_id_in_use'), InvalidRequestError],
    [refusal(409, 'idempotency_error', 'idempotency_key_reused'), IdempotencyError],
    [refusal(404, 'invalid_request_error', 'resource_missing'), InvalidRequestError],
    [refusal(429, 'rate_limit_error', 'x', { 'Retry-After': '3600' }), RateLimitError],
  ];
  for (const [step, kind] of final) {
    test(`do not follow ${JSON.stringify(step).slice(1, 80)}`, async () => {
      api.script(step, DONE);
      await assert.rejects(tapline.refunds.create({ payment: 'pay_1' }), (error) => {
        assert.ok(error instanceof kind);
        assert.equal(error.requestId, 'req_1');
        return true;
      });
      assert.equal(api.seen.length, 1);
    });
  }

  test('are made as often as maxRetries allows, and no more', async () => {
    api.script('cut');
    const options = { maxRetries: 1 };
    await assert.rejects(tapline.payments.retrieve('pay_1', options), ConnectionError);
    assert.equal(api.seen.length, 2);
  });
});

describe('an unknown outcome', () => {
  async function unknown(...steps: Step[]): Promise<OutcomeUnknownError> {
    api.script(...steps);
    const error = await tapline.paymentIntents
      .create(ORDER, { maxRetries: 0, timeout: 200, idempotencyKey: 'k 1' })
      .catch((one: unknown) => one);
    assert.ok(error instanceof OutcomeUnknownError);
    assert.equal(error.idempotencyKey, 'k 1');
    return error;
  }
  const key = (fields: object): Step => ({
    status: 200,
    body: { object: 'idempotency_key', resource: null, response_status: null, ...fields },
  });

  test('follows a lost response, a time-out, and a failure anywhere on the way', async () => {
    await unknown('cut');
    await unknown('hang');
    await unknown(BROKEN);
    await unknown({ status: 504, body: '<html>Gateway Timeout</html>' });
    await unknown({ status: 201, body: '{"id"' });
  });

  test('stays unknown while the service is unreachable, and is known afterwards', async () => {
    const error = await unknown('cut');
    api.script('cut');
    await assert.rejects(error.resolve(), OutcomeUnknownError);
    const busy = { status: 503, body: 'a page of some proxy' };
    api.script(busy);
    await assert.rejects(error.resolve(), OutcomeUnknownError);
    const completed = { status: 'completed', resource: 'pi_1', response_status: 201 };
    api.script(key(completed), { status: 200, body: INTENT });
    assert.deepEqual(await error.resolve(), INTENT);
  });

  test('does not follow an abort between two attempts if nothing was done', async () => {
    const reason = new Error('the shop closes');
    const later = refusal(503, 'api_error', 'service_unavailable', { 'Retry-After': '30' });
    for (const call of [
      (signal: AbortSignal) => tapline.refunds.create({ payment: 'pay_1' }, { signal }),
      (signal: AbortSignal) => tapline.payments.retrieve('pay_1', { signal }),
    ]) {
      api.script(later);
      const control = new AbortController();
      const under = call(control.signal);
      while (api.seen.length === 0) await new Promise(setImmediate);
      setTimeout(() => control.abort(reason), 50);
      await assert.rejects(under, reason);
      assert.equal(api.seen.length, 1);
    }
  });

  test('follows the abort of a POST; an aborted GET is only aborted', async () => {
    // Uses a private server, because aborted requests could still arrive during another test.
    const own = await startScriptedApi();
    own.script('hang');
    const { refunds, payments } = own.tapline;
    const soon = () => ({ signal: AbortSignal.timeout(50) });
    await assert.rejects(refunds.create({ payment: 'pay_1' }, soon()), OutcomeUnknownError);
    await assert.rejects(payments.retrieve('pay_1', soon()), { name: 'TimeoutError' });
    const given = { signal: AbortSignal.abort() };
    await assert.rejects(refunds.create({ payment: 'pay_1' }, given), { name: 'AbortError' });
    await own.close();
  });
});

describe('a list', () => {
  const page = (ids: string[], cursor: string | null): Step => ({
    status: 200,
    body: { data: ids.map((id) => ({ id })), has_more: cursor !== null, next_cursor: cursor },
  });

  test('is read page by page, with the same filters', async () => {
    api.script(page(['pay_3', 'pay_2'], 'next'), page(['pay_1'], null));
    const ids: string[] = [];
    for await (const { id } of tapline.payments.list({ limit: 2, terminal: 'tml_1' })) ids.push(id);
    assert.deepEqual(ids, ['pay_3', 'pay_2', 'pay_1']);
    const [first, second] = api.seen.map(({ url }) => url.split('?')[1]);
    assert.equal(first, 'limit=2&terminal=tml_1');
    assert.equal(second, 'limit=2&terminal=tml_1&cursor=next');
  });

  test('has a page, which is requested once and only on demand', async () => {
    api.script(page(['pay_3'], 'next'));
    const list = tapline.payments.list({ limit: 1 });
    assert.equal(api.seen.length, 0);
    assert.equal((await list.page).next_cursor, 'next');
    assert.equal((await list.page).data[0]?.id, 'pay_3');
    assert.equal(api.seen.length, 1);
  });
});

describe('bad input', () => {
  const words: readonly (readonly [string, () => unknown, RegExp])[] = [
    [
      'a fraction',
      () => tapline.refunds.create({ payment: 'pay_1', amount: 2.5 }),
      /usdc\('2.50'\)/,
    ],
    ['no id', () => tapline.payments.retrieve(''), /id is missing/],
    [
      'a live key for a test helper',
      () =>
        new Tapline(KEY.replace('test', 'live'), { baseUrl: api.baseUrl }).testHelpers.tap('tml_1'),
      /use a tlsk_test_/,
    ],
    ['a device key', () => new Tapline(KEY.replace('tlsk', 'tldk')), /begins with tlsk_test_/],
    ['a live key without an address', () => new Tapline(KEY.replace('test', 'live')), /baseUrl/],
    ['an address without a scheme', () => new Tapline(KEY, { baseUrl: 'shop' }), /https:\/\//],
  ];
  for (const [what, act, expected] of words) {
    test(`${what} is refused before anything is sent`, async () => {
      api.script(DONE);
      await assert.rejects(async () => act(), { name: 'UsageError', message: expected });
      assert.equal(api.seen.length, 0);
    });
  }

  test('a live key is sent over plain http to this machine only', () => {
    const at = (baseUrl: string) => new Tapline(KEY.replace('test', 'live'), { baseUrl });
    for (const host of ['shop.test', 'localhost.shop.test', '127.0.0.1@shop.test', '10.0.0.1:80']) {
      assert.throws(() => at(`http://${host}/api`), {
        name: 'UsageError',
        message: /over https only/,
      });
    }
    assert.throws(() => at('http://127.0.0.1:80@shop.test/api'), /over https only/);
    for (const host of ['localhost', '127.0.0.1:4242', '[::1]:4242'])
      assert(at(`http://${host}/api`));
    assert(at('https://pay.example.com/api'));
    assert(new Tapline(KEY, { baseUrl: 'http://shop.test/api' }), 'a test key moves no money');
  });

  test('a base URL that is not the API’s is reported as such', async () => {
    api.script({ status: 404, body: '<html>' });
    await assert.rejects(
      tapline.payments.retrieve('pay_1'),
      /Check baseUrl: it must end with \/api/,
    );
  });

  test('no error contains the key', async () => {
    const bad = `${KEY}\n${KEY}`;
    assert.throws(
      () => new Tapline(bad),
      (error: Error) => !error.message.includes(KEY),
    );
    api.script('cut');
    const error = await tapline.payments.retrieve('pay_1', { maxRetries: 0 }).catch((e) => e);
    assert.ok(!JSON.stringify(error, Object.getOwnPropertyNames(error)).includes(KEY));
  });
});

test('a failed call is reported once, however it is read', async () => {
  api.script('cut');
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  const call = tapline.payments.retrieve('pay_1', { maxRetries: 0 });
  await assert.rejects(call.withResponse(), ConnectionError);
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.off('unhandledRejection', note);
  assert.deepEqual(unhandled, []);
});
