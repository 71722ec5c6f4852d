import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createLocation } from '#accounts/locations.ts';
import { isRefusal } from '#core/answer.ts';
import { selectIntent } from '#payments/intent-queries.ts';
import { selectPaymentPage } from '#payments/payment-queries.ts';
import { createRefund } from '#refunds/create.ts';
import { selectRefundPage } from '#refunds/refund-queries.ts';
import { editTerminal } from '#terminals/change-terminal.ts';
import { newRequest, openStore, type TestStore } from '#testing/store.ts';
import { addPayment, playRefunds, see } from '#testing/store-payments.ts';

const actor = { type: 'system', name: 'test' } as const;
const PAGE = { limit: 10, after: null, createdGte: null, createdLt: null };

let store: TestStore;
before(async () => {
  store = await openStore();
});
after(() => store.close());

async function addLocation(name: string): Promise<string> {
  const { accountId } = store.merchant.tenant;
  const ref = { accountId, actor, now: store.clock.now() };
  const made = await store.db.transaction((tx) => createLocation(tx, ref, { name }));
  assert.ok(!isRefusal(made), JSON.stringify(made));
  return made.id;
}

async function moveTerminal(location: string | null): Promise<void> {
  const { tenant } = store.merchant;
  const ref = { tenant, id: store.terminalId, actor, now: store.clock.now() };
  const edit = { version: null, location };
  const moved = await store.db.transaction((tx) => editTerminal(tx, ref, edit));
  assert.ok(!isRefusal(moved), 'the terminal was not moved');
}

async function addRefund(paymentId: string, amount: number): Promise<string> {
  const asked = createRefund(store.ctx, {
    tenant: store.merchant.tenant,
    keyHash: null,
    idempotency: newRequest(store),
    requestId: 'req_test',
    now: store.clock.now(),
    input: { paymentId, amount, reason: null, metadata: {}, source: 'api' },
  });
  while ((await playRefunds(store)) === 0);
  return String(see(await asked).body.id);
}

test('what was sold keeps its location, wherever the terminal goes afterwards', async () => {
  const { db } = store;
  const { tenant } = store.merchant;
  const [harbor, market] = [await addLocation('Harbor'), await addLocation('Market')];
  const before = await addPayment(store);
  await moveTerminal(harbor);
  const atHarbor = await addPayment(store);
  await moveTerminal(market);
  const refund = await addRefund(atHarbor.id, 1_000_000);
  const atMarket = await addPayment(store);
  await moveTerminal(null);
  const after = await addPayment(store);
  const sales = [before, atHarbor, atMarket, after];
  assert.deepEqual(
    sales.map(({ locationId }) => locationId),
    [null, harbor, market, null],
  );
  const intent = await selectIntent(db, tenant, atHarbor.paymentIntentId);
  assert.equal(intent?.locationId, harbor);
  const paid = async (id: string | null) =>
    (await selectPaymentPage(db, { tenant, filters: {} }, { ...PAGE, location: id })).map(
      (one) => one.id,
    );
  assert.deepEqual(await paid(harbor), [atHarbor.id]);
  assert.deepEqual(await paid(market), [atMarket.id]);
  assert.deepEqual(await paid(null), [after.id, before.id]);
  const back = async (id: string | null) =>
    (await selectRefundPage(db, { tenant }, { ...PAGE, location: id })).map((one) => one.id);
  assert.deepEqual([await back(harbor), await back(market)], [[refund], []]);
  assert.deepEqual(await back(null), []);
});
