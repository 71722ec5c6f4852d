import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_WAITING_OF_WALLET } from '#apis/payer/update-waiters.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import type { SignedIn, StoreServer } from '#testkit/apis/store-server.ts';
import { openTwoNodes, type TwoNodes } from '#testkit/apis/two-nodes.ts';
import { addIntent, type TestStore } from '#testkit/fixtures/payments/store.ts';

let network: TwoNodes;
let store: TestStore;
let server: StoreServer;
let merchant: Caller;

before(async () => {
  network = await openTwoNodes({});
  ({ store, server } = network);
  merchant = await server.merchant();
});

after(() => network.close());

interface Updates {
  readonly confirmations: readonly { readonly payment_intent: string }[];
  readonly ended: readonly Readonly<Record<string, unknown>>[];
  readonly cursor: string;
}

async function updates(me: Caller, query: string): Promise<Updates> {
  const { status, body } = await me.get(`/updates?${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body as unknown as Updates;
}

const idsOf = (told: Updates) => told.ended.map(({ payment_intent: id }) => id);

/** Signs in at the second node, where the wallet waits; tills are at the first. */
async function newWallet() {
  const signed = await server.signIn();
  const me = network.other.payer(signed.token);
  const pass = (await me.post('/passes', { label: 'Phone' })).body;
  const { cursor } = await updates(me, 'wait=0');
  const code = async () => String((await me.post(`/passes/${pass.id}/codes`)).body.value);
  return { ...signed, me, pass, cursor, code };
}

const tapPass = (wallet: { readonly pass: Caller | Record<string, unknown> }, intentId: string) =>
  network.present(
    { type: 'nfc_id', value: String((wallet.pass as { nfc_id: string }).nfc_id) },
    {
      intentId,
    },
  );

describe('the updates of a wallet', () => {
  test('tell a payment by a code within a second, with shop, total and receipt', async () => {
    const wallet = await newWallet();
    const waiting = updates(wallet.me, `wait=20&after=${wallet.cursor}`);
    await sleep(50);
    const intentId = await addIntent(store);
    const value = await wallet.code();
    const { body } = await network.present({ type: 'qr', value }, { intentId });
    assert.equal(body.status, 'succeeded');
    const paidAt = performance.now();
    const told = await waiting;
    assert.ok(performance.now() - paidAt < 1_000);
    const payment = (await merchant.get(`/payments/${body.payment}`)).body;
    assert.deepEqual(told.ended, [
      {
        payment_intent: intentId,
        result: 'paid',
        merchant: 'Corner Shop',
        presentment: null,
        total_charged: payment.total_charged,
        receipt_url: payment.receipt_url,
        decline_code: null,
      },
    ]);
    assert.deepEqual(told.confirmations, []);
    assert.deepEqual((await updates(wallet.me, `after=${told.cursor}`)).ended, []);
  });

  test('tell a payment by a pass, and one that was made while the wallet slept, once', async () => {
    const wallet = await newWallet();
    const intents = [await addIntent(store), await addIntent(store)];
    for (const intentId of intents) {
      assert.equal((await tapPass(wallet, intentId)).body.status, 'succeeded');
    }
    const told = await updates(wallet.me, `wait=20&after=${wallet.cursor}`);
    assert.deepEqual(idsOf(told), intents);
    assert.deepEqual((await updates(wallet.me, `after=${told.cursor}`)).ended, []);
    assert.deepEqual(idsOf(await updates(wallet.me, `after=${wallet.cursor}`)), intents);
  });

  test('tell each decline with its code, and then the payment of the same intent', async () => {
    const wallet = await newWallet();
    const intentId = await addIntent(store, { amount: 2_000_000 });
    await wallet.me.patch('/limits', { per_payment: 1_999_999 });
    let { cursor } = wallet;
    for (const _ of [1, 2]) {
      const waiting = updates(wallet.me, `wait=20&after=${cursor}`);
      await sleep(50);
      assert.equal((await tapPass(wallet, intentId)).body.status, 'requires_payment_method');
      const told = await waiting;
      const [declined, ...more] = told.ended;
      assert.deepEqual(more, []);
      assert.deepEqual(declined, {
        payment_intent: intentId,
        result: 'declined',
        merchant: 'Corner Shop',
        presentment: null,
        total_charged: null,
        receipt_url: null,
        decline_code: 'limit_exceeded',
      });
      cursor = told.cursor;
    }
    await wallet.me.patch('/limits', { per_payment: null });
    assert.equal((await tapPass(wallet, intentId)).body.status, 'succeeded');
    const told = await updates(wallet.me, `wait=20&after=${cursor}`);
    assert.deepEqual(
      told.ended.map(({ result }) => result),
      ['paid'],
    );
    const shown = await merchant.get(`/payment_intents/${intentId}`);
    assert.ok(!JSON.stringify(shown.body).includes('pyr_'));
  });

  test('tell a confirmation at once, and again only when the list has changed', async () => {
    const wallet = await newWallet();
    const waiting = updates(wallet.me, `wait=20&after=${wallet.cursor}`);
    await sleep(50);
    const intentId = await addIntent(store, { amount: 60_000_000 });
    assert.equal((await tapPass(wallet, intentId)).body.status, 'requires_action');
    const told = await waiting;
    assert.deepEqual(
      told.confirmations.map((one) => one.payment_intent),
      [intentId],
    );
    const next = updates(wallet.me, `wait=20&after=${told.cursor}`);
    assert.equal(await Promise.race([next, sleep(300)]), undefined);
    await wallet.me.post(`/confirmations/${intentId}/reject`);
    const last = await next;
    assert.deepEqual(last.confirmations, []);
    assert.deepEqual(
      last.ended.map((one) => one.decline_code),
      ['payer_rejected'],
    );
    const fresh = await updates(wallet.me, 'wait=0');
    assert.deepEqual(fresh.ended, [], 'without a cursor, nothing that ended before');
  });

  test('are the wallet’s own, without payments by agents', async () => {
    const wallet = await newWallet();
    const other = await newWallet();
    const { accountId: account } = store.merchant.tenant;
    const minted = await wallet.me.post('/agent_tokens', {
      ...{ account, amount: 2_500_000, expires_in: 600 },
    });
    const byAgent = await addIntent(store);
    const { agent_token } = minted.body;
    const paid = await merchant.post(`/payment_intents/${byAgent}/confirm`, { agent_token });
    assert.equal(paid.body.status, 'succeeded');
    await merchant.post(`/payment_intents/${await addIntent(store)}/confirm`, { agent_token });
    await tapPass(other, await addIntent(store));
    assert.deepEqual((await updates(wallet.me, `after=${wallet.cursor}`)).ended, []);
  });
});

describe('a request for updates', () => {
  test('with a foreign cursor, garbage, or a wait out of range is refused', async () => {
    const wallet = await newWallet();
    const other = await newWallet();
    for (const after of [other.cursor, 'garbage', '', `${wallet.cursor}A`, 'a'.repeat(2_000)]) {
      const { status, body } = await wallet.me.get(`/updates?wait=20&after=${after}`);
      assert.equal(status, 400, after);
      assert.equal(body.error?.param, 'after');
    }
    for (const wait of ['-1', '26', '1.5', 'x']) {
      const { status, body } = await wallet.me.get(`/updates?wait=${wait}`);
      assert.equal(status, 400, wait);
      assert.equal(body.error?.param, 'wait');
    }
    assert.equal((await server.payer('tlps_none').get('/updates')).status, 401);
  });

  test('waits its time and answers with a fresh cursor if nothing happens', async () => {
    const wallet = await newWallet();
    const started = performance.now();
    const told = await updates(wallet.me, `wait=1&after=${wallet.cursor}`);
    assert.ok(performance.now() - started > 900);
    assert.deepEqual([told.confirmations, told.ended], [[], []]);
  });

  test('of a wallet with too many waiting is refused until one of them has gone', async () => {
    const wallet = await newWallet();
    const gone = new AbortController();
    const path = `/updates?wait=20&after=${wallet.cursor}`;
    const { signal } = gone;
    const held = Array.from({ length: MAX_WAITING_OF_WALLET }, () =>
      wallet.me.send('GET', path, { signal }).catch(() => null),
    );
    const shortPath = path.replace('20', '1');
    const isFull = async () => (await wallet.me.get(shortPath)).status === 429;
    assert.equal(await waitUntil(isFull, 10_000), true);
    const refused = await wallet.me.get(path);
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get('Retry-After')) > 0);
    assert.equal((await wallet.me.get('/updates?wait=0')).status, 200);
    const free: SignedIn = await server.signIn();
    await updates(network.other.payer(free.token), 'wait=1');
    gone.abort();
    await Promise.all(held);
    const isFree = async () => (await wallet.me.get(shortPath)).status === 200;
    assert.equal(await waitUntil(isFree, 10_000), true);
  });
});
