import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeviceApi, type DevicePayment } from '../src/device-api.ts';
import type { Observation } from '../src/zvt/conversation-state.ts';
import { readTotals } from '../src/zvt/end-of-day-totals.ts';
import { EUR, USD } from '../src/zvt/price-of-amount.ts';
import { UNREGISTERED } from '../src/zvt/read-command.ts';
import { Sales } from '../src/zvt/sell-and-refund.ts';
import { NOTHING_STORED, withRefund } from '../src/zvt/stored-results.ts';

/** A sale of 10 USDC with a tip of 2 USDC. As in the API, `amount` includes the tip. */
const TIPPED: DevicePayment = {
  ...{ id: 'pay_1', payment_intent: 'pi_1', amount: 12_000_000, tip: 2_000_000 },
  ...{ amount_refunded: 0, presentment: null, receipt_number: 'RX7QM-17', receipt_url: null },
  payment_method: { type: 'wallet_pass', credential: 'nfc_id' },
  ...{ settled_at: '2026-11-29T12:00:01.000Z', created: '2026-11-29T12:00:00.000Z' },
};
/** The same sale, priced at 8 EUR with a tip of 1.60 EUR. */
const TIPPED_EUR: DevicePayment = {
  ...TIPPED,
  presentment: { currency: 'eur', amount: 800, tip_amount: 160 },
};
const SINCE = {
  ...{ created: '2026-11-29T00:00:00.000Z', payment: null, at: '2026-11-29T00:00:00.000Z' },
};

class OnePayment extends DeviceApi {
  readonly #payment: DevicePayment;

  constructor(payment: DevicePayment) {
    super('http://127.0.0.1:9', 'key');
    this.#payment = payment;
  }

  override async payments() {
    return { data: [this.#payment], next_cursor: null };
  }

  override async totals() {
    return { total: { refunds: 0, refunded: 0, presentment: [] } };
  }
}

async function centsLeft(payment: DevicePayment, currency: number): Promise<number> {
  const reading = { api: new OnePayment(payment), signal: new AbortController().signal };
  const { money } = await readTotals(reading, { since: SINCE, currency });
  return money.amount;
}

test('an end of day counts a tip once', async () => {
  assert.equal(await centsLeft(TIPPED, USD), 1200);
  assert.equal(await centsLeft(TIPPED_EUR, EUR), 960);
  const partly = { amount_refunded: 3_000_000 };
  assert.equal(await centsLeft({ ...TIPPED, ...partly }, USD), 900);
  assert.equal(await centsLeft({ ...TIPPED_EUR, ...partly }, EUR), 720);
  const wholly = { amount_refunded: 12_000_000 };
  assert.equal(await centsLeft({ ...TIPPED, ...wholly }, USD), 0);
  assert.equal(await centsLeft({ ...TIPPED_EUR, ...wholly }, EUR), 0);
});

/** Returns the first news of the reversal of the payment's receipt at this price. */
async function reversalNews(payment: DevicePayment, price: number) {
  const news: Observation[] = [];
  const sales = new Sales({
    api: new OnePayment(payment),
    signal: new AbortController().signal,
    report: (observation) => news.push(observation),
  });
  const reversal = { of: { receipt: 17, price }, money: null, original_trace: null };
  await sales.refund(withRefund(NOTHING_STORED(UNREGISTERED), reversal, 'id').refund);
  const [first] = news;
  assert.ok(first?.type === 'refund');
  return first.news;
}

test('a reversal names the price without the tip, and returns the whole payment', async () => {
  for (const [payment, price] of [[TIPPED, 1000] as const, [TIPPED_EUR, 800] as const]) {
    const news = await reversalNews(payment, price);
    assert.ok(news.status === 'requested', JSON.stringify(news));
    assert.equal(news.request.paid, 12_000_000);
  }
  const { status } = await reversalNews(TIPPED, 1200);
  assert.equal(status, 'refused');
});
