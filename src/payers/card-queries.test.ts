import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCard } from '#payers/card.ts';
import { useUpTaps } from '#payers/card-queries.ts';
import { createPayer } from '#payers/create-payer.ts';
import { newUid } from '#testkit/fixtures/core/card-chip.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import { anyAddress, TEST_CARD_KEY } from '#testkit/fixtures/payments/store.ts';

const NOW = new Date('2026-11-22T12:00:00Z');

const database = databaseForTests();

test('taps are consumed in the order of their counter, each once, from one chip', async () => {
  const { db } = database;
  const card = await db.transaction(async (tx) => {
    const payer = await createPayer(tx, { livemode: false, address: anyAddress(), now: NOW });
    const made = { payerId: payer.id, label: '', perPaymentLimit: 1n, cardKey: TEST_CARD_KEY };
    return (await createCard(tx, { ...made, now: NOW })).row;
  });
  const uid = newUid();
  const use = (counter: number, chip = uid) =>
    db.transaction((tx) => useUpTaps(tx, [{ id: card.id, counter, uid: chip }], NOW));
  assert.equal(await use(5), 1);
  assert.equal(await use(5), 0, 'the same tap');
  assert.equal(await use(4), 0, 'an earlier tap');
  assert.equal(await use(6, newUid()), 0, 'another chip');
  assert.equal(await use(6), 1);
});
