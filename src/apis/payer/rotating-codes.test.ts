import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Secret } from 'otpauth';
import { codeOf, rotatingValue, STEP_MS, stepAt } from '#payers/check-rotating-code.ts';
import type { PreflightResult } from '#payments/assess-payment.ts';
import { endCredentials } from '#recovery/end-credentials.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import type { StoreServer } from '#testkit/apis/store-server.ts';
import { openTwoNodes, type Presenting, type TwoNodes } from '#testkit/apis/two-nodes.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { addIntent, addPayer, type TestStore } from '#testkit/fixtures/payments/store.ts';

const MINUTES_MS = 60_000;

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

interface Phone {
  readonly me: Caller;
  readonly passId: string;
  /** Returns the code that the phone shows this many time steps from now. */
  shows(steps?: number): string;
}

async function newPhone(): Promise<Phone> {
  const { me } = await server.signIn();
  const passId = String((await me.post('/passes', { label: 'Phone' })).body.id);
  const { status, body } = await me.post(`/passes/${passId}/rotating_key`);
  assert.equal(status, 201, JSON.stringify(body));
  const { key, ...shape } = body;
  assert.deepEqual(shape, { pass: passId, algorithm: 'SHA1', digits: 8, period: 30 });
  const bytes = Buffer.from(Secret.fromBase32(String(key)).bytes);
  const shows = (steps = 0) => rotatingValue(passId, codeOf(bytes, stepAt(clock.now()) + steps));
  return { me, passId, shows };
}

const rotating = (value: string) => ({ type: 'rotating_code', value });
const outcome = (value: string, at?: Presenting) => network.outcome(rotating(value), at);

/** Returns a code that is wrong for this time step and the two on either side. */
const wrongOf = ({ passId, shows }: Phone) => {
  const near = [-2, -1, 0, 1, 2].map((steps) => shows(steps));
  const guesses = Array.from({ length: 9 }, (_, i) => rotatingValue(passId, `0000000${i}`));
  return guesses.find((guess) => !near.includes(guess)) ?? '';
};

test('codes match the test vectors of RFC 6238, appendix B', () => {
  const key = Buffer.from('12345678901234567890');
  const table = [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ] as const;
  for (const [seconds, code] of table) {
    assert.equal(codeOf(key, stepAt(new Date(seconds * 1000))), code);
  }
});

describe('a rotating code', () => {
  test('pays once; the payment names the method; the next step pays again', async () => {
    const phone = await newPhone();
    const intentId = await addIntent(store);
    const shown = phone.shows();
    assert.equal(await outcome(shown, { intentId }), 'succeeded');
    const method = { type: 'wallet_pass', credential: 'rotating_code' };
    assert.deepEqual(await network.methodOf(intentId), method);
    assert.equal(await outcome(shown), 'pass_code_used');
    clock.advance(STEP_MS);
    assert.equal(await outcome(shown), 'pass_code_used');
    assert.equal(await outcome(phone.shows()), 'succeeded');
  });

  test('sent by six tills concurrently over two nodes pays one of six intents', async () => {
    const outcomes = await network.race(rotating((await newPhone()).shows()), 6);
    assert.deepEqual(outcomes, { succeeded: 1, pass_code_used: 5 });
  });

  test('is valid for its step and the next one, in real time', async () => {
    const phone = await newPhone();
    const merchant = await server.merchant();
    await merchant.post('/test_helpers/clock/advance', { seconds: 3_600 });
    assert.equal(await outcome(phone.shows(-2)), 'pass_code_expired');
    assert.equal(await outcome(phone.shows(1)), 'pass_code_expired', 'not yet');
    assert.equal(await outcome(phone.shows(-1)), 'succeeded');
  });

  test('is consumed by a decline, but not by a refusal or a 503', async () => {
    const phone = await newPhone();
    preflight = 'unavailable';
    assert.equal(await outcome(phone.shows()), 'service_unavailable');
    const intentId = await addIntent(store);
    await server.device().post(`/payment_intents/${intentId}/cancel`);
    assert.equal(await outcome(phone.shows(), { intentId }), 'payment_intent_unexpected_state');
    preflight = { ok: false, decline: 'insufficient_funds' };
    assert.equal(await outcome(phone.shows()), 'insufficient_funds');
    preflight = { ok: true };
    assert.equal(await outcome(phone.shows()), 'pass_code_used');
  });

  test('five wrong ones in ten minutes block a pass for ten, on each node', async () => {
    const phone = await newPhone();
    const other = await newPhone();
    const guess = wrongOf(phone);
    for (let i = 0; i < 4; i++) assert.equal(await outcome(guess), 'pass_code_expired');
    assert.equal(await outcome(phone.shows(), { node: 1 }), 'succeeded', 'four are tolerated');
    assert.equal(await outcome(guess, { node: 1 }), 'pass_code_expired');
    clock.advance(STEP_MS);
    assert.equal(await outcome(phone.shows()), 'pass_code_expired', 'blocked');
    assert.equal(await outcome(phone.shows(), { node: 1 }), 'pass_code_expired');
    assert.equal(await outcome(other.shows()), 'succeeded', 'another pass is not');
    clock.advance(10 * MINUTES_MS);
    assert.equal(await outcome(phone.shows()), 'succeeded');
  });

  test('wrong ones that arrive concurrently over two nodes are all counted', async () => {
    const phone = await newPhone();
    await network.race(rotating(wrongOf(phone)), 5);
    assert.equal(await outcome(phone.shows()), 'pass_code_expired');
  });

  test('wrong ones with more time between them block nothing', async () => {
    const phone = await newPhone();
    const guess = wrongOf(phone);
    for (let i = 0; i < 6; i++) {
      assert.equal(await outcome(guess), 'pass_code_expired');
      clock.advance(2.5 * MINUTES_MS);
    }
    assert.equal(await outcome(phone.shows()), 'succeeded');
  });

  test('of an unknown pass, or in another form, is refused', async () => {
    assert.equal(await outcome('pass_0000000000000000000000.12345678'), 'pass_unknown');
    for (const value of ['12345678', 'pass_1.1234567', 'pass_1.123456789', 'card_1.12345678']) {
      assert.equal(await outcome(value), 'parameter_invalid', value);
    }
  });

  test('ends with its pass and with another key, which only its owner creates', async () => {
    const [mine, other] = [await newPhone(), await newPhone()];
    const path = `/passes/${mine.passId}/rotating_key`;
    assert.equal((await other.me.post(path)).status, 404);
    const before = mine.shows();
    assert.equal((await mine.me.post(path)).status, 201);
    assert.equal(await outcome(before), 'pass_code_expired');
    await other.me.send('DELETE', `/passes/${other.passId}`);
    assert.equal(await outcome(other.shows()), 'pass_revoked');
    assert.equal((await other.me.post(`/passes/${other.passId}/rotating_key`)).status, 409);
  });

  test('of the time that the database has lost is refused, and the next one is not', async () => {
    const phone = await newPhone();
    clock.advance(STEP_MS);
    const lost = phone.shows();
    const now = clock.now();
    await addPayer(store, { livemode: true });
    const end = (livemode: boolean) =>
      store.db.transaction((tx) => endCredentials(tx, { livemode, before: now, now }));
    assert.deepEqual(await end(true), {}, 'the other network has none');
    assert.ok(((await end(false))['rotating codes of passes'] ?? 0) >= 1);
    assert.equal(await outcome(lost), 'pass_code_expired');
    clock.advance(STEP_MS);
    assert.equal(await outcome(phone.shows()), 'succeeded');
  });

  test('is simulated by test mode, for passes of the test network', async () => {
    const { me } = await newPhone();
    const passId = String((await me.post('/passes', {})).body.id);
    const merchant = await server.merchant();
    const path = `/test_helpers/passes/${passId}/rotating_code`;
    const other = await network.other.merchant();
    const askers = [merchant, other, merchant, other, merchant, other];
    const answers = await Promise.all(askers.map((one) => one.post(path)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
    const values = new Set(answers.map(({ body: { value } }) => value));
    assert.equal(values.size, 1, 'one code per step, also of a key that is created now');
    const [value] = values;
    assert.equal(await outcome(String(value)), 'succeeded');
    const missing = await merchant.post('/test_helpers/passes/pass_1/rotating_code');
    assert.equal(missing.status, 404);
    const payer = await server.signIn({ chainId: 31_338 });
    const live = String((await payer.me.post('/passes', {})).body.id);
    const refused = await merchant.post(`/test_helpers/passes/${live}/rotating_code`);
    assert.equal(refused.status, 404, 'a pass of the live network');
  });

  test('is stored as an encrypted key only', async () => {
    const { passId, shows } = await newPhone();
    const [row] = await store.db.query<{ row: string; key: Buffer }>(
      'select r::text as row, key from rotating_keys r where pass_id = $1',
      [passId],
    );
    assert.equal(row?.row.includes(shows().slice(-8)), false);
    assert.ok((row?.key.length ?? 0) > 40);
  });
});
