import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '#testkit/apis/api-client.ts';
import { declineCodeOf, errorCodeOf } from '#testkit/apis/error-code.ts';
import { openServedStore, type SignedIn, type StoreServer } from '#testkit/apis/store-server.ts';
import { tap as tapAt } from '#testkit/apis/tap.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { addIntent, type TestStore } from '#testkit/fixtures/payments/store.ts';

let store: TestStore;
let server: StoreServer;
let device: Caller;
let merchant: Caller;

before(async () => {
  ({ store, server, device } = await openServedStore({ settles: true }));
  merchant = await server.merchant();
});

after(() => server.close());

const tap = async (intentId: string, pass: unknown) =>
  (await tapAt(device, intentId, String(pass))).body;

describe('a pass', () => {
  test('is shown once, stored as a hash, and pays', async () => {
    const { me } = await server.signIn();
    const created = await me.post('/passes', { label: 'Phone' });
    assert.equal(created.status, 201);
    const secret = String(created.body.nfc_id);
    assert.match(secret, /^nfc_/);
    const listed = await me.get('/passes');
    assert.ok(!JSON.stringify(listed.body).includes(secret));
    const stored = await store.db.query<{ row: string }>('select passes::text as row from passes');
    assert.ok(stored.every(({ row }) => !row.includes(secret)));
    assert.equal((await tap(await addIntent(store), secret)).status, 'succeeded');
  });

  test('that is revoked pays nothing from that moment on; the others still pay', async () => {
    const { me } = await server.signIn();
    const lost = (await me.post('/passes', { label: 'Lost' })).body;
    const kept = (await me.post('/passes', { label: 'Kept' })).body;
    const revoked = await me.send('DELETE', `/passes/${lost.id}`);
    assert.equal(revoked.body.status, 'revoked');
    const intentId = await addIntent(store);
    assert.equal(declineCodeOf(await tap(intentId, lost.nfc_id)), 'pass_revoked');
    assert.equal((await tap(intentId, kept.nfc_id)).status, 'succeeded');
  });

  test('of another payer can be neither seen nor revoked', async () => {
    const one = await server.signIn();
    const two = await server.signIn();
    const pass = (await one.me.post('/passes', {})).body;
    assert.equal((await two.me.send('DELETE', `/passes/${pass.id}`)).status, 404);
    assert.deepEqual((await two.me.get('/passes')).body.data, []);
    assert.equal((await tap(await addIntent(store), pass.nfc_id)).status, 'succeeded');
  });

  test('is refused if the payer has sixteen already; revoking one makes room', async () => {
    const { me } = await server.signIn();
    const all = Array.from({ length: 20 }, () => me.post('/passes', {}));
    const answers = await Promise.all(all);
    const created = answers.filter(({ status }) => status === 201);
    assert.equal(created.length, 16);
    await me.send('DELETE', `/passes/${created[0]?.body.id}`);
    assert.equal((await me.post('/passes', {})).status, 201);
  });
});

describe('limits', () => {
  test('are set, kept if omitted, and removed with null', async () => {
    const { me } = await server.signIn();
    await me.patch('/limits', { per_payment: 1_000_000, per_day: 5_000_000 });
    const changed = await me.patch('/limits', { per_day: null, confirm_first_payment: true });
    assert.deepEqual(changed.body.limits, {
      per_payment: 1_000_000,
      per_day: null,
      confirm_first_payment: true,
    });
    for (const wrong of [{ per_payment: 0 }, { per_payment: '5' }, { per_day: 1.5 }]) {
      assert.equal((await me.patch('/limits', wrong)).status, 400);
    }
  });

  test('apply from the next tap on', async () => {
    const { me } = await server.signIn();
    const pass = (await me.post('/passes', {})).body;
    const intentId = await addIntent(store, { amount: 2_000_000 });
    await me.patch('/limits', { per_payment: 1_999_999 });
    assert.equal(declineCodeOf(await tap(intentId, pass.nfc_id)), 'limit_exceeded');
    await me.patch('/limits', { per_payment: 2_000_000 });
    assert.equal((await tap(intentId, pass.nfc_id)).status, 'succeeded');
  });
});

describe('a confirmation', () => {
  async function asked(payer: SignedIn): Promise<string> {
    const pass = (await payer.me.post('/passes', {})).body;
    const intentId = await addIntent(store, { amount: 60_000_000 });
    assert.equal((await tap(intentId, pass.nfc_id)).status, 'requires_action');
    return intentId;
  }

  test('reaches the waiting app while it polls, with merchant and amount', async () => {
    const payer = await server.signIn();
    const polling = payer.me.get('/confirmations?wait=20');
    await sleep(50);
    const intentId = await asked(payer);
    const tapped = performance.now();
    const [shown, ...more] = (await polling).body.data as Record<string, unknown>[];
    assert.ok(performance.now() - tapped < 500);
    assert.equal(more.length, 0);
    assert.equal(shown?.payment_intent, intentId);
    assert.equal(shown?.merchant_name, 'Corner Shop');
    assert.equal(shown?.amount, 60_000_000);
    assert.equal(shown?.reason_code, 'FIRST_MERCHANT_PAYMENT');
  });

  test('that the app already shows does not end its long poll', async () => {
    const payer = await server.signIn();
    const intentId = await asked(payer);
    const known = payer.me.get(`/confirmations?wait=20&known=${intentId}`);
    const first = await Promise.race([known, sleep(300)]);
    assert.equal(first, undefined);
    await payer.me.post(`/confirmations/${intentId}/reject`);
    assert.deepEqual((await known).body.data, []);
  });

  test('that is approved pays; the waiting terminal is notified', async () => {
    const payer = await server.signIn();
    const intentId = await asked(payer);
    const path = `/payment_intents/${intentId}?wait=20&status=requires_action`;
    const watching = device.get(path);
    const { body } = await payer.me.post(`/confirmations/${intentId}/approve`);
    assert.equal(body.status, 'succeeded');
    assert.match(String(body.payment), /^pay_/);
    assert.notEqual((await watching).body.status, 'requires_action');
  });

  test('that is rejected declines, and another payer can pay the intent', async () => {
    const payer = await server.signIn();
    const intentId = await asked(payer);
    const { body } = await payer.me.post(`/confirmations/${intentId}/reject`);
    assert.equal(body.decline_code, 'payer_rejected');
    assert.equal(body.status, 'requires_payment_method');
  });

  test('that the merchant cancels shows as canceled, and can no longer be approved', async () => {
    const payer = await server.signIn();
    const intentId = await asked(payer);
    const waiting = payer.me.get(`/confirmations?wait=20&known=${intentId}`);
    const canceled = await merchant.post(`/payment_intents/${intentId}/cancel`);
    assert.equal(canceled.body.status, 'canceled');
    assert.deepEqual((await waiting).body.data, []);
    const { status, body } = await payer.me.get(`/confirmations/${intentId}`);
    assert.equal(status, 200);
    assert.equal(body.status, 'canceled');
    assert.equal(body.amount, 60_000_000);
    assert.equal((await payer.me.post(`/confirmations/${intentId}/approve`)).status, 404);
    assert.equal((await payer.me.get(`/confirmations/${intentId}`)).body.status, 'canceled');
    const other = await server.signIn();
    assert.equal((await other.me.get(`/confirmations/${intentId}`)).status, 404);
  });

  test('of another payer is not found', async () => {
    const payer = await server.signIn();
    const intentId = await asked(payer);
    const other = await server.signIn();
    for (const verb of ['approve', 'reject']) {
      const { status } = await other.me.post(`/confirmations/${intentId}/${verb}`);
      assert.equal(status, 404);
    }
    assert.deepEqual((await other.me.get('/confirmations')).body.data, []);
  });
});

describe('an agent token', () => {
  async function mint(me: Caller, amount = 2_500_000) {
    const { accountId: account } = store.merchant.tenant;
    return (await me.post('/agent_tokens', { account, amount, expires_in: 600 })).body;
  }

  async function statusesOf(me: Caller): Promise<unknown[]> {
    const { body } = await me.get('/agent_tokens');
    return (body.data as { status: string }[]).map(({ status }) => status);
  }

  test('pays its merchant its amount, once, and is shown as spent', async () => {
    const { me } = await server.signIn();
    const { agent_token: token } = await mint(me);
    const intentId = await addIntent(store);
    const paid = await merchant.post(`/payment_intents/${intentId}/confirm`, {
      agent_token: token,
    });
    assert.equal(paid.status, 200);
    assert.equal(paid.body.status, 'succeeded');
    assert.equal(paid.body.tapped_at, null);
    assert.deepEqual(await statusesOf(me), ['spent']);
    const { body } = await merchant.get(`/payments/${paid.body.payment}`);
    assert.deepEqual(body.payment_method, { type: 'agent_token', credential: 'agent_token' });
  });

  test('is declined for another amount, and is not consumed by that', async () => {
    const { me } = await server.signIn();
    const { agent_token: token } = await mint(me, 1_000_000);
    const other = await addIntent(store, { amount: 1_000_001 });
    const wrong = await merchant.post(`/payment_intents/${other}/confirm`, { agent_token: token });
    assert.equal(declineCodeOf(wrong.body), 'agent_token_mismatch');
    const right = await addIntent(store, { amount: 1_000_000 });
    const paid = await merchant.post(`/payment_intents/${right}/confirm`, { agent_token: token });
    assert.equal(paid.body.status, 'succeeded');
  });

  test('that was revoked pays nothing', async () => {
    const { me } = await server.signIn();
    const { agent_token: token, id } = await mint(me);
    assert.equal((await me.send('DELETE', `/agent_tokens/${id}`)).body.status, 'revoked');
    const intentId = await addIntent(store);
    const { body } = await merchant.post(`/payment_intents/${intentId}/confirm`, {
      agent_token: token,
    });
    assert.equal(declineCodeOf(body), 'agent_token_expired');
  });

  test("waits for its payer's confirmation like a pass, and is held meanwhile", async () => {
    const { me } = await server.signIn();
    const { agent_token: token } = await mint(me, 70_000_000);
    const confirm = (intentId: string) =>
      merchant.post(`/payment_intents/${intentId}/confirm`, { agent_token: token });
    const first = await addIntent(store, { amount: 70_000_000 });
    const second = await addIntent(store, { amount: 70_000_000 });
    assert.equal((await confirm(first)).body.status, 'requires_action');
    assert.deepEqual(await statusesOf(me), ['held']);
    assert.equal(declineCodeOf((await confirm(second)).body), 'agent_token_used');
    await me.post(`/confirmations/${first}/reject`);
    assert.deepEqual(await statusesOf(me), ['active']);
    assert.equal((await confirm(second)).body.status, 'requires_action');
    assert.equal((await me.post(`/confirmations/${second}/approve`)).body.status, 'succeeded');
    assert.deepEqual(await statusesOf(me), ['spent']);
  });

  test('of another kind is a bad request', async () => {
    const { me } = await server.signIn();
    const pass = (await me.post('/passes', {})).body;
    const intentId = await addIntent(store);
    for (const token of [pass.nfc_id, 'agt_short', 'tlsk_test_x', '', 7]) {
      const { status, body } = await merchant.post(`/payment_intents/${intentId}/confirm`, {
        agent_token: token,
      });
      assert.equal(status, 400);
      assert.equal(errorCodeOf(body), 'parameter_invalid');
    }
  });

  test('cannot be minted for a missing merchant, or for too long', async () => {
    const { me } = await server.signIn();
    const { accountId: account } = store.merchant.tenant;
    const wrong = [
      { account: 'acct_0000000000000000000000', amount: 1, expires_in: 600 },
      { account, amount: 0, expires_in: 600 },
      { account, amount: 1, expires_in: 59 },
      { account, amount: 1, expires_in: 86_401 },
      { account, amount: 1 },
    ];
    for (const body of wrong) assert.equal((await me.post('/agent_tokens', body)).status, 400);
  });
});

describe('the history', () => {
  test('lists the payer’s own payments at all merchants, page by page, newest first', async () => {
    const { me } = await server.signIn();
    const pass = (await me.post('/passes', {})).body;
    const paid: unknown[] = [];
    for (let i = 0; i < 5; i++) {
      paid.unshift((await tap(await addIntent(store), pass.nfc_id)).payment);
    }
    const seen: unknown[] = [];
    let cursor: unknown = null;
    do {
      const query = cursor === null ? '' : `&cursor=${cursor}`;
      const { body } = await me.get(`/payments?limit=2${query}`);
      const data = body.data as { id: string; merchant_name: string }[];
      assert.ok(data.every((one) => one.merchant_name === 'Corner Shop'));
      seen.push(...data.map(({ id }) => id));
      cursor = body.next_cursor;
    } while (cursor !== null);
    assert.deepEqual(seen, paid);
  });

  test('of another payer cannot be paged with this one’s cursor', async () => {
    const one = await server.signIn();
    const pass = (await one.me.post('/passes', {})).body;
    for (let i = 0; i < 2; i++) await tap(await addIntent(store), pass.nfc_id);
    const { body } = await one.me.get('/payments?limit=1');
    const other = await server.signIn();
    const foreign = await other.me.get(`/payments?limit=1&cursor=${body.next_cursor}`);
    assert.equal(errorCodeOf(foreign.body), 'cursor_invalid');
  });
});

describe('the exchange rates', () => {
  test('are those that are still usable', async () => {
    const { me } = await server.signIn();
    assert.deepEqual((await me.get('/rates')).body.data, []);
    await putRates(store.db, { eur: '1.08' }, { now: new Date() });
    await putRates(store.db, { gbp: '1.27' }, { now: new Date('2026-01-01T12:00:00Z') });
    const { body } = await me.get('/rates');
    assert.deepEqual(body.data, [{ object: 'exchange_rate', currency: 'eur', rate: '1.08' }]);
  });
});
