import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, randomBytes, verify } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { StartError } from '#core/start-error.ts';
import { loadPassFiles, type PassFileLocations } from '#payers/load-pass-files.ts';
import { writePhoneTap } from '#payers/phone-tap.ts';
import { readPassFileSettings } from '#settings/pass-file-settings.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { openServedStore, type StoreServer, serveStore } from '#testkit/apis/store-server.ts';
import { tap } from '#testkit/apis/tap.ts';
import { unzip } from '#testkit/fixtures/core/unzip.ts';
import {
  makeWalletCredentials,
  type WalletCredentials,
} from '#testkit/fixtures/payers/wallet-credentials.ts';
import { addIntent, keepSettling, type TestStore } from '#testkit/fixtures/payments/store.ts';

let credentials: WalletCredentials;
let locations: WalletCredentials['locations'];
let store: TestStore;
let server: StoreServer;
let me: Caller;
let passId: string;
let credential: string;

before(async () => {
  credentials = await makeWalletCredentials();
  ({ locations } = credentials);
  ({ store, server } = await openServedStore({ passFiles: await loadPassFiles(locations) }));
  ({ me } = await server.signIn());
  const { body } = await me.post('/passes', { label: 'Paula’s <phone>' });
  passId = String(body.id);
  credential = String(body.nfc_id);
});

after(async () => {
  await server.close();
  await credentials.remove();
});

async function download(from: Pick<StoreServer, 'url'>, token: string): Promise<Buffer> {
  const response = await fetch(`${from.url}/api/payer/v1/passes/${passId}/apple`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/vnd.apple.pkpass');
  return Buffer.from(await response.arrayBuffer());
}

async function passOf(files: PassFileLocations): Promise<Map<string, Buffer>> {
  const { apple } = await loadPassFiles(files);
  assert.ok(apple !== null);
  const walletUrl = 'https://pay.example/wallet';
  const shown = { id: passId, name: 'Phone', walletUrl, rotatingKey: null, isVoid: false };
  return unzip(await apple.make({ ...shown, readerValue: 'tlav_1' }, null));
}

/** Returns Apple's settings with a key for passes that readers accept. */
function forReaders() {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const nfcPublicKey = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  return { ...locations.apple, nfcPublicKey };
}

const json = (bytes: Buffer | undefined) => JSON.parse(String(bytes));

describe('a pass for Apple Wallet', () => {
  test('is signed by the certificate over the hashes of all its files', async () => {
    const { token, me: other } = await server.signIn();
    passId = String((await other.post('/passes', { label: 'Phone' })).body.id);
    const files = unzip(await download(server, token));
    const manifest = json(files.get('manifest.json')) as Record<string, string>;
    const named = [...files.keys()].filter((name) => !/^(manifest.json|signature)$/.test(name));
    assert.deepEqual(Object.keys(manifest).sort(), named.sort());
    assert.ok(named.includes('icon.png') && named.includes('pass.json'), named.join());
    for (const [name, hash] of Object.entries(manifest)) {
      const bytes = files.get(name) ?? Buffer.alloc(0);
      assert.equal(createHash('sha1').update(bytes).digest('hex'), hash, name);
    }
    const { at, openssl } = credentials;
    await mkdir(at('made'), { recursive: true });
    for (const name of ['manifest.json', 'signature']) {
      await writeFile(at(`made/${name}`), files.get(name) ?? '');
    }
    const check = ['-in', 'made/signature', '-inform', 'DER', '-content', 'made/manifest.json'];
    const trusted = ['-CAfile', 'wwdr.pem', '-purpose', 'any'];
    const { stderr } = await openssl('smime', '-verify', ...check, ...trusted);
    assert.match(stderr, /successful/i);
    await writeFile(at('made/manifest.json'), '{}');
    await assert.rejects(openssl('smime', '-verify', ...check, ...trusted));
  });

  test('shows its name and the wallet app, and no credential', async () => {
    const pass = json((await passOf(locations)).get('pass.json'));
    assert.equal(pass.passTypeIdentifier, 'pass.com.example.pay');
    assert.equal(pass.teamIdentifier, 'TEAM123456');
    assert.equal(pass.serialNumber, passId);
    assert.equal(pass.generic.primaryFields[0].value, 'Phone');
    assert.equal(pass.generic.backFields[0].value, 'https://pay.example/wallet');
    assert.ok(!JSON.stringify(pass).includes(credential));
    assert.equal(pass.nfc, undefined, 'without the entitlement such a pass does not open');
  });

  test('has NFC only where the operator has Apple’s certificate for it', async () => {
    const apple = forReaders();
    const pass = json((await passOf({ ...locations, apple })).get('pass.json'));
    const { nfcPublicKey: encryptionPublicKey } = apple;
    assert.deepEqual(pass.nfc, { message: 'tlav_1', encryptionPublicKey });
  });
});

test('the link for Google Wallet is signed, and has the value for readers', async () => {
  const { body: made } = await me.post('/passes', { label: 'Watch' });
  const { status, body } = await me.get(`/passes/${made.id}/google`);
  assert.equal(status, 200, JSON.stringify(body));
  const jwt = /^https:\/\/pay\.google\.com\/gp\/v\/save\/([\w.-]+)$/.exec(String(body.url))?.[1];
  const [header = '', claims = '', signature = ''] = jwt?.split('.') ?? [];
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  assert.deepEqual(decode(header), { alg: 'RS256', typ: 'JWT' });
  const signed = Buffer.from(`${header}.${claims}`);
  assert.ok(
    verify('RSA-SHA256', signed, credentials.googleKey, Buffer.from(signature, 'base64url')),
  );
  const { iss, aud, typ, payload } = decode(claims);
  assert.deepEqual([iss, aud, typ], ['passes@example.iam', 'google', 'savetowallet']);
  const [shown] = payload.genericObjects;
  assert.equal(shown.id, `3388000000012345678.${made.id}`);
  assert.equal(shown.header.defaultValue.value, 'Watch');
  assert.match(shown.linksModuleData.uris[0].uri, /\/wallet$/);
  assert.ok(!JSON.stringify(payload).includes(String(made.nfc_id)));
  const [kind] = payload.genericClasses;
  assert.deepEqual([kind.enableSmartTap, kind.redemptionIssuers], [true, ['3388000000012345678']]);
  const value = writePhoneTap(shown.smartTapRedemptionValue, randomBytes(32));
  const credential = { type: 'smart_tap', value };
  const settling = keepSettling(store);
  const paid = await tap(server.device(), await addIntent(store), credential);
  assert.equal(paid.body.status, 'succeeded');
  await settling.stop();
});

test('an old session cannot add a pass that pays to a phone, but gets the picture', async () => {
  const readers = await serveStore(store, {
    passFiles: await loadPassFiles({ ...locations, apple: forReaders() }),
  });
  const { token, me: payer } = await readers.signIn();
  const { id } = (await payer.post('/passes')).body;
  const age = (by: string) =>
    store.db.query(
      `update payer_sessions set signed_at = now() - $2::interval
       where payer_id = (select payer_id from passes where id = $1)`,
      [id, by],
    );
  const values = () =>
    store.db.query('select from phone_passes where pass_id = $1', [id]).then((rows) => rows.length);
  await age('5 minutes');
  for (const kind of ['apple', 'google']) {
    const refused = await payer.get(`/passes/${id}/${kind}`);
    assert.equal(refused.status, 403, kind);
    assert.equal(errorCodeOf(refused.body), 'second_factor_required', kind);
  }
  assert.equal(await values(), 0, 'no value for readers was created');
  const picture = await fetch(`${server.url}/api/payer/v1/passes/${id}/apple`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(picture.status, 200, 'without a value for readers it is a picture');
  await age('4 minutes');
  assert.equal((await payer.get(`/passes/${id}/google`)).status, 200);
  assert.equal(await values(), 1);
  await readers.close();
});

test('no file is issued without certificates, or for a revoked or foreign pass', async () => {
  const bare = await serveStore(store);
  const { me: stranger } = await bare.signIn();
  const { body } = await stranger.post('/passes');
  const foreign = (await me.post('/passes')).body;
  for (const kind of ['apple', 'google']) {
    const answer = await stranger.get(`/passes/${body.id}/${kind}`);
    assert.deepEqual([answer.status, errorCodeOf(answer.body)], [409, 'not_configured']);
    assert.equal((await stranger.get(`/passes/${foreign.id}/${kind}`)).status, 404);
  }
  await me.send('DELETE', `/passes/${foreign.id}`);
  const revoked = await me.get(`/passes/${foreign.id}/google`);
  assert.equal(errorCodeOf(revoked.body), 'unexpected_state');
  await bare.close();
});

test('a start names the setting that is missing, or whose file does not match', async () => {
  const { apple } = locations;
  const { at } = credentials;
  const starts = async (changes: Partial<typeof apple>) =>
    loadPassFiles({ apple: { ...apple, ...changes }, google: null });
  const says = (text: RegExp) => (error: unknown) =>
    error instanceof StartError && text.test(error.message);
  await assert.rejects(starts({ keyFile: at('nowhere') }), says(/^APPLE_PASS_KEY: .*ENOENT/));
  await assert.rejects(starts({ keyFile: at('wwdr.key') }), says(/not the key of APPLE_PASS_CERT/));
  await assert.rejects(starts({ wwdrFile: at('pass.key') }), says(/^APPLE_WWDR_CERTIFICATE/));
  const google = { issuer: '1', credentialsFile: at('pass.pem') };
  await assert.rejects(loadPassFiles({ apple: null, google }), says(/^GOOGLE_WALLET_CREDENTIALS/));
  const settings = (given: Record<string, string>) =>
    readPassFileSettings((name) => given[name] ?? null);
  assert.deepEqual(settings({}), { apple: null, google: null });
  assert.throws(() => settings({ APPLE_TEAM: 'T' }), says(/^APPLE_TEAM needs APPLE_PASS_TYPE, /));
  assert.throws(() => settings({ GOOGLE_WALLET_ISSUER: '1' }), says(/GOOGLE_WALLET_CREDENTIALS/));
  assert.throws(() => settings({ APPLE_NFC_PUBLIC_KEY: 'k' }), says(/^APPLE_NFC_PUBLIC_KEY needs/));
});
