import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Fastify from 'fastify';
import { addCardPage } from '#apis/payer/card-page.ts';
import { atoms } from '#core/money.ts';
import { updatePayerBlocked } from '#payers/payer-queries.ts';
import type { PreflightResult } from '#payments/assess-payment.ts';
import type { StaticPassTerms } from '#risk/risk-rules.ts';
import type { Body, Caller } from '#testkit/apis/api-client.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { type Presented, tap } from '#testkit/apis/tap.ts';
import { openTwoNodes, type Presenting, type TwoNodes } from '#testkit/apis/two-nodes.ts';
import { CardChip, type CardSettings } from '#testkit/fixtures/core/card-chip.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { addIntent, addPayer, type TestStore } from '#testkit/fixtures/payments/store.ts';

const clock = new FakeClock();
let preflight: PreflightResult = { ok: true };
let network: TwoNodes;
let store: TestStore;
let server: StoreServer;

before(async () => {
  network = await openTwoNodes({ clock, preflight: async () => preflight });
  ({ store, server } = network);
});

after(() => network.close());

interface Owned {
  readonly me: Caller;
  readonly payerId: string;
  readonly card: CardSettings & { readonly id: string };
  readonly chip: CardChip;
}

/** Adds a payer with a card. @returns them and the chip with the card's keys. */
async function newCard(body: object = {}, chainId = 31_337): Promise<Owned> {
  const { me } = await server.signIn({ chainId });
  const { body: payer } = await me.get('/me');
  const created = await me.post('/cards', body);
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const card = created.body as unknown as Owned['card'];
  return { me, payerId: String(payer.id), card, chip: new CardChip(card) };
}

const sun = (value: string) => ({ type: 'nfc_sun', value });
const outcome = (value: string, at?: Presenting) => network.outcome(sun(value), at);

function altered(url: string, name: 'p' | 'c'): string {
  const changed = new URL(url);
  const value = changed.searchParams.get(name) ?? '';
  const digit = value.startsWith('0') ? '1' : '0';
  changed.searchParams.set(name, digit + value.slice(1));
  return changed.href;
}

describe('a SUN card', () => {
  test('pays, and the payment says how', async () => {
    const { chip } = await newCard();
    const { body } = await network.present(sun(chip.tap()));
    assert.equal(body.status, 'succeeded');
    assert.ok(body.tapped_at);
    const method = { type: 'wallet_pass', credential: 'nfc_sun' };
    assert.deepEqual(await network.methodOf(body.id), method);
  });

  test('shows its keys once, and stores them encrypted', async () => {
    const { me, card } = await newCard({ label: 'Ring' });
    assert.match(card.meta_read_key, /^[0-9a-f]{32}$/);
    assert.notEqual(card.meta_read_key, card.file_read_key);
    const zeros = `\\?p=${'0'.repeat(32)}&c=${'0'.repeat(16)}$`;
    assert.match(card.url_template, new RegExp(`^http://127.0.0.1:\\d+/card/${card.id}${zeros}`));
    const { body } = await me.get('/cards');
    const [listed] = body.data as Record<string, unknown>[];
    assert.deepEqual(
      [listed?.id, listed?.label, listed?.status, listed?.per_payment_limit],
      [card.id, 'Ring', 'active', 50_000_000],
    );
    const [stored] = await store.db.query<{ row: string }>(
      'select cards::text as row from cards where id = $1',
      [card.id],
    );
    for (const key of [card.meta_read_key, card.file_read_key]) {
      assert.ok(!JSON.stringify(body).includes(key), 'a key is in the list');
      assert.ok(!stored?.row.includes(key), 'a key is in the database');
    }
  });

  test('one URL sent 20 times concurrently over two nodes pays one of 20 intents', async () => {
    const { chip } = await newCard();
    const outcomes = await network.race(sun(chip.tap()), 20);
    assert.deepEqual(outcomes, { succeeded: 1, pass_replayed: 19 });
  });

  test('concurrent taps with increasing counters pay in any order, none twice', async () => {
    const { chip } = await newCard();
    const urls = Array.from({ length: 8 }, () => chip.tap());
    const outcomes = await Promise.all(
      urls.map((url, i) => outcome(url, { node: i % 2 === 0 ? 0 : 1 })),
    );
    assert.ok(outcomes.includes('succeeded'), outcomes.join());
    for (const url of urls) assert.equal(await outcome(url), 'pass_replayed');
    assert.equal(await outcome(chip.tap()), 'succeeded');
  });

  test('accepts only increasing counters: earlier taps are refused, gaps are allowed', async () => {
    const { chip } = await newCard();
    const [first, second] = [chip.tap(), chip.tap()];
    chip.counter += 1_000;
    assert.equal(await outcome(second), 'succeeded');
    assert.equal(await outcome(first), 'pass_replayed');
    assert.equal(await outcome(second), 'pass_replayed');
    assert.equal(await outcome(chip.tap()), 'succeeded');
  });

  test('belongs to the chip of its first accepted tap', async () => {
    const { card, chip } = await newCard();
    const [copy, late] = [new CardChip(card), new CardChip(card)];
    assert.equal(await outcome(altered(copy.tap(), 'c')), 'pass_replayed');
    assert.equal(await outcome(chip.tap()), 'succeeded');
    late.counter = 500;
    assert.equal(await outcome(late.tap()), 'pass_replayed');
    assert.equal(await outcome(chip.tap()), 'succeeded');
  });

  test('declines a message that it did not produce', async () => {
    const [mine, other] = [await newCard(), await newCard()];
    const url = mine.chip.tap();
    assert.equal(await outcome(altered(url, 'c')), 'pass_replayed');
    assert.equal(await outcome(altered(url, 'p')), 'pass_replayed');
    assert.equal(await outcome(url.replace(mine.card.id, other.card.id)), 'pass_replayed');
    const nobody = mine.card.id.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    assert.equal(await outcome(url.replace(mine.card.id, nobody)), 'pass_unknown');
    assert.equal(await outcome(url), 'succeeded');
  });

  test('that is deleted stops working immediately; deleting it again changes nothing', async () => {
    const { me, card, chip } = await newCard();
    const deleted = await me.send('DELETE', `/cards/${card.id}`);
    assert.deepEqual([deleted.status, deleted.body.status], [200, 'revoked']);
    assert.equal(await outcome(chip.tap()), 'pass_revoked');
    clock.advance(1_000);
    const again = await me.send('DELETE', `/cards/${card.id}`);
    assert.equal(again.body.revoked_at, deleted.body.revoked_at);
    assert.equal((await me.patch(`/cards/${card.id}`, { label: 'x' })).status, 404);
    const foreign = await (await newCard()).me.send('DELETE', `/cards/${card.id}`);
    assert.equal(foreign.status, 404);
  });

  test('of the other network is unknown', async () => {
    const { chip } = await newCard({}, 31_338);
    assert.equal(await outcome(chip.tap()), 'pass_unknown');
  });

  test('has its own limit, which its owner may change', async () => {
    const { me, card, chip } = await newCard({ per_payment_limit: 3_000_000 });
    const sale = async (amount: number) =>
      outcome(chip.tap(), { intentId: await addIntent(store, { amount }) });
    assert.equal(await sale(3_000_000), 'succeeded');
    assert.equal(await sale(3_000_001), 'limit_exceeded');
    const changed = await me.patch(`/cards/${card.id}`, { per_payment_limit: 3_000_001 });
    assert.deepEqual([changed.status, changed.body.per_payment_limit], [200, 3_000_001]);
    assert.equal(await sale(3_000_001), 'succeeded');
  });

  test('without a limit of the payer’s choice pays 50 USDC and no atom more', async () => {
    const { chip } = await newCard();
    const sale = async (amount: number) =>
      outcome(chip.tap(), { intentId: await addIntent(store, { amount }) });
    assert.equal(await sale(50_000_001), 'limit_exceeded');
    assert.equal(await sale(50_000_000), 'requires_action');
  });

  test('no payer has more than 16 at a time', async () => {
    const { me, card } = await newCard();
    for (let more = 1; more < 16; more++) assert.equal((await me.post('/cards')).status, 201);
    assert.equal((await me.post('/cards')).status, 409);
    await me.send('DELETE', `/cards/${card.id}`);
    assert.equal((await me.post('/cards')).status, 201);
  });
});

describe("a card's message is consumed", () => {
  test('by every 200 response, whatever the result of the payment', async () => {
    const { chip, payerId } = await newCard();
    const block = (at: Date | null) =>
      store.db.transaction((tx) => updatePayerBlocked(tx, payerId, at));
    await block(clock.now());
    const url = chip.tap();
    assert.equal(await outcome(url), 'risk_blocked');
    await block(null);
    assert.equal(await outcome(url), 'pass_replayed');
    assert.equal(await outcome(chip.tap()), 'succeeded');
  });

  test('not by an intent that is closed or missing', async () => {
    const { chip } = await newCard();
    const intentId = await addIntent(store);
    await server.device().post(`/payment_intents/${intentId}/cancel`);
    const url = chip.tap();
    assert.equal(await outcome(url, { intentId }), 'payment_intent_unexpected_state');
    const nowhere = 'pi_01QzXo0KcV5sVQ2pWm8Tn3';
    assert.equal(await outcome(url, { intentId: nowhere }), 'resource_missing');
    assert.equal(await outcome(url), 'succeeded');
  });

  test('not by a 503 while the chain is unreachable', async () => {
    const { chip } = await newCard();
    const url = chip.tap();
    preflight = 'unavailable';
    assert.equal(await outcome(url), 'service_unavailable');
    preflight = { ok: true };
    assert.equal(await outcome(url), 'succeeded');
  });

  test('not by a repeated Idempotency-Key', async () => {
    const { chip } = await newCard();
    const [first, second] = [chip.tap(), chip.tap()];
    const intentId = await addIntent(store);
    const key = 'tap-once-more';
    assert.equal(await outcome(first, { intentId, key }), 'succeeded');
    assert.equal(await outcome(first, { intentId, key }), 'succeeded');
    assert.equal(await outcome(second, { intentId, key }), 'idempotency_key_reused');
    assert.equal(await outcome(second), 'succeeded');
  });

  test("the card may be deleted between the tap and the payer's approval", async () => {
    const { me, card, chip } = await newCard();
    const intentId = await addIntent(store, { amount: 50_000_000 });
    assert.equal(await outcome(chip.tap(), { intentId }), 'requires_action');
    await me.send('DELETE', `/cards/${card.id}`);
    const { body } = await me.post(`/confirmations/${intentId}/approve`);
    assert.equal(body.decline_code, 'pass_revoked', JSON.stringify(body));
  });

  test("its limit may be lowered between the tap and the payer's approval", async () => {
    const { me, card, chip } = await newCard();
    const intentId = await addIntent(store, { amount: 50_000_000 });
    assert.equal(await outcome(chip.tap(), { intentId }), 'requires_action');
    await me.patch(`/cards/${card.id}`, { per_payment_limit: 49_999_999 });
    const { body } = await me.post(`/confirmations/${intentId}/approve`);
    assert.equal(body.decline_code, 'limit_exceeded', JSON.stringify(body));
  });
});

test('anything but the URL of a card is a bad request', async () => {
  const { chip } = await newCard();
  const url = chip.tap();
  const path = url.slice(url.indexOf('/card/'));
  for (const bad of [
    'nfc_01QzXo0KcV5sVQ2pWm8Tn3',
    url.replace('/card/', '/cards/'),
    url.replace('/card/card_', '/card/pass_'),
    url.replace('p=', 'q='),
    url.slice(0, -1),
    `${url}0`,
    url.replace(/p=./, 'p=g'),
    `${url}&c=${'0'.repeat(16)}`,
    'https://[',
  ]) {
    const { status, body } = await network.present(sun(bad));
    assert.deepEqual([status, body.error?.param], [400, 'credential.value']);
  }
  const moved = `https://elsewhere.example/shop${path.slice(0, path.indexOf('?'))}`;
  const { searchParams } = new URL(url);
  const [p, c] = [searchParams.get('p'), searchParams.get('c')].map((hex) => hex?.toLowerCase());
  assert.equal(await outcome(`${moved}?c=${c}&lang=en&p=${p}#top`), 'succeeded');
});

describe('the page of a card', () => {
  test('shows that it is a card, but nothing about its owner, and changes nothing', async () => {
    const { me, card, chip } = await newCard({ label: 'Ring of Paula' });
    const app = Fastify();
    addCardPage(app, store);
    const url = chip.tap();
    const path = url.slice(url.indexOf('/card/'));
    const shown = await app.inject(path);
    assert.equal(shown.statusCode, 200);
    assert.match(shown.body, /payment card/);
    assert.doesNotMatch(shown.body, /Paula/);
    assert.equal(await outcome(url), 'succeeded');
    await me.send('DELETE', `/cards/${card.id}`);
    assert.match((await app.inject(path)).body, /has been revoked/);
    assert.equal((await app.inject('/card/card_nobody')).statusCode, 404);
    await app.close();
  });
});

describe('test mode simulates the chip', () => {
  test('and continues its counter, even after taps of the real chip', async () => {
    const { card, chip } = await newCard();
    const merchant = await server.merchant();
    const play = async () => {
      const { status, body } = await merchant.post(`/test_helpers/cards/${card.id}/taps`);
      assert.equal(status, 201, JSON.stringify(body));
      return String(body.url);
    };
    const [first, second] = [await play(), await play()];
    assert.equal(await outcome(first), 'succeeded');
    assert.equal(await outcome(second), 'succeeded');
    assert.equal(await outcome(first), 'pass_replayed');
    chip.counter = 40;
    // The card is already bound to the simulated chip, so the real chip counts as another one.
    assert.equal(await outcome(chip.tap()), 'pass_replayed');
    assert.equal(await outcome(await play()), 'succeeded');
  });

  test('but not for a card of the live network, nor for a missing one', async () => {
    const merchant = await server.merchant();
    const live = await newCard({}, 31_338);
    for (const id of [live.card.id, 'card_01QzXo0KcV5sVQ2pWm8Tn3']) {
      assert.equal((await merchant.post(`/test_helpers/cards/${id}/taps`)).status, 404);
    }
  });

  test('until its counter is exhausted', async () => {
    const { card } = await newCard();
    const merchant = await server.merchant();
    await store.db.query('update cards set emulated = 16777214 where id = $1', [card.id]);
    const last = await merchant.post(`/test_helpers/cards/${card.id}/taps`);
    assert.equal(await outcome(String(last.body.url)), 'succeeded');
    assert.equal((await merchant.post(`/test_helpers/cards/${card.id}/taps`)).status, 409);
  });
});

test('an erased payer has no cards left', async () => {
  const { me, chip } = await newCard();
  const exported = await me.post('/me/export');
  assert.equal((exported.body.cards as object[]).length, 1);
  assert.equal((await me.post('/me/erase')).status, 204);
  assert.equal(await outcome(chip.tap()), 'pass_unknown');
});

/** Serves the network with this risk rule. @returns a function that pays, and one that closes. */
async function serveStrictly(staticPass: StaticPassTerms) {
  const { store: strict, server: node } = await openServedStore({
    ...{ database: store.database, clock, staticPass },
  });
  const pay = async (amount: number, credential: string | Presented) =>
    (await tap(node.device(), await addIntent(strict, { amount }), credential)).body;
  const { pass } = await addPayer(strict);
  return { pass, pay, close: node.close };
}

const reasonOf = ({ next_action: next }: Body) => (next as { reason_code: string }).reason_code;

test("a static pass needs its payer’s approval from the network's threshold on", async () => {
  const terms = { confirmFrom: atoms(2_000_000), asksFirst: false };
  const { pass, pay, close } = await serveStrictly(terms);
  assert.equal(reasonOf(await pay(2_000_000, pass)), 'STATIC_PASS');
  assert.equal((await pay(1_999_999, pass)).status, 'succeeded');
  const { chip } = await newCard();
  assert.equal((await pay(2_000_000, sun(chip.tap()))).status, 'succeeded');
  await close();
});

test('where a first payment by static pass needs approval, one by chip does not', async () => {
  const terms = { confirmFrom: atoms(20_000_000), asksFirst: true };
  const { pass, pay, close } = await serveStrictly(terms);
  assert.equal(reasonOf(await pay(1_000_000, pass)), 'STATIC_PASS');
  const { chip } = await newCard();
  assert.equal((await pay(1_000_000, sun(chip.tap()))).status, 'succeeded');
  await close();
});
