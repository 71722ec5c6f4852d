import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { newSecret } from '#core/bearer-secrets.ts';
import { type PhoneKind, timeHead, writePhoneTap } from '#payers/phone-tap.ts';
import { endCredentials } from '#recovery/end-credentials.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import type { StoreServer } from '#testkit/apis/store-server.ts';
import { openTwoNodes, type Presenting, type TwoNodes } from '#testkit/apis/two-nodes.ts';
import { newWallet } from '#testkit/apis/wallet-sign-in.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { addIntent, addPayer, type TestStore } from '#testkit/fixtures/payments/store.ts';
import { smartTapValue, vasValue } from '../../../reader/src/protocols/read-tap.ts';

/** Number of bytes in a tap before the pass's value. */
const HEADS = { smart_tap: 33, apple_vas: 5 } as const;

const clock = new FakeClock();
let network: TwoNodes;
let store: TestStore;
let server: StoreServer;
let helpers: Caller;

before(async () => {
  network = await openTwoNodes({ clock });
  ({ store, server } = network);
  helpers = await server.merchant();
});

after(() => network.close());

async function newPass(account = newWallet()): Promise<{ me: Caller; passId: string }> {
  const { me } = await server.signIn({ account });
  return { me, passId: String((await me.post('/passes', { label: 'Phone' })).body.id) };
}

/** Returns the message that a phone with this pass would send to a reader now. */
async function tapOf(passId: string, kind: PhoneKind): Promise<string> {
  const { status, body } = await helpers.post(`/test_helpers/passes/${passId}/${kind}`);
  assert.equal(status, 201, JSON.stringify(body));
  return String(body.value);
}

/** Returns the pass's value in a tap, which follows the nonce or the time. */
const saidIn = (tap: string, kind: PhoneKind) =>
  Buffer.from(tap, 'base64url').subarray(HEADS[kind]);

interface Tapped extends Presenting {
  readonly kind: PhoneKind;
  readonly value: string;
}

const outcome = ({ kind: type, value, ...at }: Tapped) => network.outcome({ type, value }, at);

for (const kind of ['smart_tap', 'apple_vas'] as const) {
  describe(`a pass in a phone, read by ${kind}`, () => {
    test('pays once with each tap; its message is stored encrypted, or as a hash', async () => {
      const { passId } = await newPass();
      const value = await tapOf(passId, kind);
      const intentId = await addIntent(store);
      assert.equal(await outcome({ kind, value, intentId }), 'succeeded');
      const method = { type: 'wallet_pass', credential: kind };
      assert.deepEqual(await network.methodOf(intentId), method);
      assert.equal(await outcome({ kind, value }), 'pass_replayed');
      const next = await tapOf(passId, kind);
      assert.deepEqual(
        saidIn(next, kind),
        saidIn(value, kind),
        'the pass in the phone stays valid',
      );
      assert.equal(await outcome({ kind, value: next }), 'succeeded');
      const rows = await store.db.query<{ row: string }>(
        'select p::text as row from phone_passes p',
      );
      const said = saidIn(value, kind);
      const shapes = [said.toString(), said.toString('hex')];
      assert.ok(rows.every(({ row }) => shapes.every((shape) => !row.includes(shape))));
    });

    test('sent by 12 tills concurrently over two nodes pays one of 12 intents', async () => {
      const value = await tapOf((await newPass()).passId, kind);
      const outcomes = await network.race({ type: kind, value }, 12);
      assert.deepEqual(outcomes, { succeeded: 1, pass_replayed: 11 });
    });

    test('that was made up is unknown, and a broken one is refused without a decline', async () => {
      const head = kind === 'smart_tap' ? randomBytes(32) : timeHead(clock.now());
      const stranger = writePhoneTap(newSecret('smartTap'), head);
      assert.equal(await outcome({ kind, value: stranger }), 'pass_unknown');
      const good = await tapOf((await newPass()).passId, kind);
      const bytes = Buffer.from(good, 'base64url');
      const otherFormat = Buffer.concat([Buffer.from([2]), bytes.subarray(1)]);
      const broken = [
        `${good}=`,
        `${good}!`,
        otherFormat.toString('base64url'),
        bytes.subarray(0, HEADS[kind]).toString('base64url'),
        'AQ',
      ];
      for (const value of broken) {
        assert.equal(await outcome({ kind, value }), 'parameter_invalid', value);
      }
      assert.equal(await outcome({ kind, value: good }), 'succeeded');
    });

    test('ends with its pass; test mode simulates no phone of the live network', async () => {
      const { me, passId } = await newPass();
      const value = await tapOf(passId, kind);
      await me.send('DELETE', `/passes/${passId}`);
      assert.equal(await outcome({ kind, value }), 'pass_revoked');
      const path = `/test_helpers/passes/${passId}/${kind}`;
      assert.equal(errorCodeOf((await helpers.post(path)).body), 'unexpected_state');
      const live = await addPayer(store, { livemode: true });
      const elsewhere = `/test_helpers/passes/${live.passId}/${kind}`;
      assert.equal((await helpers.post(elsewhere)).status, 404);
    });
  });
}

test('tapline-reader encodes a phone’s response in the form that the service reads', async () => {
  const { passId } = await newPass();
  const said = saidIn(await tapOf(passId, 'smart_tap'), 'smart_tap');
  const smart = smartTapValue({ value: said, deviceNonce: randomBytes(32) });
  assert.equal(await outcome({ kind: 'smart_tap', value: smart }), 'succeeded');
  const message = saidIn(await tapOf(passId, 'apple_vas'), 'apple_vas');
  const vas = vasValue({ message, at: clock.now() });
  assert.equal(await outcome({ kind: 'apple_vas', value: vas }), 'succeeded');
  assert.equal(await outcome({ kind: 'apple_vas', value: smart }), 'pass_unknown');
  const asApple = writePhoneTap(said.toString(), timeHead(clock.now()));
  assert.equal(await outcome({ kind: 'apple_vas', value: asApple }), 'pass_unknown');
});

test('an Apple tap is valid for a minute of real time, before and after', async () => {
  const { passId } = await newPass();
  const message = saidIn(await tapOf(passId, 'apple_vas'), 'apple_vas').toString();
  clock.advance(1_000 - (clock.now().getTime() % 1_000));
  const at = (seconds: number) =>
    writePhoneTap(message, timeHead(new Date(clock.now().getTime() + seconds * 1_000)));
  const kind = 'apple_vas';
  assert.equal(await outcome({ kind, value: at(-61) }), 'pass_replayed');
  assert.equal(await outcome({ kind, value: at(61) }), 'pass_replayed');
  const [early, late] = [at(60), at(-60)];
  assert.equal(await outcome({ kind, value: late }), 'succeeded');
  assert.equal(await outcome({ kind, value: early }), 'succeeded');
  clock.advance(110_000);
  assert.equal(await outcome({ kind, value: early }), 'pass_replayed', 'swept no earlier');
});

test("after a loss, no tap of the lost period pays without its payer's approval", async () => {
  const wallet = newWallet();
  const { passId } = await newPass(wallet);
  const [smart, vas] = [await tapOf(passId, 'smart_tap'), await tapOf(passId, 'apple_vas')];
  clock.advance(1_000);
  const lose = () =>
    store.db.transaction((tx) =>
      endCredentials(tx, { livemode: false, before: clock.now(), now: clock.now() }),
    );
  assert.ok(((await lose())['phone passes whose taps may have been used'] ?? 0) >= 2);
  clock.advance(1_000);
  assert.equal(await outcome({ kind: 'apple_vas', value: vas }), 'pass_replayed');
  const waiting = await network.present({ type: 'smart_tap', value: smart });
  assert.equal(
    (waiting.body.next_action as { reason_code: string } | null)?.reason_code,
    'CARD_AFTER_RECOVERY',
  );
  const { me } = await server.signIn({ account: wallet });
  const yes = await me.post(`/confirmations/${waiting.body.id}/approve`);
  assert.ok(['processing', 'succeeded'].includes(String(yes.body.status)));
  const again = writePhoneTap(saidIn(smart, 'smart_tap').toString(), randomBytes(32));
  assert.equal(await outcome({ kind: 'smart_tap', value: again }), 'requires_action');
  const anew = await tapOf(passId, 'smart_tap');
  assert.notDeepEqual(saidIn(anew, 'smart_tap'), saidIn(smart, 'smart_tap'));
  assert.equal(await outcome({ kind: 'smart_tap', value: anew }), 'succeeded');
  const late = writePhoneTap(saidIn(smart, 'smart_tap').toString(), randomBytes(32));
  assert.equal(await outcome({ kind: 'smart_tap', value: late }), 'pass_unknown');
  const fresh = await tapOf(passId, 'apple_vas');
  assert.equal(await outcome({ kind: 'apple_vas', value: fresh }), 'succeeded');
});
