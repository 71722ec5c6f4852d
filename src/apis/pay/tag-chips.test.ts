import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { isVisit, makeChip } from '#terminals/tag-chip.ts';
import { rotateTag, tagToken } from '#terminals/tag-url.ts';
import type { Reply } from '#testkit/apis/api-client.ts';
import { startPayGround, summary } from '#testkit/apis/pay-ground.ts';
import { type LinkBody, sign } from '#testkit/apis/pay-links.ts';
import { CardChip, type CardSettings } from '#testkit/fixtures/core/card-chip.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { AMOUNT } from '#testkit/fixtures/payments/sale-amounts.ts';
import { addTerminal, intentMaker, TEST_ID_KEY } from '#testkit/fixtures/payments/store.ts';

const TEN_MINUTES_MS = 10 * 60_000;
const ACTOR = {
  type: 'user',
  userId: 'usr_of_a_test',
  email: 'owner@tags.test',
  requestId: 'req_of_a_test',
  address: '192.0.2.1',
} as const;
const PLACE = { idKey: TEST_ID_KEY, webUrl: () => 'https://pay.example.com' };

const ground = openForTests(startPayGround);

interface Counter {
  readonly terminalId: string;
  readonly orderId: string;
  tag(): Promise<string>;
}

/** Adds a counter whose terminal has one open payment. */
async function newCounter(): Promise<Counter> {
  const { db, clock, merchant } = ground.store;
  const { terminalId } = await addTerminal(db, merchant, clock.now());
  const id = await intentMaker(ground.store)({ merchant, terminalId }, { amount: AMOUNT });
  const [row] = await db.query<{ order_id: string }>(
    `update payment_intents set description = 'Two coffees' where id = $1 returning order_id`,
    [id],
  );
  return {
    terminalId,
    orderId: row?.order_id ?? '',
    tag: async () => {
      const [terminal] = await db.query<{ tag: string }>(
        'select tag from terminals where id = $1',
        [terminalId],
      );
      return tagToken(TEST_ID_KEY, terminal?.tag ?? '');
    },
  };
}

const refOf = (terminalId: string) => ({
  tenant: ground.store.merchant.tenant,
  id: terminalId,
  actor: ACTOR,
  now: ground.store.clock.now(),
});

/** Programs a new chip with settings from the dashboard. */
async function setUp(counter: Counter): Promise<CardChip> {
  return new CardChip(await settingsOf(counter));
}

/** Creates a chip and returns its settings, which the dashboard shows only once. */
async function settingsOf({ terminalId }: Counter): Promise<CardSettings> {
  const { db } = ground.store;
  const made = await db.transaction((tx) => makeChip(tx, PLACE, refOf(terminalId)));
  assert.ok(!isRefusal(made));
  return {
    url_template: made.urlTemplate,
    meta_read_key: made.keys.metaRead.toString('hex'),
    file_read_key: made.keys.fileRead.toString('hex'),
  };
}

const pathOf = (address: string) => new URL(address).pathname.replace('/t/', '/tags/');

/** Sends the URL that the chip produced to the service, as the tag's page does. */
function visit(address: string, at = pathOf(address)): Promise<Reply> {
  const { searchParams } = new URL(address);
  const body = { picc_data: searchParams.get('p'), cmac: searchParams.get('c') };
  return ground.server.pay.post(`${at}/visits`, body);
}

async function opened(address: string): Promise<string> {
  const { status, body } = await visit(address);
  assert.equal(status, 200);
  assert.equal(typeof body.visit, 'string', JSON.stringify(body));
  return String(body.visit);
}

async function detailsFor(path: string, shown?: string, more = ''): Promise<unknown> {
  const query = shown === undefined ? '' : `visit=${encodeURIComponent(shown)}`;
  const { body } = await ground.server.pay.get(`${path}?${query}${more}`);
  const payment = body.payment as Readonly<Record<string, unknown>> | null;
  if (payment === null || payment.order_id === null) return null;
  return { order_id: payment.order_id, description: payment.description };
}

describe('a tag with a chip', () => {
  test('shows the sale to the customer who taps it, and accepts payments as before', async () => {
    const counter = await newCounter();
    const chip = await setUp(counter);
    const address = chip.tap();
    const path = pathOf(address);
    assert.equal(path, `/tags/${await counter.tag()}`);
    assert.equal(await detailsFor(path), null);
    const shown = await opened(address);
    const sold = { order_id: counter.orderId, description: 'Two coffees' };
    assert.deepEqual(await detailsFor(path, shown), sold);
    const account = await ground.bare();
    const { body } = await ground.server.pay.get(`${path}?visit=${shown}&from=${account.address}`);
    const payment = body.payment as unknown as LinkBody & { readonly reference: string };
    const paid = await ground.server.pay.post(`${path}/authorization`, {
      payment: payment.reference,
      from: account.address,
      signature: await sign(account, payment),
    });
    assert.equal(summary(paid), '200 succeeded');
    const later = `&payment=${payment.reference}`;
    assert.deepEqual(await detailsFor(path, shown, later), sold);
  });

  test('a message is valid once, even if ten arrive at the same time', async () => {
    const counter = await newCounter();
    const chip = await setUp(counter);
    const address = chip.tap();
    const answers = await Promise.all(Array.from({ length: 10 }, () => visit(address)));
    const visits = answers.map(({ body }) => body.visit).filter((one) => one !== null);
    assert.equal(visits.length, 1);
    const older = chip.tap();
    await opened(chip.tap());
    assert.equal((await visit(older)).body.visit, null, 'a tap from before the last one');
    await opened(chip.tap());
  });

  test('proves nothing with another chip, at another counter, or once altered', async () => {
    const [counter, other] = [await newCounter(), await newCounter()];
    const chip = await setUp(counter);
    const foreign = await setUp(other);
    const own = pathOf(chip.tap());
    assert.equal((await visit(foreign.tap(), own)).body.visit, null);
    for (const [from, to] of [
      [/p=../, 'p=00'],
      [/c=../, 'c=00'],
    ] as const) {
      const altered = chip.tap().replace(from, to);
      assert.equal((await visit(altered)).body.visit, null, altered);
    }
    const shown = await opened(foreign.tap());
    assert.equal(await detailsFor(own, shown), null, 'a visit to another counter');
    const wrong = `${shown.slice(0, -2)}${shown.endsWith('AA') ? 'BB' : 'AA'}`;
    assert.equal(await detailsFor(pathOf(foreign.tap()), wrong), null);
    const guessed = '0'.repeat(32);
    const url_template = `${chip.tap().split('?')[0]}?p=${guessed}&c=${'0'.repeat(16)}`;
    const clone = new CardChip({ url_template, meta_read_key: guessed, file_read_key: guessed });
    assert.equal((await visit(clone.tap())).body.visit, null);
  });

  test('is bound to the first chip that was programmed with its settings', async () => {
    const settings = await settingsOf(await newCounter());
    const [chip, twin] = [new CardChip(settings), new CardChip(settings)];
    await opened(chip.tap());
    twin.counter = 100;
    assert.equal((await visit(twin.tap())).body.visit, null, 'written with the same paste');
    await opened(chip.tap());
  });

  test('a visit ends after ten minutes, and with its chip or its address', async () => {
    const counter = await newCounter();
    const { clock, db } = ground.store;
    const chip = await setUp(counter);
    const path = pathOf(chip.tap());
    const first = await opened(chip.tap());
    assert.notEqual(await detailsFor(path, first), null);
    const [row] = await db.query<{ chip: string }>(
      'select chip from tag_chips where terminal_id = $1',
      [counter.terminalId],
    );
    const at = (ms: number) => addMs(clock.now(), ms);
    const lasts = (ms: number) => isVisit(TEST_ID_KEY, row?.chip ?? '', first, at(ms));
    assert.deepEqual([lasts(TEN_MINUTES_MS - 10_000), lasts(TEN_MINUTES_MS)], [true, false]);
    const second = await opened(chip.tap());
    const next = await setUp(counter);
    assert.equal(await detailsFor(path, second), null);
    assert.equal((await visit(chip.tap())).body.visit, null, 'the chip of before');
    await opened(next.tap());
    await db.transaction((tx) => rotateTag(tx, refOf(counter.terminalId)));
    assert.equal((await visit(next.tap())).status, 404);
    const moved = `/tags/${await counter.tag()}`;
    assert.equal((await visit(next.tap(), moved)).body.visit, null);
  });
});
