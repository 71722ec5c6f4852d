import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cp, rm } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type MovingShop, openMovingShop, SALE, until } from '#testkit/apis/moving-shop.ts';
import type { OutsideContract } from '#testkit/apis/outside-chain.ts';
import { spawnMain } from '#testkit/network/spawn-network.ts';

/**
 * A merchant moves to the next contract while processes die and the restored database lacks the
 * move.
 */

const CHAIN_ID = 41_203;

let shop: MovingShop;
let second: OutsideContract;
let pass = '';
/** An intent in the backup, paid on the first contract after the backup. */
let open = '';
let atFirst = '';
let atSecond = '';

const database = () => path.join(shop.folder, 'postgres');
const copy = () => path.join(shop.folder, 'copy');

before(async () => {
  shop = await openMovingShop(CHAIN_ID);
  second = await shop.chain.deploySettlement(shop.first);
  await shop.start(shop.first);
  pass = await shop.enrol();
  await shop.pay(await shop.createSale(), pass);
  open = await shop.createSale();
  await shop.network.stop();
  await cp(database(), copy(), { recursive: true });
});

after(() => shop?.close());

test("a process that dies right after the move's request moves the merchant once", async () => {
  await shop.start(second);
  await shop.addFactor();
  await shop.askToGoLive();
  await shop.network.kill();
  await shop.start(second);
  await shop.untilLive();
  atFirst = await shop.pay(open, pass);
  pass = await shop.enrol();
  atSecond = await shop.pay(await shop.createSale(), pass);
  assert.equal((await shop.refund(atSecond)).status, 'succeeded');
  assert.equal(await shop.settledAt(atSecond), second.settlement.toLowerCase());
});

test('restored to before the move, recovery moves the merchant and books both', async () => {
  await shop.network.stop();
  await rm(database(), { recursive: true });
  await cp(copy(), database(), { recursive: true });
  const { child, logs } = spawnMain({
    dataDir: shop.folder,
    env: { ...second.env, TAPLINE_FAILPOINT: 'recovery.payments_booked' },
  });
  const [, signal] = await once(child, 'exit');
  assert.equal(signal, 'SIGKILL', logs());
  await shop.start(second);
  await until('the recovery', async () => {
    const { body } = await shop.merchant.get(`/payments/${atSecond}`);
    const { body: intent } = await shop.merchant.get(`/payment_intents/${open}`);
    return body.amount_refunded === SALE && intent.payment === atFirst ? true : null;
  });
  await shop.untilLive();
  assert.equal(await shop.settledAt(atSecond), second.settlement.toLowerCase());
  assert.equal(await shop.settledAt(atFirst), shop.first.settlement.toLowerCase());
  assert.equal(await shop.available(), 2 * SALE);
});

test('continues to sell at the next contract: nothing is foreign, the books agree', async () => {
  pass = await shop.enrol();
  const payment = await until('a payment', async () => {
    const { status, payment } = await shop.tap(await shop.createSale(), pass);
    return status === 'succeeded' ? String(payment) : null;
  });
  assert.equal(await shop.settledAt(payment), second.settlement.toLowerCase());
  const staff = await shop.staff();
  const alarms = (await staff.get('/alarms')).body.data as { kind: string }[];
  // The chain's nonces exceed the database's, which reveals the loss.
  assert.deepEqual(
    alarms.filter(({ kind }) => kind !== 'nonce_ahead'),
    [],
  );
  assert.deepEqual((await staff.get('/reconciliation')).body.differences, []);
});
