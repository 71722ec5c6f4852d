import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { newSecret } from '#core/bearer-secrets.ts';
import type { PreflightResult } from '#payments/assess-payment.ts';
import { endCredentials } from '#recovery/end-credentials.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import type { StoreServer } from '#testkit/apis/store-server.ts';
import { openTwoNodes, type Presenting, type TwoNodes } from '#testkit/apis/two-nodes.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { addIntent, type TestStore } from '#testkit/fixtures/payments/store.ts';

const clock = new FakeClock();
let preflight: PreflightResult = { ok: true };
let network: TwoNodes;
let store: TestStore;
let server: StoreServer;

before(async () => {
  network = await openTwoNodes({ clock, preflight: async () => preflight });
  ({ store, server } = network);
});

after(() => network.close());

interface Owned {
  readonly me: Caller;
  readonly passId: string;
  code(): Promise<string>;
}

async function newPass(): Promise<Owned> {
  const { me } = await server.signIn();
  const passId = String((await me.post('/passes', { label: 'Phone' })).body.id);
  const code = async () => {
    const { status, body } = await me.post(`/passes/${passId}/codes`);
    assert.equal(status, 201, JSON.stringify(body));
    return String(body.value);
  };
  return { me, passId, code };
}

const outcome = (value: string, at?: Presenting) => network.outcome({ type: 'qr', value }, at);

describe('a code of the wallet app', () => {
  test('pays once; the payment names the method; only its hash is stored', async () => {
    const { code } = await newPass();
    const value = await code();
    const intentId = await addIntent(store);
    assert.equal(await outcome(value, { intentId }), 'succeeded');
    const method = { type: 'wallet_pass', credential: 'qr' };
    assert.deepEqual(await network.methodOf(intentId), method);
    assert.equal(await outcome(value), 'pass_code_used');
    const rows = await store.db.query<{ row: string }>('select c::text as row from pass_codes c');
    assert.ok(rows.every(({ row }) => !row.includes(value)));
  });

  test('sent 20 times concurrently over two nodes pays one of 20 intents', async () => {
    const { code } = await newPass();
    const outcomes = await network.race({ type: 'qr', value: await code() }, 20);
    assert.deepEqual(outcomes, { succeeded: 1, pass_code_used: 19 });
  });

  test('is valid for a minute of real time, which no test clock moves', async () => {
    const { me, passId, code } = await newPass();
    const { body } = await me.post(`/passes/${passId}/codes`);
    assert.equal(body.expires_at, new Date(clock.now().getTime() + 60_000).toISOString());
    const merchant = await server.merchant();
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
    await server.device().post(`/payment_intents/${intentId}/cancel`);
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
