import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { asksOf } from '#http/second-factor-by-effect.ts';
import type { Caller, Reply } from '#testkit/apis/api-client.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { messageOf, newWallet } from '#testkit/apis/wallet-sign-in.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import type { TestStore } from '#testkit/fixtures/payments/store.ts';

const NOON = new Date('2026-10-01T12:00:00.000Z');
const FIVE_MINUTES_MS = 300_000;

let clock: FakeClock;
let store: TestStore;
let server: StoreServer;

before(async () => {
  clock = new FakeClock(NOON);
  ({ store, server } = await openServedStore({ clock }));
});

after(() => server.close());

async function signAgain(me: Caller, account: PrivateKeyAccount): Promise<Reply> {
  const { body } = await me.post('/sign_in/nonce');
  const { host } = new URL(server.url);
  const common = { domain: host, uri: server.url, issuedAt: clock.now(), chainId: 31_337 };
  const message = messageOf(account, { ...common, nonce: String(body.nonce) });
  const signature = await account.signMessage({ message });
  return me.post('/sign_in/again', { message, signature });
}

const mints = (me: Caller): Record<string, () => Promise<Reply>> => ({
  pass: () => me.post('/passes', {}),
  card: () => me.post('/cards', {}),
  'agent token': () =>
    me.post('/agent_tokens', {
      account: store.merchant.tenant.accountId,
      amount: 1_000_000,
      expires_in: 60,
    }),
});

test('a session whose wallet has not signed for five minutes mints nothing', async () => {
  const { me, account } = await server.signIn();
  for (const [what, mint] of Object.entries(mints(me))) {
    assert.equal((await mint()).status, 201, `${what}: signing in counts`);
  }
  clock.advance(FIVE_MINUTES_MS);
  for (const [what, mint] of Object.entries(mints(me))) {
    const refused = await mint();
    assert.equal(refused.status, 403, what);
    assert.equal(errorCodeOf(refused.body), 'second_factor_required', what);
  }
  assert.equal((await signAgain(me, account)).status, 200);
  for (const [what, mint] of Object.entries(mints(me))) {
    assert.equal((await mint()).status, 201, `${what}: after a signature`);
  }
});

test('an old session can lower limits but not raise them', async () => {
  const { me, account } = await server.signIn();
  const card = await me.post('/cards', { per_payment_limit: 5_000_000 });
  const path = `/cards/${String(card.body.id)}`;
  clock.advance(FIVE_MINUTES_MS);
  const limits = (body: object) => me.patch('/limits', body);
  const narrower = { per_payment: 9_000_000, per_day: 20_000_000, confirm_first_payment: true };
  assert.equal((await limits(narrower)).status, 200);
  assert.equal((await limits({ per_payment: 8_000_000 })).status, 200);
  assert.equal((await me.patch(path, { per_payment_limit: 4_000_000 })).status, 200);
  const lifting = [
    { per_payment: 8_000_001 },
    { per_payment: null },
    { per_day: 20_000_001 },
    { per_day: null },
    { confirm_first_payment: false },
  ];
  for (const body of lifting) {
    assert.equal(
      errorCodeOf((await limits(body)).body),
      'second_factor_required',
      JSON.stringify(body),
    );
  }
  assert.equal(
    errorCodeOf((await me.patch(path, { per_payment_limit: 4_000_001 })).body),
    'second_factor_required',
  );
  const { body } = await me.get('/me');
  assert.deepEqual(body.limits, { ...narrower, per_payment: 8_000_000 });
  await signAgain(me, account);
  for (const change of lifting) assert.equal((await limits(change)).status, 200);
  assert.equal((await me.patch(path, { per_payment_limit: 4_000_001 })).status, 200);
});

test('an old session blocks a chip, and lifts neither its block nor its limit', async () => {
  const { me, account } = await server.signIn();
  const chip = newWallet();
  const { body: proof } = await me.get(`/chips/proof?address=${chip.address}`);
  const signature = await chip.signMessage({ message: String(proof.message) });
  const bounds = { per_payment_limit: 5_000_000, blocked: false };
  const made = await me.post('/chips', { address: chip.address, signature, ...bounds });
  assert.equal(made.status, 201);
  const path = `/chips/${chip.address}`;
  const patch = (body: object) => me.patch(path, body);
  clock.advance(FIVE_MINUTES_MS);
  assert.equal((await patch({ per_payment_limit: 4_000_000, blocked: true })).status, 200);
  const lifting = [
    () => patch({ per_payment_limit: 4_000_001 }),
    () => patch({ per_payment_limit: null }),
    () => patch({ blocked: false }),
    () => me.send('DELETE', path),
  ];
  for (const lift of lifting) {
    assert.equal(errorCodeOf((await lift()).body), 'second_factor_required');
  }
  await signAgain(me, account);
  for (const lift of lifting) assert.equal((await lift()).status, 200);
});

test('neither another wallet nor an old message renews a session', async () => {
  const { me, account } = await server.signIn();
  clock.advance(FIVE_MINUTES_MS);
  assert.equal(errorCodeOf((await signAgain(me, newWallet())).body), 'sign_in_failed');
  assert.equal(errorCodeOf((await me.post('/passes', {})).body), 'second_factor_required');
  const { body } = await me.post('/sign_in/nonce');
  const { host } = new URL(server.url);
  const text = { domain: host, uri: server.url, issuedAt: clock.now(), nonce: String(body.nonce) };
  const live = messageOf(account, { ...text, chainId: 31_338 });
  const signature = await account.signMessage({ message: live });
  const other = await me.post('/sign_in/again', { message: live, signature });
  assert.equal(errorCodeOf(other.body), 'sign_in_failed', 'another network');
  const again = await me.post('/sign_in/again', { message: live, signature });
  assert.equal(errorCodeOf(again.body), 'sign_in_failed', 'its nonce is used');
});

test('each payer route that moves money declares whether the wallet must sign', () => {
  const money = server.payerRoutes.filter(({ moves }) => moves === 'money');
  const byAsk = Object.groupBy(money, (route) => asksOf(route));
  const names = (routes: typeof money | undefined) =>
    (routes ?? []).map(({ method, path }) => `${method} ${path}`).sort();
  assert.deepEqual(names(byAsk.always), [
    'POST /agent_tokens',
    'POST /cards',
    'POST /passes',
    'POST /passes/{id}/rotating_key',
  ]);
  assert.deepEqual(names(byAsk.own), [
    'GET /passes/{id}/apple',
    'GET /passes/{id}/google',
    'PATCH /cards/{id}',
    'PATCH /limits',
  ]);
});
