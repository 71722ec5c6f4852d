import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createManagerCode } from '#accounts/manager-code.ts';
import { newSecret } from '#core/bearer-secrets.ts';
import { openDatabase } from '#db/database.ts';
import { connectWakeups } from '#db/wakeups.ts';
import { intentPolls, terminalPolls } from '#payments/intent-long-polls.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { declineCodeOf, errorCodeOf } from '#testkit/apis/error-code.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { tap } from '#testkit/apis/tap.ts';
import {
  addIntent,
  addMerchant,
  addPayer,
  addTerminal,
  intentMaker,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';

let store: TestStore;
let server: StoreServer;
let device: Caller;

before(async () => {
  ({ store, server, device } = await openServedStore({ settles: true }));
});

after(() => server.close());

async function otherTerminal() {
  const { deviceKey, terminalId } = await addTerminal(store.db, store.merchant, new Date());
  return { caller: server.device(deviceKey), terminalId, deviceKey };
}

describe('a device key', () => {
  test('reports its terminal, merchant and network, and counts as seen', async () => {
    const { status, body } = await device.get('/terminal');
    assert.equal(status, 200);
    assert.equal(body.id, store.terminalId);
    assert.equal(body.object, 'terminal');
    assert.equal(body.merchant_name, 'Corner Shop');
    assert.equal(body.network, 'testnet');
    assert.equal(body.language, null);
    await store.db.query("update accounts set language = 'de'");
    assert.equal((await device.get('/terminal')).body.language, 'de');
    await store.db.query('update accounts set language = null');
    const age = Date.now() - new Date(String(body.last_seen_at)).getTime();
    assert.ok(age >= 0 && age < 5_000);
  });

  test('that was mistyped or made up is refused', async () => {
    const wrong = [
      store.deviceKey.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
      newSecret('deviceKeyTest'),
      newSecret('apiKeyTest'),
      'tldk_test_',
    ];
    for (const key of wrong) {
      const { status, body } = await server.device(key).get('/terminal');
      assert.equal(status, 401);
      assert.equal(errorCodeOf(body), 'api_key_invalid');
    }
  });

  test('that was revoked is refused within a second', async () => {
    const { caller, terminalId } = await otherTerminal();
    assert.equal((await caller.get('/terminal')).status, 200);
    await store.db.query('update device_keys set revoked_at = now() where terminal_id = $1', [
      terminalId,
    ]);
    await sleep(1_000);
    assert.equal(errorCodeOf((await caller.get('/terminal')).body), 'api_key_revoked');
  });

  test('of an account that is disabled is refused', async () => {
    const merchant = await addMerchant(store.db, { now: new Date() });
    const { deviceKey } = await addTerminal(store.db, merchant, new Date());
    await store.db.query(`update accounts set status = 'disabled' where id = $1`, [
      merchant.tenant.accountId,
    ]);
    const { status, body } = await server.device(deviceKey).get('/terminal');
    assert.equal(status, 403);
    assert.equal(errorCodeOf(body), 'account_disabled');
  });

  test('of one network sees nothing of the other', async () => {
    const now = new Date();
    const live = { ...store.merchant.tenant, livemode: true };
    await store.db.query(
      `insert into account_modes (account_id, livemode, merchant_number, settlement_wallet, live_at)
       values ($1, true, 77, '0x', now())`,
      [live.accountId],
    );
    const liveTerminal = await addTerminal(store.db, { ...store.merchant, tenant: live }, now);
    const liveDevice = server.device(liveTerminal.deviceKey);
    assert.equal((await liveDevice.get('/terminal')).body.network, 'mainnet');
    const intentId = await addIntent(store);
    assert.equal((await liveDevice.get(`/payment_intents/${intentId}`)).status, 404);
    const { pass } = await addPayer(store);
    assert.equal((await tap(liveDevice, intentId, pass)).status, 404);
    await device.post(`/payment_intents/${intentId}/cancel`);
  });
});

describe('a terminal that asks for work', () => {
  test('gets 204 when there is none', async () => {
    const { caller } = await otherTerminal();
    assert.equal((await caller.get('/payment_intents/next')).status, 204);
    const started = performance.now();
    assert.equal((await caller.get('/payment_intents/next?wait=1')).status, 204);
    assert.ok(performance.now() - started >= 950);
  });

  test('gets a new intent while it waits, and the intent records the pick-up', async () => {
    const { caller, terminalId } = await otherTerminal();
    const waiting = caller.get('/payment_intents/next?wait=20');
    await sleep(100);
    const intentId = await intentMaker(store)({ merchant: store.merchant, terminalId });
    const { status, body } = await waiting;
    assert.equal(status, 200);
    assert.equal(body.id, intentId);
    assert.notEqual(body.picked_up_at, null);
    const again = await caller.get(`/payment_intents/${intentId}`);
    assert.equal(again.body.picked_up_at, body.picked_up_at);
  });

  test('never records a pick-up later than the tap', async () => {
    const { caller, terminalId } = await otherTerminal();
    const intentId = await intentMaker(store)({ merchant: store.merchant, terminalId });
    const tap = `update payment_intents set tapped_at = now() - interval '1 s' where id = $1`;
    await store.db.query(tap, [intentId]);
    const { body } = await caller.get('/payment_intents/next');
    assert.equal(body.picked_up_at, body.tapped_at);
  });

  test('gets the oldest open one, and only its own', async () => {
    const { caller, terminalId } = await otherTerminal();
    await addIntent(store);
    const create = intentMaker(store);
    const first = await create({ merchant: store.merchant, terminalId });
    const second = await create({ merchant: store.merchant, terminalId });
    assert.equal((await caller.get('/payment_intents/next')).body.id, first);
    await caller.post(`/payment_intents/${first}/cancel`);
    assert.equal((await caller.get('/payment_intents/next')).body.id, second);
  });

  test('is refused while it is inactive', async () => {
    const { deviceKey, terminalId } = await otherTerminal();
    await store.db.query(`update terminals set status = 'inactive' where id = $1`, [terminalId]);
    const caller = server.device(deviceKey);
    assert.equal((await caller.get('/terminal')).body.status, 'inactive');
    const refused = [
      await caller.get('/payment_intents/next'),
      await caller.post('/payment_intents', { amount: 1 }),
      await tap(caller, await addIntent(store), newSecret('pass')),
    ];
    for (const { status, body } of refused) {
      assert.equal(status, 409);
      assert.equal(errorCodeOf(body), 'terminal_inactive');
    }
  });
});

describe('a terminal that watches an intent', () => {
  test('gets a payment as soon as its status differs from the one it shows', async () => {
    const intentId = await addIntent(store);
    const path = `/payment_intents/${intentId}?wait=20&status=requires_payment_method`;
    const watching = device.get(path);
    const { pass } = await addPayer(store);
    const tapped = await tap(device, intentId, pass);
    assert.equal(tapped.body.status, 'succeeded');
    assert.ok(['processing', 'succeeded'].includes(String((await watching).body.status)));
  });

  test('gets the intent immediately if its status already differs', async () => {
    const intentId = await addIntent(store);
    const started = performance.now();
    const { body } = await device.get(`/payment_intents/${intentId}?wait=20&status=processing`);
    assert.equal(body.status, 'requires_payment_method');
    assert.ok(performance.now() - started < 2_000);
  });

  test('never sees another terminal’s intent', async () => {
    const intentId = await addIntent(store);
    const { caller } = await otherTerminal();
    assert.equal((await caller.get(`/payment_intents/${intentId}`)).status, 404);
    assert.equal((await caller.post(`/payment_intents/${intentId}/cancel`)).status, 404);
  });
});

describe('a cashier', () => {
  test('starts a payment that counts as picked up, with `source: terminal`', async () => {
    const { status, body } = await device.post('/payment_intents', {
      amount: 990_000,
      order_id: 'POS-1',
      description: 'Espresso',
    });
    assert.equal(status, 201);
    assert.equal(body.source, 'terminal');
    assert.equal(body.terminal, store.terminalId);
    assert.equal(body.picked_up_at, body.created);
  });

  test('needs an Idempotency-Key, which never collides with the server’s keys', async () => {
    const merchant = await server.merchant();
    const key = 'shared-by-chance';
    const order = { amount: 500_000, terminal: store.terminalId };
    const byServer = await merchant.post('/payment_intents', order, key);
    const byCashier = await device.post('/payment_intents', { amount: 500_000 }, key);
    assert.equal(byServer.status, 201);
    assert.equal(byCashier.status, 201);
    assert.notEqual(byCashier.body.id, byServer.body.id);
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ amount: 1 });
    const without = await device.send('POST', '/payment_intents', { headers, body });
    assert.equal(errorCodeOf(without.body), 'idempotency_key_required');
  });

  test('splits a bill: every part is a separate payment and carries the group', async () => {
    const { pass: one } = await addPayer(store);
    const { pass: two } = await addPayer(store);
    const parts: string[] = [];
    for (const pass of [one, two]) {
      const order = { amount: 1_500_000, split_group: 'table-7' };
      const { body } = await device.post('/payment_intents', order);
      assert.equal(body.split_group, 'table-7');
      const paid = await tap(device, String(body.id), pass);
      parts.push(String(paid.body.payment));
    }
    const { body } = await device.get('/payments?limit=2');
    const shown = body.data as { id: string; split_group: string }[];
    assert.deepEqual(
      shown.map(({ id, split_group: group }) => [id, group]),
      parts.reverse().map((id) => [id, 'table-7']),
    );
  });

  test('lists the refunds of a payment of the merchant', async () => {
    const { pass } = await addPayer(store);
    const paid = await tap(device, await addIntent(store), pass);
    const payment = String(paid.body.payment);
    const shown = async () => (await device.get(`/refunds?payment=${payment}`)).body.data;
    assert.deepEqual(await shown(), []);
    // In this test, no chain executes refunds, so the request stays pending.
    device.post('/refunds', { payment, amount: 1_000_000 }).catch(() => {});
    let refunds: unknown = [];
    while ((refunds as []).length === 0) refunds = await shown();
    const [{ amount, status, line_items: lines } = {}] = refunds as Record<string, unknown>[];
    assert.deepEqual([amount, status, lines], [1_000_000, 'pending', null]);
    assert.equal(errorCodeOf((await device.get('/refunds')).body), 'parameter_missing');
  });

  test('refunds a payment of this terminal, and of another one by a manager’s code', async () => {
    const { pass } = await addPayer(store);
    const intentId = await addIntent(store);
    const paid = await tap(device, intentId, pass);
    const refund = { payment: paid.body.payment, amount: 1_000_000 };
    const { caller } = await otherTerminal();
    const foreign = await caller.post('/refunds', refund);
    assert.equal(foreign.status, 403);
    assert.equal(errorCodeOf(foreign.body), 'manager_required');
    const actor = { type: 'system', name: 'test' } as const;
    const { tenant } = store.merchant;
    const { code } = await store.db.transaction((tx) =>
      createManagerCode(tx, { tenant, actor, now: new Date() }),
    );
    const part = { ...refund, amount: 1, manager_code: code.toLowerCase() };
    // In this test, no chain executes refunds, so the request stays pending.
    caller.post('/refunds', part).catch(() => {});
    const used = async () => store.db.query('select from manager_codes where used_at is not null');
    while ((await used()).length === 0) await sleep(10);
    const again = await caller.post('/refunds', part);
    assert.equal(errorCodeOf(again.body), 'manager_required');
    const { code: late } = await store.db.transaction((tx) =>
      createManagerCode(tx, { tenant, actor, now: new Date(Date.now() - 11 * 60_000) }),
    );
    const tooLate = { ...refund, amount: 1, manager_code: late };
    assert.equal(errorCodeOf((await caller.post('/refunds', tooLate)).body), 'manager_required');
    const wrong = { ...refund, manager_code: 'AAAA-AAAA' };
    for (let i = 0; i < 8; i++) await caller.post('/refunds', wrong);
    assert.equal((await caller.post('/refunds', wrong)).status, 429);
    const own = device.post('/refunds', refund);
    const asked = async () =>
      store.db.query<{ source: string; amount: bigint }>(
        'select source, amount from refunds where payment_id = $1',
        [paid.body.payment],
      );
    while ((await asked()).length === 0) await sleep(10);
    while ((await asked()).length === 1) await sleep(10);
    assert.deepEqual((await asked()).map(({ amount }) => amount).sort(), [1n, 1_000_000n]);
    // In this test, no chain executes refunds, so the request stays pending.
    own.catch(() => {});
  });
});

describe('a sale can be looked up at any till', () => {
  test('by its receipt, its QR code, or order and amount, without its payer', async () => {
    const { pass } = await addPayer(store);
    const paid = await tap(device, await addIntent(store), pass);
    const list = await device.get('/payments?limit=1');
    const [own] = list.body.data as Record<string, string>[];
    assert.equal(own?.id, paid.body.payment);
    const { caller } = await otherTerminal();
    const find = async (query: string) => {
      const { body, status } = await caller.get(`/payments?${query}`);
      assert.equal(status, 200, query);
      return body.data as Record<string, unknown>[];
    };
    const queries = [
      `receipt=${own?.receipt_number}&amount=${own?.amount}`,
      `receipt=${own?.receipt_number?.toLowerCase()}&amount=${own?.amount}`,
      `receipt=${encodeURIComponent(own?.receipt_url ?? '')}`,
      `order_id=${own?.order_id}&amount=${own?.amount}`,
    ];
    for (const query of queries) {
      const [result] = await find(query);
      assert.deepEqual([result?.id, result?.payer], [own?.id, undefined], query);
    }
    assert.deepEqual(await find(`order_id=${own?.order_id}&amount=1`), []);
    const odd = await tap(device, await addIntent(store, { amount: 2_005_001 }), pass);
    const { body } = await device.get(`/payment_intents/${odd.body.id}`);
    for (const [amount, count] of [
      [2_010_000, 1],
      [2_005_001, 1],
      [2_005_002, 0],
      [2_000_000, 0],
    ] as const) {
      const shown = await find(`order_id=${body.order_id}&amount=${amount}`);
      assert.equal(shown.length, count, String(amount));
    }
    const alone = await caller.get(`/payments?order_id=${own?.order_id}`);
    assert.equal(errorCodeOf(alone.body), 'parameter_missing');
  });

  test('a terminal that tries receipt numbers in sequence finds only its own sales', async () => {
    const { pass } = await addPayer(store);
    const paid = await tap(device, await addIntent(store), pass);
    const { body: list } = await device.get('/payments?limit=1');
    const [own] = list.data as Record<string, string>[];
    assert.equal(own?.id, paid.body.payment);
    const { caller } = await otherTerminal();
    const [prefix, last] = (own?.receipt_number ?? '').split('-');
    const data = async (till: typeof caller, query: string) =>
      (await till.get(`/payments?${query}`)).body.data as { id: string }[];
    for (let n = Math.max(1, Number(last) - 3); n <= Number(last); n += 1) {
      assert.deepEqual(await data(caller, `receipt=${prefix}-${n}`), [], `${prefix}-${n}`);
    }
    const wrong = `receipt=${own?.receipt_number}&amount=${Number(own?.amount) + 1}`;
    assert.deepEqual(await data(caller, wrong), []);
    const result = await data(device, `receipt=${own?.receipt_number}`);
    assert.deepEqual(
      result.map(({ id }) => id),
      [own?.id],
      'its own without an amount',
    );
    const both = await caller.get(`/payments?receipt=${own?.receipt_number}&order_id=a&amount=1`);
    assert.equal(errorCodeOf(both.body), 'parameter_invalid');
    for (let miss = 0; miss < 10; miss += 1) await data(caller, `receipt=${own?.receipt_number}`);
    const held = await caller.get(`/payments?receipt=${own?.receipt_number}`);
    assert.equal(held.status, 429, 'each failed look-up counts as a miss');
  });

  test('but not by another merchant, and only ten misses an hour are allowed', async () => {
    const { pass } = await addPayer(store);
    await tap(device, await addIntent(store), pass);
    const list = await device.get('/payments?limit=1');
    const [own] = list.body.data as Record<string, string>[];
    const now = new Date();
    const { deviceKey } = await addTerminal(store.db, await addMerchant(store.db, { now }), now);
    const stranger = server.device(deviceKey);
    for (let i = 0; i < 5; i++) {
      const url = encodeURIComponent(own?.receipt_url ?? '');
      const byNumber = await stranger.get(`/payments?receipt=${own?.receipt_number}`);
      const byCode = await stranger.get(`/payments?receipt=${url}`);
      assert.deepEqual([byNumber.body.data, byCode.body.data], [[], []]);
    }
    const eleventh = await stranger.get(`/payments?receipt=${own?.receipt_number}`);
    assert.equal(eleventh.status, 429);
    assert.equal((await device.get(`/payments?receipt=${own?.receipt_number}`)).status, 200);
  });
});

describe('a tap', () => {
  test('that is not a pass at all is a bad request, not a decline', async () => {
    const intentId = await addIntent(store);
    const bad = [
      { credential: { type: 'nfc_id', value: 'agt_something' } },
      { credential: { type: 'card', value: 'nfc_something' } },
      { credential: 'nfc_something' },
      {},
      { credential: { type: 'nfc_id', value: 'nfc_x', pin: '1234' } },
    ];
    for (const body of bad) {
      const answer = await device.post(`/payment_intents/${intentId}/tap`, body);
      assert.equal(answer.status, 400, JSON.stringify(body));
    }
    const { body } = await device.get(`/payment_intents/${intentId}`);
    assert.equal(body.last_payment_error, null);
    assert.equal(body.tapped_at, null);
  });

  test('of an unknown chip is a decline that the merchant can see', async () => {
    const intentId = await addIntent(store);
    const { status, body } = await tap(device, intentId, 'nfc_4BCDEF0123');
    assert.equal(status, 200);
    assert.equal(declineCodeOf(body), 'pass_unknown');
    assert.notEqual(body.tapped_at, null);
  });
});

describe('on any node', () => {
  test('two thousand terminals wait: the one with work is notified in under 50 ms', async () => {
    const db = openDatabase({ url: store.database.url, maxConnections: 4 });
    const [here, there] = [await connectWakeups(store.db), await connectWakeups(db)];
    const now = new Date();
    const work = await addTerminal(store.db, store.merchant, now);
    const polls = terminalPolls({ db, wakeups: there, clock: store.clock });
    const client = new AbortController();
    const wait = (terminalId: string) =>
      polls.wait(terminalId, {
        accept: (intent) => intent !== undefined,
        waitMs: 20_000,
        gone: client.signal,
      });
    const others = Array.from({ length: 1_999 }, (_, index) => wait(`tml_nobody${index}`));
    const create = intentMaker({ ...store, ctx: { ...store.ctx, wakeups: here } });
    const delays: number[] = [];
    for (let i = 0; i < 10; i++) {
      const waiting = wait(work.terminalId).then((intent) => ({ intent, at: performance.now() }));
      await sleep(60);
      const intentId = await create({ ...store, terminalId: work.terminalId });
      const created = performance.now();
      const { intent, at } = await waiting;
      assert.equal(intent?.id, intentId);
      delays.push(at - created);
      await store.db.query(
        `update payment_intents set status = 'canceled', canceled_at = now(),
           cancellation_reason = 'requested_by_merchant' where id = $1`,
        [intentId],
      );
    }
    client.abort();
    await Promise.all(others);
    await Promise.all([here.close(), there.close()]);
    await db.close();
    const median = delays.sort((a, b) => a - b)[5] ?? 0;
    assert.ok(median < 50, `median ${median.toFixed(1)} ms of ${delays.map(Math.round)}`);
  });

  test('a payment at one node ends the wait at another', async () => {
    const db = openDatabase({ url: store.database.url, maxConnections: 2 });
    const [here, there] = [await connectWakeups(store.db), await connectWakeups(db)];
    const intents = intentPolls({ db, wakeups: there });
    const intentId = await addIntent(store);
    const waiting = intents.wait(intentId, {
      accept: (intent) => intent?.status === 'succeeded',
      waitMs: 10_000,
    });
    const { pass } = await addPayer(store);
    assert.equal((await tap(device, intentId, pass)).body.status, 'succeeded');
    here.send('intent', intentId);
    assert.equal((await waiting)?.status, 'succeeded');
    await Promise.all([here.close(), there.close()]);
    await db.close();
  });
});
