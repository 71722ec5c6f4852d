import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { wallet } from '#sandbox/derive-wallets.ts';
import {
  forwardSales,
  settleForwarded,
  signAtTerms,
  type TillTerms,
} from '#testkit/apis/offline-sales.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { CART, DISCOUNT, openEuroShop, PRICE } from '#testkit/simulation/offline-day.ts';
import { openRestoreGround, persist } from '#testkit/simulation/restore-ground.ts';

/** A database that is restored or fails over while the chain advances. */

const world = await openRestoreGround();
after(() => world.close());

describe('the database is restored to an earlier copy while the chain continues', () => {
  it('the same tap charges once, and a lost intent returns under its id', async () => {
    const open = await world.create(0, 'OPEN-1');
    const expired = await world.create(0, 'GONE-1');
    const unpaid = await world.create(0, 'WAIT-1');
    const { request_count: requestCount } = await world.recovery();
    await world.ground.database.copy('early');
    const paid = await world.tap(0, open.body.id, 'tap OPEN-1');
    assert.equal(paid.body.status, 'succeeded');
    const gone = await world.tap(0, expired.body.id, 'tap GONE-1');
    assert.equal(gone.body.status, 'succeeded');
    const lost = await world.pay('LOST-1');
    const body = { payment: lost.payment, amount: 500_000 };
    const refund = await world.refund(0, body, 'refund LOST-1');
    assert.equal(refund.body.status, 'succeeded', JSON.stringify(refund.body));
    await world.ground.database.putBack('early');

    const again = await world.tap(1, open.body.id, 'tap OPEN-1');
    assert.equal(again.status, 200, JSON.stringify(again.body));
    assert.equal(again.body.status, 'succeeded');
    assert.equal(again.body.payment, paid.body.payment);
    const row = await world.recovered(requestCount);
    assert.ok(row.loss_shown);
    assert.deepEqual([row.payments, row.refunds], [3, 1]);

    const created = await world.create(1, 'LOST-1');
    assert.equal(created.status, 201, JSON.stringify(created.body));
    assert.equal(created.body.id, lost.intent);
    assert.equal(created.body.recovered, true);
    const payment = await world.read(`/payments/${lost.payment}`);
    assert.deepEqual(payment.payment_method, { type: 'unknown', credential: 'unknown' });
    assert.equal(payment.amount_refunded, 500_000);
    const refunded = await world.refund(1, body, 'refund LOST-1');
    assert.equal(refunded.body.id, refund.body.id, JSON.stringify(refunded.body));
    assert.equal((await world.readIntent(unpaid.body.id)).cancellation_reason, 'recovered');
    for (const order of ['OPEN-1', 'GONE-1', 'LOST-1']) {
      assert.equal(await world.settledOnChain(order), 1, order);
    }
    await world.comeToRest();
  });
});

describe('a sale in euro, with lines', () => {
  const line_items = [{ name: 'Coffee', quantity: '0.5', unit_amount: 520, tax_rate: 700 }];
  const presentment = { currency: 'eur', amount: 250 };
  // 10 of 260.
  const sale = { presentment, line_items, discount: { rate: 385 } };
  const setRate = async (rate: string, maxAgeS: number) =>
    putRates(world.db, { eur: rate, usd: '1' }, { now: new Date(), maxAgeS });
  /** Returns the fields of the sale that neither restore nor chain may change. */
  const soldOf = async (path: string) => {
    const { amount, presentment, line_items, discount, discount_rate } = await world.read(path);
    const { taxes, shop_rate } = await world.read(path);
    return { amount, presentment, line_items, discount, discount_rate, taxes, shop_rate };
  };
  const refundQuarter = (payment: unknown, key: string, on = 0) =>
    world.refund(on, { payment, line_items: [{ line: 0, quantity: '0.25' }] }, key);

  it('keeps its quote in a restore; a lost one returns once, without any rate', async () => {
    await setRate('1', 3600);
    await world.db.query(`update accounts set currency = 'eur'`, []);
    const kept = await world.pay('KEPT-EUR', { sale });
    const open = await world.create(0, 'OPEN-EUR', { sale });
    const quarter = await refundQuarter(kept.payment, 'quarter KEPT-EUR');
    const paths = [
      `/refunds/${quarter.body.id}`,
      `/payment_intents/${kept.intent}`,
      `/payments/${kept.payment}`,
      `/payment_intents/${open.body.id}`,
    ];
    const sold = await Promise.all(paths.map(soldOf));
    const ofSale = { taxes: [{ rate: 700, net: 234, tax: 16, gross: 250 }], shop_rate: '1' };
    assert.partialDeepStrictEqual(sold[2], { discount: 10, discount_rate: 385, ...ofSale });
    const restore = await world.backUp('euro');
    const lost = await world.pay('LOST-EUR', { sale });
    const other = await refundQuarter(kept.payment, 'other KEPT-EUR');
    await restore();
    await setRate('1.05', -1);

    assert.deepEqual(await Promise.all(paths.map(soldOf)), sold);
    const replay = await world.create(1, 'OPEN-EUR', { sale });
    assert.deepEqual(replay.body, open.body);
    const again = await world.create(1, 'LOST-EUR', { sale });
    assert.equal(again.status, 201, JSON.stringify(again.body));
    assert.deepEqual([again.body.id, again.body.recovered], [lost.intent, true]);
    for (const path of [`/payment_intents/${lost.intent}`, `/payments/${lost.payment}`]) {
      const none = { presentment: null, line_items: null, discount: 0, discount_rate: null };
      assert.partialDeepStrictEqual(await soldOf(path), { amount: 2_500_000, ...none });
    }
    const { taxes, shop_rate } = await world.read(`/payments/${lost.payment}`);
    assert.deepEqual([taxes, shop_rate], [null, null]);
    // The chain knows the sum of the lost refund, and so what it took from the taxes, but no lines.
    const rebuilt = await refundQuarter(kept.payment, 'other KEPT-EUR', 1);
    assert.equal(rebuilt.body.id, other.body.id, JSON.stringify(rebuilt.body));
    const {
      line_items: lines,
      taxes: back,
      shop_rate: rate,
    } = await world.read(`/refunds/${other.body.id}`);
    assert.deepEqual([lines, back, rate], [null, other.body.taxes, null]);
    assert.equal(await world.settledOnChain('LOST-EUR'), 1);
    await world.comeToRest();
  });
});

describe('a euro shop sells while its line is cut', () => {
  it('readers show what was sold, after rate, currency and database have changed', async () => {
    const shop = await openEuroShop(world);
    const restore = await world.backUp('before the terms');
    await shop.openInTheMorning();
    const { terminal } = world.node(0);
    const { body: till } = await terminal.get('/terminal');
    const payer = wallet(world.ground.secret, 'testnet payer ok');
    const sale = await signAtTerms(payer, till.offline_terms as TillTerms, PRICE);
    const record = {
      ...sale,
      ...{ line_items: CART.map((line) => ({ ...line, tax_inclusive: true })) },
      ...{ discount: { rate: DISCOUNT }, cashier: shop.lena },
    };
    await shop.changeInTheEvening();
    await restore();
    // The copy does not have these changes.
    await shop.changeInTheEvening();
    // The other node may still be recovering.
    const other = world.node(1).terminal;
    await persist(() => forwardSales(other, [record]));
    const [item] = await settleForwarded(other, [record]);
    assert.equal(item?.status, 'succeeded', JSON.stringify(item));
    await shop.checkSale(item?.payment);
    assert.deepEqual(await settleForwarded(terminal, [record]), [item]);
    await world.comeToRest();
  });
});

describe('a replica takes over', () => {
  it('without lost commits: everything is as before, and payments continue', async () => {
    const open = await world.create(0, 'KEEP-1');
    const paid = await world.pay('KEEP-2');
    const { request_count: requestCount } = await world.recovery();
    await world.ground.database.failOver();
    const row = await world.recovered(requestCount);
    assert.deepEqual([row.loss_shown, row.payments, row.canceled], [false, 0, 0]);
    const tapped = await world.tap(1, open.body.id, 'tap KEEP-1');
    assert.equal(tapped.body.status, 'succeeded', JSON.stringify(tapped.body));
    assert.equal((await world.readIntent(paid.intent)).payment, paid.payment);
    await world.comeToRest();
  });

  it('with lost commits: a tap at another node in the first 100 ms charges nothing', async () => {
    const open = await world.create(0, 'TAIL-1');
    const { request_count: requestCount } = await world.recovery();
    await world.ground.database.copy('replica');
    const paid = await world.tap(0, open.body.id, 'tap TAIL-1');
    assert.equal(paid.body.status, 'succeeded');
    const lost = await world.pay('TAIL-2');
    const over = world.ground.database.putBack('replica', { promote: true });
    const hurried: number[] = [];
    let done = false;
    const hurry = (async () => {
      while (!done) {
        const answer = await world.tapOnce(1, open.body.id, 'tap TAIL-1').catch(() => null);
        if (answer !== null) hurried.push(answer.status);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    await over;
    const row = await world.recovered(requestCount);
    done = true;
    await hurry;
    assert.ok(row.loss_shown);
    assert.ok(hurried.includes(503), `the other node answered ${[...new Set(hurried)].join()}`);
    const again = await world.tap(1, open.body.id, 'tap TAIL-1');
    assert.equal(again.body.payment, paid.body.payment);
    assert.equal((await world.read(`/payments/${lost.payment}`, 1)).recovered, true);
    for (const order of ['TAIL-1', 'TAIL-2'])
      assert.equal(await world.settledOnChain(order), 1, order);
    await world.comeToRest();
  });
});
