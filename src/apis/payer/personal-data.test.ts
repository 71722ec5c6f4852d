import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { tap } from '#testkit/apis/tap.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { findText } from '#testkit/fixtures/db/find-text.ts';
import { keepSettling, type TestStore } from '#testkit/fixtures/payments/store.ts';

let clock: FakeClock;
let store: TestStore;
let server: StoreServer;

before(async () => {
  clock = new FakeClock(new Date('2026-10-01T12:00:00.000Z'));
  ({ store, server } = await openServedStore({ clock }));
});

after(() => server.close());

async function equipped() {
  const { account: wallet, token, me: payer } = await server.signIn();
  const pass = await payer.post('/passes', { label: 'Ring of Paula Payer' });
  const account = store.merchant.tenant.accountId;
  const agent = await payer.post('/agent_tokens', { account, amount: 70_000, expires_in: 3600 });
  await payer.patch('/limits', { per_day: 123_456_789 });
  return { wallet, token, payer, nfcId: String(pass.body.nfc_id), agentToken: agent.body };
}

async function newIntent(): Promise<string> {
  const { status, body } = await server.device().post('/payment_intents', { amount: 2_500_000 });
  assert.equal(status, 201, JSON.stringify(body));
  return String(body.id);
}

async function tapWith(nfcId: string, intentId?: string) {
  const id = intentId ?? (await newIntent());
  return tap(server.device(), id, nfcId);
}

test('the export holds the data stored about a payer, and no credential', async () => {
  const { payer, wallet, nfcId, agentToken, token } = await equipped();
  const { status, body } = await payer.post('/me/export');
  assert.equal(status, 200, JSON.stringify(body));
  const text = JSON.stringify(body);
  for (const part of [wallet.address, 'Ring of Paula', '123456789', String(agentToken.id)]) {
    assert.ok(text.includes(part), part);
  }
  for (const secret of [nfcId, token, String(agentToken.agent_token)]) {
    assert.ok(!text.includes(secret), 'a credential is in the export');
  }
});

test('export and erasure need a sign-in of the last five minutes', async () => {
  const { payer } = await equipped();
  clock.advance(300_000);
  for (const path of ['/me/export', '/me/erase']) {
    const { status, body } = await payer.post(path);
    assert.equal(status, 403, JSON.stringify(body));
  }
  assert.equal((await payer.get('/me')).status, 200);
});

test('an erased payer leaves wallet and id in text columns, and no way to pay', async () => {
  const { payer, wallet, nfcId, token, agentToken } = await equipped();
  const { me: other } = await server.signIn({ account: wallet });
  const settling = keepSettling(store);
  const paid = await tapWith(nfcId);
  await settling.stop();
  assert.equal(paid.status, 200, JSON.stringify(paid.body));
  assert.deepEqual(await findText(store.db, 'Ring of Paula'), ['passes.label']);
  const { body: me } = await payer.get('/me');
  // Deletes the passes of this test's other payers, because they have the same label.
  await store.db.query('delete from passes where payer_id <> $1', [String(me.id)]);
  assert.equal((await payer.post('/me/erase')).status, 204);
  assert.deepEqual(await findText(store.db, 'Ring of Paula'), []);
  assert.deepEqual(await findText(store.db, String(agentToken.id)), []);
  assert.equal((await payer.get('/me')).status, 401);
  assert.equal((await other.get('/me')).status, 401, 'every session has ended');
  const declined = await tapWith(nfcId);
  assert.match(JSON.stringify(declined.body), /pass_unknown/);
  assert.equal((await server.payer(token).get('/me')).status, 401);
});

test('a payment in progress is kept; a returning wallet has no data, but its block', async () => {
  const { payer, wallet, nfcId } = await equipped();
  const { body: me } = await payer.get('/me');
  const id = await newIntent();
  const tapped = tapWith(nfcId, id);
  const status = async () => (await server.device().get(`/payment_intents/${id}`)).body.status;
  while ((await status()) !== 'processing') await sleep(20);
  await store.db.query('update payers set blocked_at = $2 where id = $1', [me.id, clock.now()]);
  assert.equal((await payer.post('/me/erase')).status, 204);
  const settling = keepSettling(store);
  assert.equal((await tapped).body.status, 'succeeded');
  await settling.stop();
  const { me: back } = await server.signIn({ account: wallet });
  const { body } = await back.get('/me');
  assert.deepEqual([body.id, body.status], [me.id, 'blocked']);
  assert.equal((body.limits as { per_day: unknown }).per_day, null);
  assert.deepEqual((await back.get('/passes')).body.data, []);
});

/** Creates a payment that waits for its payer's approval. */
async function asked(nfcId: string, payerId: unknown): Promise<string> {
  await store.db.query('update payers set confirm_first_payment = true where id = $1', [payerId]);
  const id = await newIntent();
  const tapped = await tapWith(nfcId, id);
  assert.equal(tapped.body.status, 'requires_action', JSON.stringify(tapped.body));
  return id;
}

test('a payer who erased all data, or was blocked, before approving is declined', async () => {
  const erased = await equipped();
  const first = await asked(erased.nfcId, (await erased.payer.get('/me')).body.id);
  assert.equal((await erased.payer.post('/me/erase')).status, 204);
  const { me: back } = await server.signIn({ account: erased.wallet });
  const yes = await back.post(`/confirmations/${first}/approve`);
  assert.equal(yes.status, 200, JSON.stringify(yes.body));
  assert.deepEqual(
    [yes.body.status, yes.body.decline_code],
    ['requires_payment_method', 'pass_revoked'],
  );

  const blocked = await equipped();
  const { body: me } = await blocked.payer.get('/me');
  const second = await asked(blocked.nfcId, me.id);
  await store.db.query('update payers set blocked_at = $2 where id = $1', [me.id, clock.now()]);
  const no = await blocked.payer.post(`/confirmations/${second}/approve`);
  assert.equal(no.status, 200, JSON.stringify(no.body));
  assert.deepEqual(
    [no.body.status, no.body.decline_code],
    ['requires_payment_method', 'risk_blocked'],
  );
});

test('a long poll for a job on the chain ends once its payer is erased', async () => {
  const { payer } = await equipped();
  const { body: me } = await payer.get('/me');
  const waiting = payer.post('/faucet', {});
  const count = async () => {
    const sql = 'select id from payer_requests where payer_id = $1';
    return (await store.db.query(sql, [me.id])).length;
  };
  while ((await count()) === 0) await sleep(20);
  assert.equal((await payer.post('/me/erase')).status, 204);
  const answer = await waiting;
  assert.equal(answer.status, 404, JSON.stringify(answer.body));
});
