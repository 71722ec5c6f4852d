import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnswerBody, createTestIntent, readAllPages } from '#testkit/apis/api.ts';
import { testEndpoint, WRONG_DATES, wrongPages } from '#testkit/apis/endpoint.ts';

const PATH = '/v1/payment_intents';

const api = testEndpoint({
  name: `GET ${PATH}`,
  scope: 'payments:read',
  good: async () => ({ path: PATH }),
  status: 200,
  setUp: async (started) => {
    for (let i = 0; i < 3; i++) await createTestIntent(started, { order_id: `N-${i}` });
  },
  expect: ({ body }) => {
    assert.deepEqual(
      body.data.map(({ order_id }) => order_id),
      ['N-2', 'N-1', 'N-0'],
    );
    assert.equal(body.has_more, false);
    assert.equal(body.next_cursor, null);
  },
  wrong: wrongPages({
    ...WRONG_DATES,
    terminal: 'pi_1',
    source: 'web',
    order_id: 'a b',
    status: 'open',
  }),
  elsewhere: 'others',
  replay: 'none',
});

test('pages follow each other to the end', async () => {
  const rows = await readAllPages(api(), `${PATH}?limit=2`);
  assert.deepEqual(
    rows.map(({ order_id }) => order_id),
    ['N-2', 'N-1', 'N-0'],
  );
});

test('an order id finds the one intent of the order', async () => {
  const { body } = await api().call({ path: `${PATH}?order_id=N-1` });
  assert.deepEqual(
    body.data.map(({ order_id }) => order_id),
    ['N-1'],
  );
  const none = await api().call({ path: `${PATH}?order_id=N-9` });
  assert.deepEqual(none.body.data, []);
});

test('a cursor is valid only for its own list, filters, account and mode', async () => {
  const { body } = await api().call({ path: `${PATH}?limit=1` });
  const cursor = `cursor=${body.next_cursor}`;
  const stranger = await api().addMerchant();
  const tries = [
    { path: `/v1/payments?${cursor}` },
    { path: `${PATH}?source=api&${cursor}` },
    { path: `${PATH}?${cursor}`, key: stranger.test.key },
    { path: `${PATH}?${cursor}`, key: api().merchant.live.key },
    { path: `${PATH}?cursor=${flipped(String(body.next_cursor))}` },
  ];
  for (const call of tries) {
    const answered = await api().call(call);
    assert.deepEqual(
      [answered.status, answered.body.error.code],
      [400, 'cursor_invalid'],
      call.path,
    );
  }
  assert.equal((await api().call({ path: `${PATH}?limit=7&${cursor}` })).status, 200);
});

function flipped(cursor: string): string {
  const bytes = Buffer.from(cursor, 'base64url');
  bytes.writeUInt8(bytes.readUInt8(12) ^ 1, 12);
  return bytes.toString('base64url');
}

test('filters return exactly the matching objects', async () => {
  const { terminal } = api().merchant.test;
  const count = async (query: string) =>
    (await api().call({ path: `${PATH}?${query}` })).body.data.length;
  assert.equal(await count(`terminal=${terminal}`), 3);
  assert.equal(await count('terminal=tml_01QzXnyWbB0mJr6vGq2Lk9'), 0);
  assert.equal(await count('source=api'), 3);
  assert.equal(await count('source=terminal'), 0);
  assert.equal(await count('status=requires_payment_method'), 3);
  for (const status of ['requires_action', 'processing', 'succeeded', 'canceled']) {
    assert.equal(await count(`status=${status}`), 0);
  }
  assert.equal(await count(`order_id=N-1&status=requires_payment_method&terminal=${terminal}`), 1);
  assert.equal(await count('order_id=N-1&status=canceled'), 0);
  assert.equal(await count('created_gte=2100-01-01T00:00:00Z'), 0);
  assert.equal(await count('created_lt=2100-01-01T00:00:00%2B02:00'), 3);
});

test('a canceled intent moves to the list of its status', async () => {
  const { body } = await api().call({ path: `${PATH}?order_id=N-0` });
  const id = body.data[0]?.id;
  await api().call({ path: `${PATH}/${id}/cancel`, body: {} });
  const listed = async (status: string) =>
    (await api().call({ path: `${PATH}?status=${status}` })).body.data.map(
      ({ order_id }) => order_id,
    );
  assert.deepEqual(await listed('canceled'), ['N-0']);
  assert.deepEqual(await listed('requires_payment_method'), ['N-2', 'N-1']);
});

test('lists are in creation order, and ids are in no order', async () => {
  const made: string[] = [];
  for (let i = 0; i < 12; i++) {
    made.push((await createTestIntent(api(), { order_id: `O-${i}` })).id);
  }
  assert.notDeepEqual(made, made.toSorted(), 'ids do not count what was created');
  const { body } = await api().call({ path: `${PATH}?limit=12` });
  assert.deepEqual(
    body.data.map(({ id }) => id),
    made.toReversed(),
  );
  const { body: events } = await api().call({ path: '/v1/events?limit=12' });
  assert.deepEqual(
    (events.data as unknown as { data: { object: AnswerBody } }[]).map(
      ({ data }) => data.object.id,
    ),
    made.toReversed(),
  );
});
