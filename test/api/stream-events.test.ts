import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestIntent, readAllPages, startTestApi, type TestApi } from '#testkit/apis/api.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { heard, type OpenedStream, openEventStream } from '#testkit/network/event-stream.ts';

let api: TestApi;
let other: string;
const opened: OpenedStream[] = [];

before(async () => {
  api = await startTestApi();
  other = await api.addNode();
});

after(async () => {
  for (const stream of opened) stream.close();
  await api.close();
});

interface Asked {
  readonly query?: string;
  readonly key?: string;
  readonly lastEventId?: string;
  readonly node?: string;
}

async function open({ query = '', key, lastEventId, node }: Asked = {}): Promise<OpenedStream> {
  const stream = await openEventStream({
    url: `${node ?? api.url}/api/v1/events/stream${query}`,
    key: key ?? api.merchant.test.key,
    ...(lastEventId === undefined ? {} : { lastEventId }),
  });
  opened.push(stream);
  return stream;
}

/** Returns the IDs of all events that the list endpoint returns, oldest first. */
async function listed(type = ''): Promise<string[]> {
  const events = await readAllPages(api, `/v1/events?limit=100${type}`);
  return events.map(({ id }) => id).reverse();
}

const codeOf = ({ text }: OpenedStream) =>
  (JSON.parse(text) as { error: { code: string; param: string | null } }).error;

test('a stream begins with the next event, and keeps the order of the list', async () => {
  await createTestIntent(api);
  const known = (await listed()).length;
  const streams = [await open(), await open({ node: other })];
  for (const { status, headers } of streams) {
    assert.equal(status, 200);
    assert.match(String(headers['content-type']), /^text\/event-stream/);
    assert.equal(headers['cache-control'], 'no-store');
    assert.match(String(headers['request-id']), /^req_/);
  }
  const begun = performance.now();
  await Promise.all(Array.from({ length: 30 }, () => createTestIntent(api)));
  const expected = (await listed()).slice(known);
  assert.equal(expected.length, 30);
  for (const stream of streams) {
    await heard(stream, 30);
    assert.deepEqual(stream.ids, expected);
    assert.ok(stream.lastAt - begun < 2_000, `${stream.lastAt - begun} ms`);
  }
  const [first = ''] = streams[0]?.data ?? [];
  assert.equal(first, (await api.call({ path: `/v1/events/${expected[0]}` })).text);
});

test('it continues after an event, and Last-Event-ID overrides after', async () => {
  const ids = await listed();
  const middle = ids[10] ?? '';
  const byParameter = await open({ query: `?after=${ids[3]}` });
  const byHeader = await open({ query: `?after=${ids[3]}`, lastEventId: middle });
  const overNonsense = await open({ query: '?after=nonsense', lastEventId: middle });
  await heard(byParameter, ids.length - 4);
  await heard(overNonsense, ids.length - 11);
  await createTestIntent(api);
  const now = await listed();
  await heard(byHeader, now.length - 11);
  assert.deepEqual(byHeader.ids, now.slice(11));
  await heard(byParameter, now.length - 4);
  assert.deepEqual(byParameter.ids, now.slice(4));
});

test('from the start it sends all stored events, and then continues', async () => {
  const whole = await open({ query: '?after=start' });
  const ids = await listed();
  await heard(whole, ids.length);
  assert.deepEqual(whole.ids, ids);
  await createTestIntent(api);
  const now = await listed();
  await heard(whole, now.length);
  assert.deepEqual(whole.ids, now);
});

test('`types` takes types and families, separated by commas', async () => {
  const [first = ''] = await listed();
  const some = await open({ query: `?types=terminal.*,payment_intent.canceled&after=${first}` });
  const { id } = await createTestIntent(api);
  const canceled = { path: `/v1/payment_intents/${id}/cancel`, idempotencyKey: id, body: {} };
  assert.equal((await api.call(canceled)).status, 200);
  await heard(some, 1);
  assert.deepEqual(some.ids, await listed('&type=payment_intent.canceled'));
});

describe('a stream that is refused before it begins', () => {
  const refused: readonly (readonly [string, Asked, number, string, string | null])[] = [
    [
      'an id of nothing',
      { query: '?after=evt_01QzXo0KcV5sVQ2pWm8Tn3' },
      400,
      'cursor_invalid',
      'after',
    ],
    ['no id at all', { query: '?after=last' }, 400, 'cursor_invalid', 'after'],
    ['an empty one', { query: '?after=' }, 400, 'cursor_invalid', 'after'],
    ['a header with nothing we know', { lastEventId: 'x' }, 400, 'cursor_invalid', null],
    ['a type that is none', { query: '?types=payment.eaten' }, 400, 'parameter_invalid', 'types'],
    ['an empty type', { query: '?types=refund.*,' }, 400, 'parameter_invalid', 'types'],
    ['a strange parameter', { query: '?type=refund.*' }, 400, 'parameter_unknown', 'type'],
  ];
  for (const [what, request, status, code, param] of refused) {
    test(what, async () => {
      const stream = await open(request);
      assert.equal(stream.status, status);
      assert.deepEqual([codeOf(stream).code, codeOf(stream).param], [code, param]);
    });
  }

  test("another account's event, and the other mode's", async () => {
    const id = (await listed())[0] ?? '';
    const stranger = await api.addMerchant();
    for (const key of [stranger.test.key, api.merchant.live.key]) {
      const stream = await open({ key, lastEventId: id });
      assert.deepEqual([stream.status, codeOf(stream).code], [400, 'cursor_invalid']);
    }
  });

  test('a key without the scope, and none', async () => {
    const { secret } = await api.addKey(api.merchant.test.tenant, { scopes: ['payments:read'] });
    assert.equal(codeOf(await open({ key: secret })).code, 'scope_missing');
    assert.equal(codeOf(await open({ key: 'tlsk_test_x' })).code, 'api_key_invalid');
  });
});

test('the 21st stream of a key is refused, on any node; closing one makes room', async () => {
  const { secret } = await api.addKey(api.merchant.test.tenant);
  const requests = Array.from({ length: 20 }, (_, i) => ({
    key: secret,
    node: i % 2 === 0 ? api.url : other,
  }));
  const streams = await Promise.all(requests.map(open));
  assert.deepEqual(
    streams.map(({ status }) => status),
    Array(20).fill(200),
  );
  for (const node of [api.url, other]) {
    const refused = await open({ key: secret, node });
    assert.deepEqual([refused.status, codeOf(refused).code], [429, 'rate_limit_exceeded']);
    assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/);
  }
  streams[7]?.close();
  await eventually('there is room', async () => (await open({ key: secret })).status === 200);
  // Other accounts have their own limit.
  assert.equal((await open()).status, 200);
  for (const stream of [...streams, ...opened.splice(0)]) stream.close();
});

test('a key that is revoked, or loses scope or address, ends its streams in a second', async () => {
  const { tenant } = api.merchant.test;
  const changes = [
    'update api_keys set revoked_at = now() where id = $1',
    "update api_keys set scopes = '{payments:read}' where id = $1",
    "update api_keys set ip_allowlist = '{203.0.113.9}' where id = $1",
  ];
  for (const change of changes) {
    const { id, secret } = await api.addKey(tenant);
    const [ended, stays] = [await open({ key: secret, node: other }), await open()];
    const cut = performance.now();
    await api.db.query(change, [id]);
    await ended.ended;
    assert.ok(performance.now() - cut < 1_500, `${change}: ${performance.now() - cut} ms`);
    await createTestIntent(api);
    await heard(stays, 1);
    assert.deepEqual(ended.ids, []);
    stays.close();
  }
});

test('a client that stops reading is cut off, and misses nothing later', async () => {
  const [slow, quick] = [await open(), await open()];
  slow.response.pause();
  const description = 'x'.repeat(250);
  const metadata = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`note_${i}`, 'y'.repeat(480)]),
  );
  // Writes more than all buffers between server and client can hold.
  for (let round = 0; round < 60; round++) {
    await Promise.all(
      Array.from({ length: 24 }, () => createTestIntent(api, { description, metadata })),
    );
  }
  await heard(quick, 60 * 24);
  slow.response.resume();
  await slow.ended;
  assert.ok(slow.ids.length < quick.ids.length, 'it was cut off');
  assert.deepEqual(slow.ids, quick.ids.slice(0, slow.ids.length));
  const back = await open({ lastEventId: slow.ids.at(-1) ?? '' });
  await heard(back, quick.ids.length - slow.ids.length);
  assert.deepEqual([...slow.ids, ...back.ids], quick.ids);
});
