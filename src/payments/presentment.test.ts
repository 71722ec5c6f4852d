import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { addSeconds } from '#core/clock.ts';
import { toMinorUnits } from '#core/currency-conversion.ts';
import { derivedOrderId } from '#core/ids.ts';
import { createIntent } from '#payments/create-intent.ts';
import type { CreateRequest } from '#payments/price-new-intent.ts';
import { readIntent } from '#payments/read-intents-together.ts';
import { renderIntent, renderPayment } from '#payments/render.ts';
import { type Quote, quote } from '#prices/quote-price.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { intentCreator, newRequest, openStore } from '#testkit/fixtures/payments/store.ts';
import { lastSnapshot, newCreate, payNow, see } from '#testkit/fixtures/payments/store-payments.ts';

const clock = new FakeClock();
const store = openForTests(() => openStore({ clock }));

const create = async (request: CreateRequest) => see(await createIntent(store.ctx, request));
const priced = (currency: string, amount: number, more: object = {}) =>
  newCreate(store, { amount: { currency, amount }, ...more });
const setRates = (rates: Readonly<Record<string, string>>) =>
  putRates(store.db, rates, { now: clock.now() });

/** The rate of the first quote. Later tests change the rate. */
const EURO = '1.085422772171';

describe('a price in the shop’s currency', () => {
  test('becomes rate × amount in atoms, rounded down, by its decimals', async () => {
    await setRates({ eur: EURO, jpy: '0.006563833279', kwd: '3.255208333333', usd: '1' });
    const sums = [
      [priced('eur', 250), 2_713_556],
      [priced('eur', 1), 10_854],
      [priced('jpy', 500), 3_281_916],
      [priced('kwd', 1_234), 4_016_927],
      [priced('usd', 1), 10_000],
    ] as const;
    for (const [request, amount] of sums) {
      const { status, body } = await create(request);
      assert.deepEqual([status, body.amount], [201, amount]);
    }
  });

  test('keeps its quote in every derived object, even when the rate changes', async () => {
    await setRates({ eur: EURO, usd: '1' });
    const quotedAt = clock.now().toISOString();
    const request = priced('eur', 1_000, { tipping: { percentages: [10] } });
    const { body } = await create(request);
    const quoted = { currency: 'eur', amount: 1_000, rate: EURO, quoted_at: quotedAt };
    const shown = { ...quoted, source: 'feed.test, other.test', expires_at: body.expires_at };
    // This process has asked no node for the fees.
    const unknown = { ...shown, total: null, fees: null };
    assert.deepEqual(body.presentment, unknown);
    assert.deepEqual(await lastSnapshot(store, 'payment_intent.created'), body);
    clock.advance(30_000);
    await setRates({ eur: '2', usd: '1' });
    const replay = await create(request);
    assert.deepEqual([replay.replayed, replay.body], [true, body]);

    const tip = Math.floor(Number(body.amount) / 10);
    const payment = await payNow(store, String(body.id), tip);
    const read = await readIntent(store.ctx, store.merchant.tenant, payment.payment_intent_id);
    assert.ok(read?.status === 'succeeded');
    assert.equal(payment.amount, 10_854_227n + 1_085_422n);
    const { presentment } = renderPayment(payment, store.pages);
    // 10,854,227 + 1,085,422 atoms, and fees of 11,250.
    assert.deepEqual(presentment, { ...shown, tip_amount: 100, total: 1_101, fees: 1 });
    assert.deepEqual(renderIntent(read).presentment, presentment);
    const event = await lastSnapshot(store, 'payment_intent.succeeded');
    assert.deepEqual(event?.presentment, presentment);
    const told = await lastSnapshot(store, 'payment.succeeded');
    assert.deepEqual(told?.presentment, presentment);
  });

  test('is refused while its rate is too old; a replay still works', async () => {
    await setRates({ eur: EURO, usd: '1' });
    const known = priced('eur', 500);
    const { body } = await create(known);
    clock.advance(120_000);
    assert.equal((await create(priced('eur', 500))).status, 201);
    clock.advance(1);
    const before = await lastSnapshot(store, 'payment_intent.created');
    const late = await create(priced('eur', 500));
    assert.deepEqual([late.status, late.said], [503, 'rates_unavailable']);
    assert.deepEqual(await lastSnapshot(store, 'payment_intent.created'), before);
    assert.deepEqual((await create(known)).body, body);
    assert.equal((await create(newCreate(store))).body.presentment, null);
  });

  test('may share a batch with prices in other currencies', async () => {
    await setRates({ eur: '1', jpy: '0.01', usd: '1' });
    const by = intentCreator(store);
    const requests = [newCreate(store), priced('eur', 1), priced('jpy', 1), priced('xyz', 1)];
    const seen = (await Promise.all(requests.map(by))).map(see);
    assert.deepEqual(
      seen.map(({ status, body }) => [status, body.amount]),
      [
        [201, 2_500_000],
        [201, 10_000],
        [201, 10_000],
        [400, undefined],
      ],
    );
  });
});

describe('after the database had lost it', () => {
  async function addRebuilt(orderId: string, amount: number): Promise<string> {
    const { body } = await create(newCreate(store, { amount, orderId }));
    await store.db.query('update payment_intents set recovered = true where id = $1', [body.id]);
    return String(body.id);
  }

  test('a repeated create finds the rebuilt intent, though the rate has moved', async () => {
    await setRates({ eur: '1', usd: '1' });
    const idempotency = newRequest(store, 'lost euro');
    const id = await addRebuilt(derivedOrderId(store.idKey, idempotency, 0), 2_600_000);
    const again = await create({ ...priced('eur', 250), idempotency });
    assert.deepEqual([again.status, again.replayed, again.body.id], [201, true, id]);
    assert.equal(again.body.presentment, null);
  });

  test('an amount that no rate explains is another sale', async () => {
    await setRates({ eur: '1', usd: '1' });
    await addRebuilt('EUR-1', 2_800_000);
    const other = await create(priced('eur', 250, { orderId: 'EUR-1' }));
    assert.deepEqual([other.status, other.said], [409, 'order_id_in_use']);
    // The message must not advise choosing a new order ID, because the rebuilt intent may be this
    // sale.
    assert.doesNotMatch(JSON.stringify(other.body), /choose a new one/i);
  });

  test('a repeated create finds it while no rate is usable, or none was ever known', async () => {
    await setRates({ eur: '1', usd: '1' });
    const stale = newRequest(store, 'stale euro');
    const id = await addRebuilt(derivedOrderId(store.idKey, stale, 0), 2_600_000);
    const named = await addRebuilt('EUR-2', 2_500_000);
    clock.advance(200_000);
    const again = await create({ ...priced('eur', 250), idempotency: stale });
    assert.deepEqual([again.status, again.body.id], [201, id]);
    const byOrder = await create(priced('eur', 250, { orderId: 'EUR-2' }));
    assert.deepEqual([byOrder.status, byOrder.body.id], [201, named]);

    const unknown = newRequest(store, 'unknown euro');
    const other = await addRebuilt(derivedOrderId(store.idKey, unknown, 0), 2_600_000);
    await store.db.query('delete from exchange_rates');
    const result = await create({ ...priced('eur', 250), idempotency: unknown });
    assert.deepEqual([result.status, result.body.id], [201, other]);
    // The same order ID alone does not prove that it is the same sale.
    const open = await create(priced('eur', 250, { orderId: 'EUR-2' }));
    assert.deepEqual([open.status, open.said], [503, 'rates_unavailable']);
    assert.match(JSON.stringify(open.body), /with the same Idempotency-Key/);
  });

  test("a repeated create finds it even if a line's tax rate was deleted", async () => {
    const idempotency = newRequest(store, 'lost tax');
    const id = await addRebuilt(derivedOrderId(store.idKey, idempotency, 0), 1_000);
    const line = { name: 'Tea', quantity: 1, unit_amount: 1_000, tax_rate: 'Gone' };
    const lines = { lineItems: [line], discount: 0 };
    const again = await create({ ...newCreate(store, { amount: 1_000, lines }), idempotency });
    assert.deepEqual([again.status, again.body.id], [201, id]);
  });
});

test('a price never costs more than its rate, and the tip is shown as it was chosen', () => {
  const currency = fc.constantFrom('eur', 'jpy', 'kwd');
  const rate = fc.bigInt({ min: 1_000_000_000n, max: 4_000_000_000_000n });
  const amount = fc.integer({ min: 1, max: 1_000_000 });
  fc.assert(
    fc.property(
      currency,
      rate,
      amount,
      fc.integer({ min: 1, max: 50 }),
      (code, whole, sum, percent) => {
        const text = `${whole / 10n ** 12n}.${String(whole % 10n ** 12n).padStart(12, '0')}`;
        const now = clock.now();
        const row = {
          currency: code,
          rate: text,
          quoted_at: now,
          usable_until: addSeconds(now, 1),
          source: '',
          market_at: null,
          closed_margin: 0,
        };
        const quoted = quote({ currency: code, amount: sum }, new Map([[code, row]]), now);
        if ('refused' in quoted) return;
        const digits = { eur: 2, jpy: 0, kwd: 3 }[code] ?? 0;
        const scale = 10n ** BigInt(12 + digits - 6);
        const exact = whole * BigInt(sum);
        assert.ok(quoted.amount * scale <= exact && exact < (quoted.amount + 1n) * scale);
        const like: Quote = quoted.quote;
        if (quoted.amount < 1_000n * BigInt(sum)) return;
        assert.equal(toMinorUnits(quoted.amount, like), sum);
        const tip = (quoted.amount * BigInt(percent)) / 100n;
        const chosen = (sum * percent) / 100;
        assert.ok(Math.abs(toMinorUnits(tip, like) - chosen) <= 0.5 + 1e-2);
      },
    ),
  );
});
