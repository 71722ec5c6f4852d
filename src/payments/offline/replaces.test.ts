import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import {
  type Forwarded,
  forwardedIn,
  forwardSales,
  type KeptSale,
  setLimits,
  settleForwarded,
  signOffline,
} from '#testkit/apis/offline-sales.ts';
import { startPayGround, summary } from '#testkit/apis/pay-ground.ts';
import { signByLink, tokenOf } from '#testkit/apis/pay-links.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { AMOUNT, PULLED } from '#testkit/fixtures/payments/sale-amounts.ts';
import {
  addIntent,
  addMerchant,
  addPayer,
  addTerminal,
  intentMaker,
  pay,
  summaryOf,
} from '#testkit/fixtures/payments/store.ts';
import { eventTypes, storedStatus } from '#testkit/fixtures/payments/store-payments.ts';
import { answerAsPayer, cancel, limitPayer } from '#testkit/fixtures/payments/store-requests.ts';

let till: Caller;
let isSettling = false;

const ground = openForTests(
  () => startPayGround({ isIdle: true }),
  async () => {
    till = ground.server.device();
    await setLimits(ground);
  },
);

const forward = async (sales: readonly object[], by = till) =>
  forwardedIn(await forwardSales(by, sales));

const said = (item: Forwarded | undefined) =>
  String(item?.code ?? item?.bounce_reason ?? item?.status);

async function saleFor(replaces: string): Promise<KeptSale & { readonly replaces: string }> {
  return { ...(await signOffline(ground, await ground.bare())), replaces };
}

async function replacesOf({ authorization: { nonce } }: KeptSale): Promise<unknown> {
  const sql = 'select replaces from offline_payments where nonce = $1';
  const rows = await ground.store.db.query<{ replaces: string | null }>(sql, [nonce]);
  return rows.map(({ replaces }) => replaces);
}

const settle = () => {
  if (!isSettling) ground.world.startRelayer();
  isSettling = true;
};

/** Pays an intent online. Its settlement waits until the relayer runs. */
async function payOnline(intentId: string): Promise<() => Promise<string>> {
  const account = await ground.bare();
  const send = await signByLink(ground.server.pay, tokenOf(intentId), { account });
  const answer = send();
  await waitUntil(
    async () => (await storedStatus(ground.store, intentId)) === 'processing',
    10_000,
  );
  return async () => summary(await answer);
}

test('an open intent is canceled together with the sale that replaces it', async () => {
  const { store } = ground;
  const open = await addIntent(store);
  const expired = await addIntent(store, { expiresIn: 60 });
  await store.db.query(`update payment_intents set expires_at = now() where id = $1`, [expired]);
  const sales = [await saleFor(open), await saleFor(expired)];
  assert.deepEqual((await forward(sales)).map(said), ['processing', 'processing']);
  assert.equal(await storedStatus(store, open), 'canceled');
  assert.equal(await storedStatus(store, expired), 'canceled');
  assert.deepEqual(await eventTypes(store, open), [
    'payment_intent.created',
    'payment_intent.canceled',
  ]);
  assert.deepEqual(await replacesOf(sales[0] as KeptSale), [open]);
});

test('a bounced sale cancels the intent, too, and a repeated one cancels no other', async () => {
  const { store } = ground;
  const [open, other] = [await addIntent(store), await addIntent(store)];
  const poor = { ...(await signOffline(ground, await ground.bare(0n))), replaces: open };
  const [item] = await forward([poor]);
  assert.equal(said(item), 'insufficient_funds');
  assert.equal(await storedStatus(store, open), 'canceled');
  assert.deepEqual(await forward([{ ...poor, replaces: other }]), [item]);
  assert.equal(await storedStatus(store, other), 'requires_payment_method');
});

test('a phone that approves after the sale was forwarded pays nothing', async () => {
  const { store, world } = ground;
  const wallet = await world.network.addPayer();
  const { payer, pass } = await addPayer(store, { address: wallet.address });
  await limitPayer(store, payer.id, { confirmFirst: true });
  const intentId = await addIntent(store);
  assert.equal(summaryOf(await pay(store, { intentId, pass })), 'requires_action');
  assert.deepEqual((await forward([await saleFor(intentId)])).map(said), ['processing']);
  const approved = await answerAsPayer(store, intentId, { approve: true });
  assert.ok(isRefusal(approved));
  assert.equal(approved.code, 'payment_intent_unexpected_state');
  assert.equal(await storedStatus(store, intentId), 'canceled');
});

test('what the account does not know refuses no record and is stored as null', async () => {
  const { store } = ground;
  const { db, clock } = store;
  const merchant = await addMerchant(db, { now: clock.now(), merchantNumber: 77n });
  const { terminalId } = await addTerminal(db, merchant, clock.now());
  const foreign = await intentMaker(store)({ merchant, terminalId });
  const unknown = ['pi_0000000000000000000000', foreign, 'order 17', ''];
  const sales: KeptSale[] = [];
  for (const id of unknown) sales.push(await saleFor(id));
  const none = { ...(await saleFor('')), replaces: null };
  const items = await forward([...sales, none]);
  assert.deepEqual(new Set(items.map(said)), new Set(['processing']));
  for (const sale of sales) assert.deepEqual(await replacesOf(sale), [null]);
  assert.equal(await storedStatus(store, foreign), 'requires_payment_method');
});

test('a sale waits while the intent is processing, and bounces once it is paid', async () => {
  const { store } = ground;
  const intentId = await addIntent(store);
  const answer = await payOnline(intentId);
  const sale = await saleFor(intentId);
  const beside = await saleFor('pi_none');
  const [waits, taken, again] = await forward([sale, beside, sale]);
  assert.deepEqual(
    { ...waits, message: '' },
    {
      object: 'error',
      code: 'payment_intent_unexpected_state',
      message: '',
      nonce: sale.authorization.nonce,
    },
  );
  assert.deepEqual([said(taken), again], ['processing', waits]);
  assert.deepEqual(await replacesOf(sale), []);
  settle();
  assert.equal(await answer(), '200 succeeded');
  const [item, other] = await settleForwarded(till, [sale, beside]);
  assert.deepEqual(
    [item?.status, item?.bounce_reason, item?.payment_intent, item?.payment],
    ['bounced', 'already_paid', null, null],
  );
  assert.equal(other?.status, 'succeeded');
  assert.deepEqual(await replacesOf(sale), [intentId]);
  const paid = await store.db.query('select id from payments where payment_intent_id = $1', [
    intentId,
  ]);
  assert.equal(paid.length, 1);
  const from = sale.authorization.from as `0x${string}`;
  assert.equal(await ground.world.network.usdcOf(from), PULLED);
});

test('an already paid intent comes before every other reason to bounce', async () => {
  settle();
  const intentId = await addIntent(ground.store);
  const account = await ground.bare();
  const send = await signByLink(ground.server.pay, tokenOf(intentId), { account });
  assert.equal(summary(await send()), '200 succeeded');
  const late = { validBefore: Math.floor(Date.now() / 1000) - 60 };
  const sale = await signOffline(ground, await ground.bare(0n), late);
  assert.deepEqual((await forward([{ ...sale, replaces: intentId }])).map(said), ['already_paid']);
});

test('canceled by the till before it forwards, the sale is paid once, by any till', async () => {
  settle();
  const { store } = ground;
  const { db, clock, merchant } = store;
  const other = await addTerminal(db, merchant, clock.now());
  await setLimits(ground, undefined, other.terminalId);
  const intentId = await addIntent(store);
  await cancel(store, intentId);
  const sale = await saleFor(intentId);
  const by = ground.server.device(other.deviceKey);
  const [item] = await settleForwarded(by, [sale]);
  assert.equal(item?.status, 'succeeded');
  assert.equal(item.amount, AMOUNT);
  assert.deepEqual(await replacesOf(sale), [intentId]);
});
