import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import fastify from 'fastify';
import type { PrivateKeyAccount } from 'viem/accounts';
import { createTagGate } from '#apis/pay/tag-page.ts';
import { tagToken } from '#terminals/tag-url.ts';
import type { Reply } from '#testkit/apis/api-client.ts';
import { type PayGround, startPayGround, summary } from '#testkit/apis/pay-ground.ts';
import { type LinkBody, sign, tokenOf } from '#testkit/apis/pay-links.ts';
import { newWallet } from '#testkit/apis/wallet-sign-in.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { AMOUNT, PULLED } from '#testkit/fixtures/payments/sale-amounts.ts';
import {
  addIntent,
  addTerminal,
  intentMaker,
  TEST_ID_KEY,
} from '#testkit/fixtures/payments/store.ts';
import { ensureBuilt } from '#web/build-web-apps.ts';
import { addWebRoutes } from '#web/serve-apps.ts';

const ground = openForTests(startPayGround);

interface Counter {
  readonly merchant: PayGround['store']['merchant'];
  readonly terminalId: string;
}

async function tokenOfTerminal(id: string): Promise<string> {
  const rows = await ground.store.db.query<{ tag: string }>(
    'select tag from terminals where id = $1',
    [id],
  );
  return tagToken(TEST_ID_KEY, rows[0]?.tag ?? '');
}

/** Adds a counter whose terminal has no payment yet. */
async function newCounter(): Promise<Counter & { readonly tag: string }> {
  const { db, clock, merchant } = ground.store;
  const { terminalId } = await addTerminal(db, merchant, clock.now());
  return { merchant, terminalId, tag: await tokenOfTerminal(terminalId) };
}

function charge(counter: Counter, amount = AMOUNT): Promise<string> {
  return intentMaker(ground.store)(counter, { amount });
}

type Payment = LinkBody & { readonly reference: string };

const read = (tag: string, query = '') => ground.server.pay.get(`/tags/${tag}${query}`);
const shown = (answer: Reply) => answer.body.payment as unknown as Payment;

async function payAt(tag: string, account: PrivateKeyAccount): Promise<Reply> {
  const payment = shown(await read(tag, `?from=${account.address}`));
  const signature = await sign(account, payment);
  return send(tag, { payment: payment.reference, from: account.address, signature });
}

function send(tag: string, body: Readonly<Record<string, unknown>>): Promise<Reply> {
  return ground.server.pay.post(`/tags/${tag}/authorization`, body);
}

describe('a tag on the counter', () => {
  test('waits for the till, opens immediately, and pays without revealing the order', async () => {
    const counter = await newCounter();
    const nothing = await read(counter.tag);
    assert.equal(nothing.status, 200);
    assert.equal(nothing.body.payment, null);
    assert.deepEqual(nothing.body.merchant, { name: counter.merchant.name });
    const waiting = read(counter.tag, '?wait=20');
    const intentId = await charge(counter);
    const sentAt = performance.now();
    const opened = await waiting;
    // The poll must return early, because a payment is already open; otherwise it waits for twenty
    // seconds.
    assert.ok(performance.now() - sentAt < 3_000, `${performance.now() - sentAt} ms`);
    const merchant = await ground.server.merchant();
    const intent = (await merchant.get(`/payment_intents/${intentId}`)).body;
    assert.equal(String(intent.order_id).length, 8);
    assert.equal(shown(opened).amount, AMOUNT);
    const account = await ground.bare();
    const asFrom = await read(counter.tag, `?from=${account.address}`);
    for (const secret of [intent.order_id, intentId, tokenOf(intentId)]) {
      assert.equal(JSON.stringify(asFrom.body).includes(String(secret)), false, String(secret));
    }
    const { reference } = shown(asFrom);
    const paid = await payAt(counter.tag, account);
    assert.equal(summary(paid), '200 succeeded');
    assert.equal(JSON.stringify(paid.body).includes(String(intent.order_id)), false);
    assert.match(String(paid.body.receipt_url), /\/receipts\/[0-9A-Za-z]{22}$/);
    assert.equal(await ground.world.network.usdcOf(account.address), 0n);
    const later = await read(counter.tag, `?payment=${reference}`);
    assert.equal(shown(later).status, 'succeeded');
    assert.equal(JSON.stringify(later.body).includes('receipt'), false);
    assert.equal((await read(counter.tag)).body.payment, null);
    const [payment] = (await merchant.get(`/payments?payment_intent=${intentId}`)).body
      .data as Record<string, unknown>[];
    assert.deepEqual(payment?.payment_method, { type: 'wallet', credential: 'authorization' });
  });

  test('gives the same response, with the receipt, to the same signature', async () => {
    const counter = await newCounter();
    await charge(counter);
    const account = await ground.bare(PULLED * 2n);
    const payment = shown(await read(counter.tag, `?from=${account.address}`));
    const body = {
      payment: payment.reference,
      from: account.address,
      signature: await sign(account, payment),
    };
    const answers = await Promise.all([send(counter.tag, body), send(counter.tag, body)]);
    assert.deepEqual(answers[0]?.body, answers[1]?.body);
    assert.notEqual((await send(counter.tag, body)).body.receipt_url, null);
    assert.equal(await ground.world.network.usdcOf(account.address), PULLED);
  });

  test('gives that response to a request that reads the chain after the payment', async () => {
    const counter = await newCounter();
    await charge(counter);
    const account = await ground.bare();
    const payment = shown(await read(counter.tag, `?from=${account.address}`));
    const body = {
      payment: payment.reference,
      from: account.address,
      signature: await sign(account, payment),
    };
    const release = ground.holdPreflight();
    const late = send(counter.tag, body);
    await setTimeout(100);
    const paid = await send(counter.tag, body);
    assert.equal(summary(paid), '200 succeeded');
    release();
    assert.deepEqual((await late).body, paid.body);
  });

  test('accepts one wallet at a time, and refuses the others meanwhile', async () => {
    const counter = await newCounter();
    await charge(counter);
    const wallets = [await ground.bare(), await ground.bare(), await ground.bare()];
    const answers = await Promise.all(wallets.map((account) => payAt(counter.tag, account)));
    const refused = '409 payment_intent_unexpected_state';
    assert.deepEqual(answers.map(summary).sort(), ['200 succeeded', refused, refused]);
  });

  test('is not blocked by empty wallets: they leave no trace', async () => {
    const counter = await newCounter();
    const intentId = await charge(counter);
    const empty = Array.from({ length: 4 }, () => newWallet());
    const declined = await Promise.all(empty.map((account) => payAt(counter.tag, account)));
    for (const answer of declined) assert.equal(summary(answer), '200 insufficient_funds');
    const merchant = await ground.server.merchant();
    const after = (await merchant.get(`/payment_intents/${intentId}`)).body;
    assert.deepEqual([after.status, after.last_payment_error], ['requires_payment_method', null]);
    const events = await ground.store.db.query(
      `select from events where object_id = $1 and type = 'payment_intent.payment_failed'`,
      [intentId],
    );
    assert.equal(events.length, 0);
    const strangers = await ground.store.db.query(
      'select from payers where address = any($1::text[])',
      [empty.map(({ address }) => address)],
    );
    assert.equal(strangers.length, 0);
    assert.equal(summary(await payAt(counter.tag, await ground.bare())), '200 succeeded');
  });

  test('shows the oldest of several payments, and one after the other', async () => {
    const counter = await newCounter();
    await charge(counter);
    await charge(counter, AMOUNT - 1);
    assert.equal(shown(await read(counter.tag)).amount, AMOUNT);
    assert.equal(summary(await payAt(counter.tag, await ground.bare())), '200 succeeded');
    assert.equal(shown(await read(counter.tag)).amount, AMOUNT - 1);
  });

  test('shows only the payments of its own terminal, and no pay link', async () => {
    const [mine, other] = [await newCounter(), await newCounter()];
    const intentId = await charge(other);
    const { reference } = shown(await read(other.tag));
    assert.equal((await read(mine.tag, `?payment=${reference}`)).status, 404);
    const body = { payment: reference, from: `0x${'1'.repeat(40)}`, signature: '0x00' };
    assert.equal((await send(mine.tag, body)).status, 404);
    assert.equal((await ground.server.pay.get(`/${reference}`)).status, 404);
    assert.equal((await read(other.tag, `?payment=${tokenOf(intentId)}`)).status, 404);
  });

  test('of a deactivated terminal waits; a made-up one is not found', async () => {
    const counter = await newCounter();
    await charge(counter);
    await ground.store.db.query(`update terminals set status = 'inactive' where id = $1`, [
      counter.terminalId,
    ]);
    assert.equal((await read(counter.tag)).body.payment, null);
    for (const token of ['x', '0'.repeat(22), 'z'.repeat(22), counter.tag.slice(1)]) {
      assert.equal((await read(token)).status, 404, token);
    }
  });

  test('a signature for the tag does not pay the link, or vice versa', async () => {
    const intentId = await addIntent(ground.store, { amount: AMOUNT });
    const tag = await tokenOfTerminal(ground.store.terminalId);
    const account = await ground.bare();
    const payment = shown(await read(tag, `?from=${account.address}`));
    const signature = await sign(account, payment);
    const moved = await ground.authorize(tokenOf(intentId), account.address, signature);
    assert.equal(summary(moved), '400 signature_invalid');
    assert.equal(summary(await payAt(tag, account)), '200 succeeded');
  });
});

test('the page of a tag is not cached; unknown ones are not found; 120 open a minute', async () => {
  const app = fastify({ exposeHeadRoutes: false });
  const folder = await ensureBuilt(tmpdir());
  // The limiter's clock stands still: on a slow machine, time would otherwise allow more visits.
  const gates = { tag: createTagGate(ground.store.ctx, () => 0) };
  await addWebRoutes(app, { folder, production: true, gates });
  const get = (token: string, remoteAddress = '192.0.2.1') =>
    app.inject({ method: 'GET', url: `/t/${token}`, remoteAddress });
  const { tag } = await newCounter();
  const page = await get(tag);
  assert.deepEqual([page.statusCode, page.headers['cache-control']], [200, 'no-store']);
  assert.match(page.body, / id="app"/);
  const unknown = await get('0'.repeat(22));
  assert.deepEqual([unknown.statusCode, unknown.headers['cache-control']], [404, 'no-store']);
  assert.match(unknown.body, /<h1>Nothing to pay here<\/h1>/);
  for (let visit = 2; visit < 120; visit++) assert.equal((await get(tag)).statusCode, 200);
  const refused = await get(tag);
  assert.equal(refused.statusCode, 429);
  assert.equal(refused.headers['retry-after'], '1');
  assert.equal((await get(tag, '192.0.2.2')).statusCode, 200);
  await app.close();
});
