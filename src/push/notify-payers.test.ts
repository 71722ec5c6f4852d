import assert from 'node:assert/strict';
import { createECDH, createPublicKey, randomBytes, verify } from 'node:crypto';
import { after, before, test } from 'node:test';
import { addMs, type Clock } from '#core/clock.ts';
import { notifyPayers } from '#push/notify-payers.ts';
import { vapidAuthorization } from '#push/vapid.ts';
import { readPushSettings } from '#settings/push-settings.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import { type StoreServer, serveStore } from '#testkit/apis/store-server.ts';
import { newWallet, signInWallet } from '#testkit/apis/wallet-sign-in.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openStore, settled, type TestStore } from '#testkit/fixtures/payments/store.ts';
import { startReceiver, type TestReceiver } from '#testkit/network/webhook-receiver.ts';
import { systemResolver } from '#webhooks/dns-resolver.ts';
import { addressPolicy } from '#webhooks/refuse-private-addresses.ts';

const KEY = randomBytes(32).toString('base64url');
const SETTINGS = { VAPID_PRIVATE_KEY: KEY, VAPID_SUBJECT: 'mailto:ops@example.com' } as const;
const keys = readPushSettings((name) => SETTINGS[name]);
assert.ok(keys !== null);

let store: TestStore;
let server: StoreServer;
/** Simulates a third party's server: the push service of a browser. */
let service: TestReceiver;

/** Sets how the push service responds from now on. */
const respond = (status: number, body = '') =>
  service.answer((_received, response) => void response.writeHead(status).end(body));

before(async () => {
  store = await openStore();
  server = await serveStore(store, { push: keys, allowCidrs: ['127.0.0.0/8'] });
  service = await startReceiver();
  respond(201);
});

after(async () => {
  await service.close();
  await server.close();
  await store.close();
});

const network = { policy: addressPolicy(['127.0.0.0/8']), resolver: systemResolver() };
const ring = (clock: Clock = store.clock) =>
  notifyPayers({ ...store, clock }, { keys, network, insertAlarms });

/** Adds a payer whose browser gets notifications, and a payment that waits for the payer. */
async function rungPayer(path: string) {
  const payer = server.payer(
    await signInWallet(server.url, newWallet(), { now: store.clock.now() }),
  );
  const { body: me } = await payer.get('/me');
  const pass = await payer.post('/passes', {});
  await store.db.query('update payers set confirm_first_payment = true where id = $1', [me.id]);
  const save = (endpoint: string) =>
    payer.send('PUT', '/push', {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ endpoint }),
    });
  const saved = await save(`${service.url}${path}`);
  assert.deepEqual([saved.status, saved.body.subscribed], [200, true], JSON.stringify(saved.body));
  const credential = { type: 'nfc_id', value: String(pass.body.nfc_id) };
  const tap = async (presented: { readonly type: string; readonly value: string } = credential) => {
    const made = await server.device().post('/payment_intents', { amount: 1_000_000 });
    const path = `/payment_intents/${made.body.id}/tap`;
    const { body } = await server.device().post(path, { credential: presented });
    return String(body.status);
  };
  const ask = async () => assert.equal(await tap(), 'requires_action');
  /** Turns confirmations off, so that taps pay or are declined immediately. */
  const askNoMore = () =>
    store.db.query('update payers set confirm_first_payment = false where id = $1', [me.id]);
  return { payer, pass: String(pass.body.id), ask, save, tap, askNoMore };
}

const rungAt = (path: string) => service.received.filter((one) => one.path === path);

test('a payer is notified once per question, without content', async () => {
  const { payer, ask } = await rungPayer('/one');
  await ring();
  assert.equal(rungAt('/one').length, 0, 'no question yet');
  await ask();
  await Promise.all([ring(), ring()]);
  await ring();
  const [first, ...more] = rungAt('/one');
  assert.ok(first !== undefined && more.length === 0, `${more.length + 1} rings`);
  assert.equal(first.body.length, 0);
  assert.equal(first.headers.urgency, 'high');
  assert.ok(Number(first.headers.ttl) > 0 && Number(first.headers.ttl) <= 60);
  await ask();
  await ring();
  assert.equal(rungAt('/one').length, 2, 'the next question notifies again');
  assert.equal((await payer.send('DELETE', '/push')).body.subscribed, false);
  await ask();
  await ring();
  assert.equal(rungAt('/one').length, 2);
});

test('a payer is notified of each static tap, paid or declined, without content', async () => {
  const { payer, pass, tap, askNoMore } = await rungPayer('/static');
  await askNoMore();
  assert.equal(await settled(store, tap()), 'succeeded');
  await Promise.all([ring(), ring()]);
  await ring();
  const [paid, ...more] = rungAt('/static');
  assert.ok(paid !== undefined && more.length === 0, `${more.length + 1} rings`);
  assert.equal(paid.body.length, 0);
  assert.equal(paid.headers.ttl, '86400', 'a phone that was off is notified');
  const passOf = async () => {
    const { body } = await payer.get('/passes');
    return (body.data as { id: string; last_declined: unknown }[]).find(({ id }) => id === pass);
  };
  assert.equal((await passOf())?.last_declined, null);
  await payer.send('DELETE', `/passes/${pass}`);
  assert.equal(await tap(), 'requires_payment_method');
  await ring();
  assert.equal(rungAt('/static').length, 1, 'not twice within ten seconds');
  await ring(new FakeClock(addMs(store.clock.now(), 10_000)));
  assert.equal(rungAt('/static').length, 2, 'the refusal was notified');
  const declined = (await passOf())?.last_declined as Record<string, unknown> | null | undefined;
  assert.equal(declined?.decline_code, 'pass_revoked');
});

test('neither uncopyable credentials nor others’ codes cause a notification', async () => {
  const { payer, pass, tap, askNoMore } = await rungPayer('/code');
  await askNoMore();
  const { body: code } = await payer.post(`/passes/${pass}/codes`);
  const paid = tap({ type: 'qr', value: String(code.code ?? code.value) });
  assert.equal(await settled(store, paid), 'succeeded');
  await tap({ type: 'nfc_id', value: `nfc_${'a'.repeat(32)}` });
  await ring();
  assert.equal(rungAt('/code').length, 0);
});

test('an ended subscription or session gets no more notifications', async () => {
  const gone = await rungPayer('/gone');
  await gone.ask();
  respond(410);
  await ring();
  respond(201);
  assert.equal((await gone.payer.get('/push')).body.subscribed, false);
  const left = await rungPayer('/left');
  await left.ask();
  await left.payer.post('/sign_out');
  await ring();
  assert.equal(rungAt('/left').length, 0);
});

test('a push service that refuses this network raises one alarm with its reason', async () => {
  const first = await rungPayer('/refused-1');
  const second = await rungPayer('/refused-2');
  const alarms = () =>
    store.db.query<{ subject: string; details: unknown }>(
      `select subject, details from chain_alarms
       where kind = 'push_refused' and resolved_at is null and not livemode`,
    );
  const subscribed = async ({ payer }: typeof first) => (await payer.get('/push')).body.subscribed;
  const reason = '{"reason":"BadJwtToken"}';
  respond(403, reason);
  for (const one of [first, second]) await one.ask();
  await ring();
  assert.deepEqual(await alarms(), [
    { subject: new URL(service.url).host, details: { status: 403, reason } },
  ]);
  assert.deepEqual([await subscribed(first), await subscribed(second)], [false, false]);
  const again = await first.save(`${service.url}/refused-1`);
  assert.equal(again.body.subscribed, false, 'the same subscription is still refused');
  respond(201);
  await first.ask();
  await ring();
  assert.deepEqual([await subscribed(first), await subscribed(second)], [true, false]);
});

test('a push service that is down loses the notification, and nothing else', async () => {
  const { ask, save } = await rungPayer('/down');
  await save('http://127.0.0.1:1/');
  await ask();
  await ring();
});

test('addresses obey the rules of webhooks', async () => {
  const { save } = await rungPayer('/rules');
  for (const endpoint of [
    'http://10.0.0.1/',
    'ftp://example.com/',
    'nothing',
    'http://a@b.test/',
  ]) {
    const { status, body } = await save(endpoint);
    const { code, param } = body.error as { code: string; param: string };
    assert.deepEqual([status, code, param], [400, 'url_not_allowed', 'endpoint'], endpoint);
  }
});

test('push services can verify the sender', () => {
  const now = new Date('2026-10-01T12:00:00.000Z');
  const header = vapidAuthorization(new URL('https://push.example.com/send/1'), keys, now);
  const [, token = '', key = ''] = /^vapid t=(\S+), k=(\S+)$/.exec(header) ?? [];
  const [head = '', claims = '', signature = ''] = token.split('.');
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(Buffer.from(KEY, 'base64url'));
  assert.equal(key, curve.getPublicKey('base64url'));
  const point = Buffer.from(key, 'base64url');
  const coordinate = (from: number) => point.subarray(from, from + 32).toString('base64url');
  const jwk = { kty: 'EC', crv: 'P-256', x: coordinate(1), y: coordinate(33) };
  const verified = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: createPublicKey({ format: 'jwk', key: jwk }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  assert.equal(verified, true);
  assert.deepEqual(JSON.parse(Buffer.from(claims, 'base64url').toString()), {
    aud: 'https://push.example.com',
    exp: now.getTime() / 1000 + 3600,
    sub: 'mailto:ops@example.com',
  });
});

test('invalid settings are named', () => {
  const read = (settings: Record<string, string>) => () =>
    readPushSettings((name) => settings[name] ?? null);
  assert.equal(read({})(), null);
  assert.throws(read({ VAPID_PRIVATE_KEY: KEY }), /or neither/);
  assert.throws(read({ ...SETTINGS, VAPID_PRIVATE_KEY: 'short' }), /32 bytes/);
  for (const subject of [
    ...['me', 'mailto:x@localhost', 'mailto:x@shop', 'mailto:x@shop.local', 'mailto:@shop.example'],
    ...[
      'mailto:<x@shop.example>',
      'mailto: x@shop.example',
      'mailto:x@127.0.0.1',
      'mailto:x@a@b.co',
    ],
    ...[
      'https://localhost',
      'https://10.0.0.1',
      'https://[::1]',
      'http://shop.example',
      'https://',
    ],
    ...['https://u:p@shop.example', 'mailto:x@bücher.example'],
    ...['https://shop.test/contact', 'mailto:x@shop.example?subject=a'],
  ]) {
    assert.throws(read({ ...SETTINGS, VAPID_SUBJECT: subject }), /at a public domain/, subject);
  }
  for (const subject of [
    ...['mailto:ops+push@shop.example', 'https://shop.example/contact'],
    'https://xn--bcher-kva.example',
  ]) {
    assert.equal(read({ ...SETTINGS, VAPID_SUBJECT: subject })()?.subject, subject);
  }
});
