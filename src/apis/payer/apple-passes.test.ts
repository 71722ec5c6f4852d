import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { addApplePassService } from '#apis/payer/apple-pass-service.ts';
import { memoryRateLimiter } from '#http/rate-limit.ts';
import { buildServer } from '#http/server.ts';
import { silentLog } from '#observability/log.ts';
import { loadPassFiles } from '#payers/load-pass-files.ts';
import { notifyWallets } from '#payers/notify-wallets.ts';
import type { PassFiles } from '#payers/pass-files.ts';
import { timeHead, writePhoneTap } from '#payers/phone-tap.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { tap } from '#testkit/apis/tap.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { unzip } from '#testkit/fixtures/core/unzip.ts';
import {
  makeWalletCredentials,
  PASS_TYPE,
  type WalletCredentials,
} from '#testkit/fixtures/payers/wallet-credentials.ts';
import {
  addIntent,
  keepSettling,
  TEST_CARD_KEY,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import { type ApplePushServer, startApplePushServer } from '#testkit/network/apple-push-server.ts';

const WEB_URL = 'https://pay.example';
const clock = new FakeClock();
const lines: unknown[] = [];
let apple: ApplePushServer;
let credentials: WalletCredentials;
let passFiles: PassFiles;
let store: TestStore;
let server: StoreServer;
let service: FastifyInstance;
let serviceUrl: string;

const bareApp = () =>
  buildServer({
    surfaces: [],
    clock,
    limiter: memoryRateLimiter({ requests: 1_000, seconds: 1 }),
    log: silentLog,
    trustedProxies: [],
  });

before(async () => {
  credentials = await makeWalletCredentials();
  apple = await startApplePushServer(credentials.server);
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const nfcPublicKey = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  passFiles = await loadPassFiles(
    { apple: { ...credentials.locations.apple, nfcPublicKey }, google: null },
    {
      google: 'http://127.0.0.1:9',
      apple: { url: apple.url, ca: credentials.server.ca },
    },
  );
  ({ store, server } = await openServedStore({ clock, passFiles, webUrl: WEB_URL }));
  service = await bareApp();
  const log = { ...silentLog, info: (_message: string, fields: unknown) => lines.push(fields) };
  const { ctx } = store;
  const outside = { ...ctx.outside, passFiles };
  addApplePassService(service, {
    ...ctx,
    log,
    outside,
    pages: { ...ctx.pages, webUrl: () => WEB_URL },
  });
  serviceUrl = await service.listen({ host: '127.0.0.1', port: 0 });
});

after(async () => {
  await service.close();
  await server.close();
  await apple.close();
  await credentials.remove();
});

const work = () => notifyWallets(store, { passFiles, cardKey: TEST_CARD_KEY, webUrl: WEB_URL });

interface PassJson {
  readonly serialNumber: string;
  readonly webServiceURL: string;
  readonly authenticationToken: string;
  readonly voided?: boolean;
  readonly nfc?: { readonly message: string };
}

const passJson = (file: Buffer) => JSON.parse(String(unzip(file).get('pass.json'))) as PassJson;

interface Owner {
  readonly me: Caller;
  readonly pass: PassJson;
}

/** Returns a payer who has added a pass to an iPhone. */
async function newOwner(): Promise<Owner> {
  const { me, token } = await server.signIn();
  const { id } = (await me.post('/passes', { label: 'Phone' })).body;
  const file = await fetch(`${server.url}/api/payer/v1/passes/${id}/apple`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return { me, pass: passJson(Buffer.from(await file.arrayBuffer())) };
}

interface Device {
  readonly id: string;
  readonly pushToken: string;
}

const newDevice = (): Device => ({
  id: randomBytes(16).toString('hex'),
  pushToken: randomBytes(32).toString('hex'),
});

/** Returns functions that send the requests of a phone, as Apple documents them. */
function asPhone(
  path: string,
  {
    method = 'GET',
    token,
    body,
    headers = {},
  }: {
    readonly method?: string;
    readonly token?: string;
    readonly body?: unknown;
    readonly headers?: Record<string, string>;
  } = {},
): Promise<Response> {
  return fetch(`${serviceUrl}/api/apple-wallet/v1/${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `ApplePass ${token}` }),
      ...headers,
    },
  });
}

const registration = (device: Device, pass: PassJson) =>
  `devices/${device.id}/registrations/${PASS_TYPE}/${pass.serialNumber}`;

const register = (device: Device, pass: PassJson, token = pass.authenticationToken) =>
  asPhone(registration(device, pass), {
    method: 'POST',
    token,
    body: { pushToken: device.pushToken },
  });

const latest = (pass: PassJson, headers: Record<string, string> = {}) =>
  asPhone(`passes/${PASS_TYPE}/${pass.serialNumber}`, {
    token: pass.authenticationToken,
    headers,
  });

const changed = (device: Device, since?: string) =>
  asPhone(
    `devices/${device.id}/registrations/${PASS_TYPE}` +
      (since === undefined ? '' : `?passesUpdatedSince=${since}`),
  );

describe('the web service of Apple Wallet', () => {
  test('a pass names it, and the till accepts the message of that pass', async () => {
    const { pass } = await newOwner();
    assert.equal(pass.webServiceURL, `${WEB_URL}/api/apple-wallet`);
    assert.ok(pass.authenticationToken.length >= 16, 'as Apple requires');
    const value = writePhoneTap(String(pass.nfc?.message), timeHead(clock.now()));
    const settling = keepSettling(store);
    const credential = { type: 'apple_vas', value };
    const paid = await tap(server.device(), await addIntent(store), credential);
    assert.equal(paid.body.status, 'succeeded', JSON.stringify(paid.body));
    await settling.stop();
  });

  test('registers a device with the pass’s own token, once', async () => {
    const { pass } = await newOwner();
    const other = await newOwner();
    const device = newDevice();
    for (const token of ['', 'wrong', other.pass.authenticationToken]) {
      assert.equal((await register(device, pass, token)).status, 401);
    }
    assert.equal((await register(device, pass)).status, 201);
    assert.equal((await register(device, pass)).status, 200);
    const path = registration(device, pass);
    const bad = { method: 'POST', token: pass.authenticationToken };
    assert.equal((await asPhone(path, { ...bad, body: {} })).status, 400);
    assert.equal((await asPhone(path, { ...bad, body: { pushToken: 'no hex' } })).status, 400);
    const foreign = path.replace(PASS_TYPE, 'pass.com.example.other');
    assert.equal((await asPhone(foreign, { ...bad, body: {} })).status, 404);
  });

  test('a revoked pass is pushed, listed and fetched as void, then never sent again', async () => {
    const { me, pass } = await newOwner();
    const device = newDevice();
    await register(device, pass);
    clock.advance(60_000);
    const listed = await changed(device);
    assert.equal(listed.status, 200);
    const { serialNumbers, lastUpdated } = (await listed.json()) as {
      readonly serialNumbers: string[];
      readonly lastUpdated: string;
    };
    assert.deepEqual(serialNumbers, [pass.serialNumber]);
    assert.equal((await changed(device, lastUpdated)).status, 204);
    const first = await latest(pass);
    assert.equal(first.headers.get('content-type'), 'application/vnd.apple.pkpass');
    const since = String(first.headers.get('last-modified'));
    const unchanged = await latest(pass, { 'if-modified-since': since });
    assert.equal(unchanged.status, 304);

    assert.equal((await me.send('DELETE', `/passes/${pass.serialNumber}`)).status, 200);
    assert.ok(!apple.told.includes(device.pushToken), 'nothing is pushed within the request');
    await work();
    assert.ok(apple.told.includes(device.pushToken));
    const now = (await (await changed(device, lastUpdated)).json()) as { serialNumbers: string[] };
    assert.deepEqual(now.serialNumbers, [pass.serialNumber]);
    const file = await latest(pass, { 'if-modified-since': since });
    assert.equal(file.status, 200);
    const shown = passJson(Buffer.from(await file.arrayBuffer()));
    assert.equal(shown.voided, true);
    assert.equal(shown.nfc, undefined, 'it has no value for readers any more');
    assert.equal(shown.authenticationToken, pass.authenticationToken, 'Apple forbids changing it');
    const told = apple.told.length;
    await work();
    assert.equal(apple.told.length, told, 'pushed once');
  });

  test('an erased pass becomes void in the phone, without its name', async () => {
    const { me, pass } = await newOwner();
    const device = newDevice();
    await register(device, pass);
    assert.equal((await me.post('/me/erase')).status, 204);
    await work();
    assert.ok(apple.told.includes(device.pushToken));
    const shown = unzip(Buffer.from(await (await latest(pass)).arrayBuffer())).get('pass.json');
    assert.match(String(shown), /"voided":true/);
    assert.doesNotMatch(String(shown), /"Phone"/);
  });

  test('a device that left is deleted; a push that Apple refuses is retried', async () => {
    const { me, pass } = await newOwner();
    const [gone, here] = [newDevice(), newDevice()];
    await register(gone, pass);
    await register(here, pass);
    apple.refusals.set(gone.pushToken, { status: 410, reason: 'Unregistered' });
    apple.refusals.set(here.pushToken, { status: 429, reason: 'TooManyRequests' });
    await me.send('DELETE', `/passes/${pass.serialNumber}`);
    await work();
    apple.refusals.delete(here.pushToken);
    await work();
    assert.ok(!apple.told.includes(here.pushToken), 'it waits before the retry');
    clock.advance(5_000);
    await work();
    assert.ok(apple.told.includes(here.pushToken));
    assert.equal((await changed(gone)).status, 204, 'no registration is left');
    assert.equal((await changed(here)).status, 200);
  });

  test('a device unregisters with its token only, and logs within limits', async () => {
    const { pass } = await newOwner();
    const device = newDevice();
    await register(device, pass);
    const path = registration(device, pass);
    assert.equal((await asPhone(path, { method: 'DELETE', token: 'x' })).status, 401);
    assert.equal((await changed(device)).status, 200);
    const { authenticationToken: token } = pass;
    assert.equal((await asPhone(path, { method: 'DELETE', token })).status, 200);
    assert.equal((await changed(device)).status, 204);
    const logs = [...Array(20).keys()].map((n) => `${n}`.repeat(1_000));
    assert.equal((await asPhone('log', { method: 'POST', body: { logs } })).status, 200);
    assert.equal((await asPhone('log', { method: 'POST', body: 'no' })).status, 400);
    assert.equal(lines.length, 10);
    assert.ok(lines.every((line) => JSON.stringify(line).length < 350));
  });

  test('a pass is on at most 32 devices', async () => {
    const { pass } = await newOwner();
    const devices = [...Array(33).keys()].map(newDevice);
    const statuses = [];
    for (const device of devices) statuses.push((await register(device, pass)).status);
    assert.deepEqual(new Set(statuses.slice(0, 32)), new Set([201]));
    assert.equal(statuses[32], 429);
    assert.equal(
      (await register(devices[0] as Device, pass)).status,
      200,
      'known devices still work',
    );
  });
});

test('an operator without certificates has no such routes', async () => {
  const bare = await bareApp();
  addApplePassService(bare, store.ctx);
  const answer = await bare.inject({ method: 'POST', url: '/api/apple-wallet/v1/log' });
  assert.equal(answer.statusCode, 404);
  await bare.close();
});
