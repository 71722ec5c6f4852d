import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NUMBERS_PER_CELL } from '#core/ids.ts';
import { openDatabase } from '#db/database.ts';
import { keepCell, requireCell } from '#settlement/database-cell.ts';
import { createSettlementNumbers, raiseSettlementNumbers } from '#settlement/settlement-numbers.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

const database = databaseForTests();

test('a database and its range of numbers belong to the cell of its first start', async (t) => {
  const open = (cell: number) => {
    const db = openDatabase({ url: database.url, maxConnections: 2, cell });
    t.after(() => db.close());
    return db;
  };
  const db = open(3);
  await keepCell(db);
  await keepCell(open(3));
  await requireCell(open(3));
  for (const look of [keepCell, requireCell]) {
    await assert.rejects(look(open(0)), /CELL=0, but this database belongs to cell 3 /);
  }
  const first = 3n * NUMBERS_PER_CELL;
  const isOurs = ({ number }: { readonly number: bigint }) =>
    number >= first && number < first + NUMBERS_PER_CELL;
  const numbers = createSettlementNumbers(db);
  assert.ok((await numbers.take([false, true, false])).every(isOurs));
  // Simulates a thief who settles in the next cell's range. Our numbers must not be raised into it.
  await db.query(
    `insert into chain_payments (livemode, number, payer, merchant_number, amount, order_id,
       batch_number, fee_acquirer, fee_protocol, cashback, tx_hash, block_number, block_time,
       log_index)
     select false, $1, '0x', 1, 1, 'order', 1, 0, 0, 0, '0x', 1, now(), 0`,
    [first + NUMBERS_PER_CELL + 5n],
  );
  await db.transaction((tx) => raiseSettlementNumbers(tx, false));
  numbers.drop();
  assert.ok((await numbers.take([false])).every(isOurs));
});
