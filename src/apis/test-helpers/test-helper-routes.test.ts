import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { EVENT_TYPES } from '#events/event-types.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { declineCodeOf, errorCodeOf } from '#testkit/apis/error-code.ts';
import { type StoreServer, serveStore } from '#testkit/apis/store-server.ts';
import {
  addIntent,
  addPayer,
  keepSettling,
  openStore,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';

let store: TestStore;
let server: StoreServer;
let merchant: Caller;
let settling: { stop(): Promise<void> };

before(async () => {
  store = await openStore();
  const { pass: defaultPass } = await addPayer(store);
  server = await serveStore(store, { defaultPass });
  merchant = await server.merchant();
  settling = keepSettling(store);
});

after(async () => {
  await settling.stop();
  await server.close();
  await store.close();
});

const tapPath = () => `/test_helpers/terminals/${store.terminalId}/tap`;

describe('a simulated tap', () => {
  test('pays the terminal’s oldest open intent with the demo pass', async () => {
    const first = await addIntent(store);
    const second = await addIntent(store);
    const { status, body } = await merchant.post(tapPath(), {});
    assert.equal(status, 200);
    assert.equal(body.id, first);
    assert.equal(body.status, 'succeeded');
    assert.notEqual(body.picked_up_at, null);
    assert.equal((await merchant.post(tapPath())).body.id, second);
  });

  test('uses the given pass and intent', async () => {
    const { pass } = await addPayer(store);
    await addIntent(store);
    const named = await addIntent(store, { amount: 60_000_000 });
    const { body } = await merchant.post(tapPath(), {
      credential: { type: 'nfc_id', value: pass },
      payment_intent: named,
    });
    assert.equal(body.id, named);
    assert.equal(body.status, 'requires_action');
    assert.equal((await merchant.post(tapPath())).body.status, 'succeeded');
  });

  test('adds the given tip, if the intent takes tips', async () => {
    await addIntent(store, { tipping: { percentages: [10] } });
    const { body } = await merchant.post(tapPath(), { tip_amount: 250_000 });
    assert.deepEqual([body.status, body.amount, body.tip], ['succeeded', 2_500_000, 250_000]);
    const payment = (await merchant.get(`/payments/${body.payment}`)).body;
    assert.deepEqual([payment.amount, payment.tip], [2_750_000, 250_000]);
    assert.equal(payment.net, 2_750_000);
    const intent = await addIntent(store);
    const refused = await merchant.post(tapPath(), { tip_amount: 0 });
    assert.deepEqual([refused.status, errorCodeOf(refused.body)], [400, 'parameter_invalid']);
    await merchant.post(`/payment_intents/${intent}/cancel`);
  });

  test('is refused if there is nothing to pay', async () => {
    const { status, body } = await merchant.post(tapPath(), {});
    assert.equal(status, 409);
    assert.equal(errorCodeOf(body), 'payment_intent_unexpected_state');
  });

  test('is replayed under its key', async () => {
    await addIntent(store);
    const first = await merchant.post(tapPath(), {}, 'played-once');
    const again = await merchant.post(tapPath(), {}, 'played-once');
    assert.equal(first.body.status, 'succeeded');
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.deepEqual(again.body, first.body);
  });

  test('of another account’s terminal is refused', async () => {
    const path = '/test_helpers/terminals/tml_0000000000000000000000/tap';
    assert.equal((await merchant.post(path, {})).status, 404);
  });
});

describe('a simulated confirmation', () => {
  async function asked(): Promise<string> {
    const { pass: value } = await addPayer(store);
    const payment_intent = await addIntent(store, { amount: 60_000_000 });
    const credential = { type: 'nfc_id', value };
    const { body } = await merchant.post(tapPath(), { credential, payment_intent });
    assert.equal(body.status, 'requires_action');
    return payment_intent;
  }

  const answer = (id: string, approve: boolean) =>
    merchant.post(`/test_helpers/payment_intents/${id}/payer_confirm`, { approve });

  test('pays when the payer approves', async () => {
    const { status, body } = await answer(await asked(), true);
    assert.equal(status, 200);
    assert.equal(body.status, 'succeeded');
  });

  test('declines when the payer rejects', async () => {
    const { body } = await answer(await asked(), false);
    assert.equal(body.status, 'requires_payment_method');
    assert.equal(declineCodeOf(body), 'payer_rejected');
  });

  test('of an intent that needs no confirmation is refused', async () => {
    const intentId = await addIntent(store);
    assert.equal(
      errorCodeOf((await answer(intentId, true)).body),
      'payment_intent_unexpected_state',
    );
  });
});

describe('a simulated expiry', () => {
  const expire = (id: string) => merchant.post(`/test_helpers/payment_intents/${id}/expire`);

  test('cancels an open intent as expired, with its event', async () => {
    const intentId = await addIntent(store);
    const { status, body } = await expire(intentId);
    assert.equal(status, 200);
    assert.equal(body.status, 'canceled');
    assert.equal(body.cancellation_reason, 'expired');
    assert.ok(String(body.expires_at) <= new Date().toISOString());
    const rows = await store.db.query<{ type: string }>(
      'select type from events where object_id = $1 order by position',
      [intentId],
    );
    assert.deepEqual(
      rows.map(({ type }) => type),
      ['payment_intent.created', 'payment_intent.canceled'],
    );
    assert.deepEqual((await expire(intentId)).body, body);
  });

  test('of a payment that waits for its payer: declined, then canceled', async () => {
    const { pass: value } = await addPayer(store);
    const payment_intent = await addIntent(store, { amount: 60_000_000 });
    const credential = { type: 'nfc_id', value };
    await merchant.post(tapPath(), { credential, payment_intent });
    const { body } = await expire(payment_intent);
    assert.equal(body.cancellation_reason, 'expired');
    assert.equal(declineCodeOf(body), 'confirmation_timeout');
  });

  test('of a paid intent is refused', async () => {
    const payment_intent = await addIntent(store);
    await merchant.post(tapPath(), { payment_intent });
    const { body } = await expire(payment_intent);
    assert.equal(errorCodeOf(body), 'payment_intent_unexpected_state');
  });
});

test('a simulated agent token pays this account its amount', async () => {
  const minted = await merchant.post('/test_helpers/agent_tokens', { amount: 1_500_000 });
  assert.equal(minted.status, 201);
  assert.match(String(minted.body.agent_token), /^agt_/);
  const intentId = await addIntent(store, { amount: 1_500_000 });
  const { agent_token } = minted.body;
  const paid = await merchant.post(`/payment_intents/${intentId}/confirm`, { agent_token });
  assert.equal(paid.body.status, 'succeeded');
});

test('a simulated agent token needs a pass of the test network', async () => {
  const { pass } = await addPayer(store, { livemode: true });
  const { status } = await merchant.post('/test_helpers/agent_tokens', { amount: 1, pass });
  assert.equal(status, 400);
});

/** The `object` of the families whose events contain an object of another name. */
const NAMED_OTHERWISE: Readonly<Record<string, string>> = { balance: 'withdrawal', kyb: 'account' };

test('every type of event but ping can be triggered, and is then listed', async () => {
  for (const type of EVENT_TYPES.filter((one) => one !== 'ping')) {
    const { status, body } = await merchant.post('/test_helpers/events/trigger', { type });
    assert.equal(status, 201, type);
    assert.equal(body.type, type);
    assert.equal(body.livemode, false);
    const data = body.data as { object: { object: string }; previous_attributes?: object };
    assert.equal(data.previous_attributes !== undefined, type.endsWith('.updated'));
    const family = type.split('.')[0] ?? '';
    assert.equal(data.object.object, NAMED_OTHERWISE[family] ?? family, type);
    assert.deepEqual((await merchant.get(`/events/${body.id}`)).body, body);
  }
  const ping = await merchant.post('/test_helpers/events/trigger', { type: 'ping' });
  assert.equal(ping.status, 400);
});

const OF_FAMILY: Readonly<Record<string, string>> = {
  payment_intent: '/payment_intents',
  payment: '/payments',
  terminal: '/terminals',
};

test('triggered events name objects that exist, and made-up ones if there are none', async () => {
  await addIntent(store);
  assert.equal((await merchant.post(tapPath(), {})).body.status, 'succeeded');
  for (const type of EVENT_TYPES) {
    const list = OF_FAMILY[type.split('.')[0] ?? ''];
    // This store's terminal was not created through the API, so there is no event about it.
    if (list === undefined || list === '/terminals') continue;
    const { body } = await merchant.post('/test_helpers/events/trigger', { type });
    const { object } = body.data as { object: { [field: string]: string | null } };
    assert.equal((await merchant.get(`${list}/${object.id}`)).status, 200, type);
    for (const [field, path] of Object.entries(OF_FAMILY)) {
      if (typeof object[field] !== 'string') continue;
      assert.equal(
        (await merchant.get(`${path}/${object[field]}`)).status,
        200,
        `${type} ${field}`,
      );
    }
  }
  const { body } = await merchant.post('/test_helpers/events/trigger', { type: 'refund.failed' });
  const { object } = body.data as { object: { payment: string; status: string } };
  assert.equal(object.status, 'failed');
  assert.equal((await merchant.get(`/payments/${object.payment}`)).status, 200);
});

test('a tap on an expired intent is refused as expired', async () => {
  const intentId = await addIntent(store);
  await merchant.post(`/test_helpers/payment_intents/${intentId}/expire`);
  const { status, body } = await merchant.post(tapPath(), { payment_intent: intentId });
  assert.equal(status, 409);
  assert.equal(errorCodeOf(body), 'payment_intent_unexpected_state');
  assert.match(body.error?.message ?? '', /expired at 20.*Create another one/);
});

test('none of them exists for a live key', async () => {
  await store.db.query(
    `insert into account_modes (account_id, livemode, merchant_number, settlement_wallet, live_at)
     values ($1, true, 99, '0x', now())`,
    [store.merchant.tenant.accountId],
  );
  const live = await server.merchant({ livemode: true });
  const intentId = await addIntent(store);
  const calls: readonly (readonly [string, object])[] = [
    [tapPath(), {}],
    [`/test_helpers/payment_intents/${intentId}/payer_confirm`, { approve: true }],
    [`/test_helpers/payment_intents/${intentId}/expire`, {}],
    ['/test_helpers/agent_tokens', { amount: 1 }],
    ['/test_helpers/events/trigger', { type: 'refund.failed' }],
  ];
  for (const [path, body] of calls) {
    const answer = await live.post(path, body);
    assert.equal(answer.status, 404, path);
    assert.equal(errorCodeOf(answer.body), 'route_missing');
  }
});
