import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newSecret } from '#core/bearer-secrets.ts';
import { FakeClock } from '#core/clock.ts';
import type { PreflightResult } from '#payments/assess-payment.ts';
import { endCredentials } from '#recovery/end-credentials.ts';
import type { Caller } from '#testing/api-client.ts';
import { errorCodeOf } from '#testing/error-code.ts';
import { addIntent, keepSettling, openStore, type TestStore } from '#testing/store.ts';
import { type StoreServer, serveStore } from '#testing/store-server.ts';
import { newWallet, signInWallet } from '#testing/wallet-sign-in.ts';

const clock = new FakeClock();
let preflight: PreflightResult = { ok: true };
let store: TestStore;
let nodes: [StoreServer, StoreServer];
let settling: { stop(): Promise<void> };

before(async () => {
  store = await openStore({ clock, preflight: async () => preflight });
  nodes = [await serveStore(store), await serveStore({ ...store, ctx: { ...store.ctx } })];
  settling = keepSettling(store);
});

after(async () => {
  await settling.stop();
  for (const node of nodes) await node.close();
  await store.close();
});

interface Owned {
  readonly me: Caller;
  readonly passId: string;
  code(): Promise<string>;
}

async function newPass(): Promise<Owned> {
  const me = nodes[0].payer(await signInWallet(nodes[0].url, newWallet(), { now: clock.now() }));
  const passId = String((await me.post('/passes', { label: 'Phone' })).body.id);
  const code = async () => {
    const { status, body } = await me.post(`/passes/${passId}/codes`);
    assert.equal(status, 201, JSON.stringify(body));
    return String(body.value);
  };
  return { me, passId, code };
}

async function outcome(
  value: string,
  options: { intentId?: string; node?: 0 | 1 } = {},
): Promise<string> {
  const intentId = options.intentId ?? (await addIntent(store));
  const credential = { type: 'qr', value };
  const path = `/payment_intents/${intentId}/tap`;
  const { body } = await nodes[options.node ?? 0].device().post(path, { credential });
  const declined = body.last_payment_error as { decline_code: string } | null;
  return errorCodeOf(body) ?? declined?.decline_code ?? String(body.status);
}

describe('a code of the wallet app', () => {
  test('pays once; the payment names the method; only its hash is stored', async () => {
    const { code } = await newPass();
    const value = await code();
    const intentId = await addIntent(store);
    assert.equal(await outcome(value, { intentId }), 'succeeded');
    const [payment] = await store.db.query<{ method_type: string; credential_type: string }>(
      'select method_type, credential_type from payments where payment_intent_id = $1',
      [intentId],
    );
    assert.deepEqual(payment, { method_type: 'wallet_pass', credential_type: 'qr' });
    assert.equal(await outcome(value), 'pass_code_used');
    const rows = await store.db.query<{ row: string }>('select c::text as row from pass_codes c');
    assert.ok(rows.every(({ row }) => !row.includes(value)));
  });

  test('sent 20 times concurrently over two nodes pays one of 20 intents', async () => {
    const { code } = await newPass();
    const value = await code();
    const intents = await Promise.all(Array.from({ length: 20 }, () => addIntent(store)));
    const outcomes = await Promise.all(
      intents.map((intentId, i) => outcome(value, { intentId, node: i % 2 === 0 ? 0 : 1 })),
    );
    assert.equal(outcomes.filter((one) => one === 'succeeded').length, 1, outcomes.join());
    assert.equal(outcomes.filter((one) => one === 'pass_code_used').length, 19, outcomes.join());
  });

  test('is valid for a minute of real time, which no test clock moves', async () => {
    const { me, passId, code } = await newPass();
    const { body } = await me.post(`/passes/${passId}/codes`);
    assert.equal(body.expires_at, new Date(clock.now().getTime() + 60_000).toISOString());
    const merchant = await nodes[0].merchant();
    await merchant.post('/test_helpers/clock/advance', { seconds: 3_600 });
    clock.advance(59_999);
    assert.equal(await outcome(String(body.value)), 'succeeded');
    const late = await code();
    clock.advance(60_000);
    assert.equal(await outcome(late), 'pass_code_expired');
    assert.equal(await outcome(late), 'pass_code_used');
  });

  test('that was made up is an unknown pass', async () => {
    assert.equal(await outcome(newSecret('passCode')), 'pass_unknown');
    assert.equal(await outcome('4006381333931'), 'pass_unknown');
  });

  test('is consumed by a decline, not by a refusal and not by a 503', async () => {
    const { code } = await newPass();
    const [declined, refused, unasked] = [await code(), await code(), await code()];
    preflight = { ok: false, decline: 'insufficient_funds' };
    assert.equal(await outcome(declined), 'insufficient_funds');
    preflight = 'unavailable';
    assert.equal(await outcome(unasked), 'service_unavailable');
    preflight = { ok: true };
    assert.equal(await outcome(declined), 'pass_code_used');
    assert.equal(await outcome(unasked), 'succeeded');
    const intentId = await addIntent(store);
    await nodes[0].device().post(`/payment_intents/${intentId}/cancel`);
    assert.equal(await outcome(refused, { intentId }), 'payment_intent_unexpected_state');
    assert.equal(await outcome(refused), 'succeeded');
  });

  test('needs its payer’s confirmation like the pass, and only once', async () => {
    const { me, code } = await newPass();
    const intentId = await addIntent(store, { amount: 50_000_000 });
    assert.equal(await outcome(await code(), { intentId }), 'requires_action');
    const { body } = await me.post(`/confirmations/${intentId}/approve`);
    assert.ok(['processing', 'succeeded'].includes(String(body.status)), JSON.stringify(body));
  });

  test('ends with its pass, and is created by its owner only', async () => {
    const [mine, other] = [await newPass(), await newPass()];
    const value = await mine.code();
    assert.equal((await other.me.post(`/passes/${mine.passId}/codes`)).status, 404);
    await mine.me.send('DELETE', `/passes/${mine.passId}`);
    assert.equal(await outcome(value), 'pass_revoked');
    assert.equal((await mine.me.post(`/passes/${mine.passId}/codes`)).status, 409);
  });

  test('ends if the database has lost data', async () => {
    const value = await (await newPass()).code();
    clock.advance(1);
    const ended = await store.db.transaction((tx) =>
      endCredentials(tx, { livemode: false, before: clock.now(), now: clock.now() }),
    );
    assert.equal(ended['codes of passes'], 1);
    assert.equal(await outcome(value), 'pass_code_expired');
  });

  test('is deleted a day after it expired', async () => {
    const { code } = await newPass();
    const value = await code();
    clock.advance(86_400_000 + 60_001);
    await (await newPass()).code();
    assert.equal(await outcome(value), 'pass_unknown');
  });
});
