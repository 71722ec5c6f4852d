import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { after, before, test } from 'node:test';
import { isRefusal } from '../../src/core/answer.ts';
import { endKey, makeKey, useKey } from '../../src/terminals/collector-keys.ts';
import { switchSmartTap } from '../../src/terminals/smart-tap.ts';
import { type StoreServer, serveStore } from '../../testkit/apis/store-server.ts';
import { newWallet, signInWallet } from '../../testkit/apis/wallet-sign-in.ts';
import { FakeClock } from '../../testkit/fixtures/core/fake-clock.ts';
import {
  addIntent,
  addTerminal,
  keepSettling,
  openStore,
  type TestStore,
} from '../../testkit/fixtures/payments/store.ts';
import { DeviceApi, readTap } from '../src/index.ts';
import { googlePhone } from './emulated-phones.ts';

/** Taps a Google Wallet pass at a terminal's reader, whose network signs the session for it. */

const COLLECTOR_ID = 20_180_608;
const actor = { type: 'system', name: 'test' } as const;

let store: TestStore;
let server: StoreServer;
let settling: { stop(): Promise<void> };
let collectorKey: ReturnType<typeof createPrivateKey>;
let version = 0;

const change = () => ({ actor, reason: 'A test.', now: store.clock.now() });

/**
 * Creates and activates a collector key, as an operator does after registering it with Google.
 * @returns the private key.
 */
async function newKey() {
  const collectorId = BigInt(COLLECTOR_ID);
  const made = await store.db.transaction((tx) =>
    makeKey(tx, { ...change(), collectorId, cardKey: store.ctx.keys.card }),
  );
  assert.ok(!isRefusal(made));
  version = made.row.version;
  await store.db.transaction((tx) => useKey(tx, version, change()));
  return createPrivateKey(made.privateKey);
}

before(async () => {
  store = await openStore({ clock: new FakeClock() });
  server = await serveStore(store);
  settling = keepSettling(store);
  collectorKey = await newKey();
});

after(async () => {
  await settling.stop();
  await server.close();
  await store.close();
});

function turn(isOn: boolean, id = store.terminalId) {
  const ref = { tenant: store.merchant.tenant, id, actor, now: store.clock.now() };
  return store.db.transaction((tx) => switchSmartTap(tx, ref, isOn));
}

/** Creates a pass and its value in Google Wallet. */
async function newPass() {
  const session = await signInWallet(server.url, newWallet(), { now: store.clock.now() });
  const me = server.payer(session);
  const passId = String((await me.post('/passes', { label: 'Phone' })).body.id);
  const helpers = await server.merchant();
  const { body } = await helpers.post(`/test_helpers/passes/${passId}/smart_tap`);
  const value = Buffer.from(String(body.value), 'base64url').subarray(33).toString();
  return { value, revoke: () => me.send('DELETE', `/passes/${passId}`) };
}

async function hold(value: string, deviceKey = store.deviceKey) {
  const phone = googlePhone({ collectorId: COLLECTOR_ID, collectorKey, value });
  const collector = new DeviceApi(server.url, deviceKey).proveCollector;
  const tap = await readTap(phone.transceive, { collector, passType: null });
  return { tap, asked: phone.seen.signed };
}

async function pay(value: string): Promise<unknown> {
  const { tap } = await hold(value);
  assert.ok(tap.status === 'read', JSON.stringify(tap));
  const path = `/payment_intents/${await addIntent(store)}/tap`;
  const { body } = await server.device().post(path, { credential: tap.credential });
  const declined = body.last_payment_error as { decline_code: string } | null;
  return declined?.decline_code ?? body.status;
}

test('a reader asks a phone only while the switch of its terminal is on', async () => {
  const { value } = await newPass();
  assert.deepEqual(await hold(value), { tap: { status: 'no_pass' }, asked: false });
  await turn(true);
  assert.equal(await pay(value), 'succeeded');
  const other = await addTerminal(store.db, store.merchant, store.clock.now());
  assert.equal((await hold(value, other.deviceKey)).tap.status, 'no_pass', 'another terminal');
  await turn(false);
  assert.deepEqual(await hold(value), { tap: { status: 'no_pass' }, asked: false });
});

test('a pass that is revoked in the wallet is declined at the next tap', async () => {
  await turn(true);
  const { value, revoke } = await newPass();
  assert.equal(await pay(value), 'succeeded');
  await revoke();
  assert.equal(await pay(value), 'pass_revoked');
});

test('after a rotation phones use the new key; once that has ended, none is asked', async () => {
  await turn(true);
  const { value } = await newPass();
  const before = version;
  collectorKey = await newKey();
  assert.equal((await hold(value)).tap.status, 'read');
  await store.db.transaction((tx) => endKey(tx, before, change()));
  assert.equal((await hold(value)).tap.status, 'read');
  await store.db.transaction((tx) => endKey(tx, version, change()));
  assert.deepEqual(await hold(value), { tap: { status: 'no_pass' }, asked: false });
  collectorKey = await newKey();
});

test('a network error is not reported as a phone without a pass', async () => {
  const phone = googlePhone({ collectorId: COLLECTOR_ID, collectorKey, value: 'x' });
  const collector = new DeviceApi('http://127.0.0.1:9', 'tldk_test_x').proveCollector;
  const tap = await readTap(phone.transceive, { collector, passType: null });
  assert.deepEqual(tap, { status: 'unreadable', reason: 'the network returned no signature' });
});

test('only a valid device key gets a signature, and only over a tap’s data', async () => {
  const device = server.device();
  const good = {
    reader_nonce: '5c'.repeat(32),
    phone_nonce: 'a7'.repeat(32),
    reader_key: `02${'4d'.repeat(32)}`,
  };
  assert.equal((await device.post('/smart_tap', good)).status, 200);
  for (const wrong of [{}, { ...good, reader_nonce: '5c' }, { ...good, phone_nonce: 'zz' }]) {
    assert.equal((await device.post('/smart_tap', wrong)).status, 400);
  }
  assert.equal((await server.device('tldk_test_nobody').post('/smart_tap', good)).status, 401);
});
