import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { codeOf, stepAt } from '#payers/check-rotating-code.ts';
import { loadPassFiles } from '#payers/load-pass-files.ts';
import { notifyWallets } from '#payers/notify-wallets.ts';
import type { PassFiles } from '#payers/pass-files.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { outcomeOf } from '#testkit/apis/error-code.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { tap } from '#testkit/apis/tap.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import {
  ISSUER,
  makeWalletCredentials,
  type WalletCredentials,
} from '#testkit/fixtures/payers/wallet-credentials.ts';
import { addIntent, TEST_CARD_KEY, type TestStore } from '#testkit/fixtures/payments/store.ts';
import { type GoogleServer, startGoogleServer } from '#testkit/network/google-server.ts';

const clock = new FakeClock();
let google: GoogleServer;
let credentials: WalletCredentials;
let passFiles: PassFiles;
let store: TestStore;
let server: StoreServer;

before(async () => {
  google = await startGoogleServer();
  credentials = await makeWalletCredentials(google.tokenUrl);
  google.trust(credentials.googleKey);
  const servers = { google: google.api, apple: { url: 'https://127.0.0.1:9' } };
  passFiles = await loadPassFiles({ ...credentials.locations, apple: null }, servers);
  ({ store, server } = await openServedStore({ clock, passFiles, settles: true }));
});

after(async () => {
  await server.close();
  await google.close();
  await credentials.remove();
});

/** Runs the worker's loop once. */
const work = () =>
  notifyWallets(store, {
    passFiles,
    cardKey: TEST_CARD_KEY,
    webUrl: 'https://pay.example',
  });

interface LinkedObject {
  readonly header: { readonly defaultValue: { readonly value: string } };
}

interface RotatingBarcode {
  readonly valuePattern: string;
  readonly totpDetails: {
    readonly periodMillis: string;
    readonly parameters: readonly { readonly key: string; readonly valueLength: number }[];
  };
}

/** Computes the code that a phone shows, only from the object that Google has. */
function codeOnPhone(passId: string): string {
  const { rotatingBarcode } = google.objects.get(`${ISSUER}.${passId}`) ?? {};
  const { valuePattern, totpDetails } = rotatingBarcode as RotatingBarcode;
  const [parameter] = totpDetails.parameters;
  assert.ok(parameter !== undefined);
  assert.equal(totpDetails.periodMillis, '30000');
  const code = codeOf(
    Buffer.from(parameter.key, 'hex'),
    stepAt(clock.now()),
    parameter.valueLength,
  );
  return valuePattern.replace('{totp_value_0}', code);
}

async function pay(value: string): Promise<string> {
  const credential = { type: 'rotating_code', value };
  return outcomeOf((await tap(server.device(), await addIntent(store), credential)).body);
}

async function savedPass(me: Caller): Promise<string> {
  const { body } = await me.post('/passes', { label: 'Phone' });
  const saved = await me.get(`/passes/${body.id}/google`);
  assert.equal(saved.status, 200, JSON.stringify(saved.body));
  return String(body.id);
}

const stateOf = (passId: string) => google.objects.get(`${ISSUER}.${passId}`)?.state;

describe('a pass in Google Wallet', () => {
  test('is created by REST with codes that work at the till, and gets each new key', async () => {
    const { me } = await server.signIn();
    const passId = await savedPass(me);
    assert.equal(google.objects.size, 0, 'nothing is sent within the request');
    await work();
    assert.equal(stateOf(passId), 'ACTIVE', google.calls.join('\n'));
    const shown = google.objects.get(`${ISSUER}.${passId}`);
    assert.match(String(shown?.smartTapRedemptionValue), /^tlst_/);
    const first = codeOnPhone(passId);
    assert.match(first, new RegExp(`^${passId}\\.\\d{8}$`));
    assert.equal(await pay(first), 'succeeded');
    assert.equal(await pay(first), 'pass_code_used');

    await me.post(`/passes/${passId}/rotating_key`);
    clock.advance(30_000);
    assert.equal(await pay(codeOnPhone(passId)), 'pass_code_expired', 'of the previous key');
    await work();
    assert.equal(await pay(codeOnPhone(passId)), 'succeeded');
    assert.equal(google.tokens(), 1, 'a token is cached');
  });

  test('has a link that no browser truncates, and its full name by REST', async () => {
    for (const letter of ['払', '🧾', '"', 'a']) {
      const { me } = await server.signIn();
      const label = letter.repeat(100);
      const { body: pass } = await me.post('/passes', { label });
      const { status, body } = await me.get(`/passes/${pass.id}/google`);
      assert.equal(status, 200, JSON.stringify(body));
      const url = String(body.url);
      assert.ok(url.length <= 1_800, `${letter}: ${url.length} characters`);
      const claims = Buffer.from(url.split('.').at(-2) ?? '', 'base64url').toString();
      const { payload } = JSON.parse(claims) as { payload: { genericObjects: LinkedObject[] } };
      const shown = payload.genericObjects[0]?.header.defaultValue.value ?? '';
      assert.ok(shown === label || label.startsWith(shown.replace(/…$/u, '')), shown);
      assert.ok(shown.length > 20, shown);
      await work();
      const { header } = google.objects.get(`${ISSUER}.${pass.id}`) as unknown as LinkedObject;
      assert.equal(header.defaultValue.value, label);
    }
  });

  test('becomes void once it is revoked, or its owner erases all data', async () => {
    for (const how of ['revoked', 'erased']) {
      const { me } = await server.signIn();
      const passId = await savedPass(me);
      await work();
      assert.equal(stateOf(passId), 'ACTIVE');
      const ended =
        how === 'erased'
          ? await me.post('/me/erase')
          : await me.send('DELETE', `/passes/${passId}`);
      assert.ok(ended.status < 300, JSON.stringify(ended.body));
      await work();
      const shown = google.objects.get(`${ISSUER}.${passId}`);
      assert.equal(shown?.state, 'EXPIRED', how);
      assert.equal(shown?.rotatingBarcode, undefined, 'it shows no code any more');
      assert.equal(shown?.smartTapRedemptionValue, undefined);
    }
  });

  test('is retried with growing delays until Google accepts it, then sent once', async () => {
    const { me } = await server.signIn();
    const passId = await savedPass(me);
    google.fail([503]);
    await work();
    const before = google.calls.length;
    await work();
    assert.equal(google.calls.length, before, 'it waits before the retry');
    clock.advance(5_000);
    google.fail([401]);
    await work();
    clock.advance(9_999);
    await work();
    assert.equal(stateOf(passId), undefined);
    clock.advance(1);
    await work();
    assert.equal(stateOf(passId), 'ACTIVE');
    assert.equal(google.tokens(), 2, 'a token that was refused is replaced');
    const made = google.calls.length;
    clock.advance(86_400_000);
    await work();
    assert.equal(google.calls.length, made);
  });

  test('that its link has created before is replaced, so that it has its key', async () => {
    const { me } = await server.signIn();
    const passId = await savedPass(me);
    google.fail([404, 409, 409]);
    await work();
    assert.equal(google.calls.at(-1), `PUT /genericObject/${ISSUER}.${passId} 404`);
    clock.advance(5_000);
    await work();
    assert.equal(stateOf(passId), 'ACTIVE');
  });

  test('a change during a request to Google is sent once more, by one of the workers', async () => {
    const { me } = await server.signIn();
    const passId = await savedPass(me);
    const calls = google.calls.length;
    await Promise.all([work(), work(), work()]);
    assert.equal(google.calls.length - calls, 3, 'PUT, class, POST');
    await me.post(`/passes/${passId}/rotating_key`);
    const slow = work();
    await me.send('DELETE', `/passes/${passId}`);
    await slow;
    await work();
    assert.equal(stateOf(passId), 'EXPIRED');
  });

  test('an erased pass is deleted completely after a month', async () => {
    const { me } = await server.signIn();
    const passId = await savedPass(me);
    await me.post('/me/erase');
    const left = async () =>
      (await store.db.query('select from pass_copies where pass_id = $1', [passId])).length;
    await work();
    await work();
    assert.equal(await left(), 1);
    clock.advance(30 * 86_400_000 + 1);
    await work();
    assert.equal(await left(), 0);
  });
});
