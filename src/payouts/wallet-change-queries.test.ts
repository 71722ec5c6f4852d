import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';

const FILL = readFileSync(
  path.join(import.meta.dirname, '../../migrations/0037_wallet_change_merchants.sql'),
  'utf8',
);

let store: TestStore;
before(async () => {
  store = await openStore();
});
after(() => store.close());

/** Runs the migration batch by batch. @returns the number of batches with rows. */
async function fill(): Promise<number> {
  let cursor: string | null = null;
  for (let batches = 0; ; batches++) {
    const rows: { cursor: string | null }[] = await store.db.query(FILL, [cursor]);
    cursor = rows[0]?.cursor ?? null;
    if (cursor === null) return batches;
  }
}

test('a wallet change without a merchant number takes that of its account', async () => {
  const { tenant, merchantNumber } = store.merchant;
  await store.db.query(
    `insert into wallet_changes (id, account_id, livemode, wallet, previous_wallet, status,
       requested_by, created, updated, merchant_number)
     select 'wch_' || lpad(n::text, 5, '0'), $1, $2, '0x1', '0x2', 'applied', 'usr_1', now(), now(),
       case when n = 1 then 7 end
     from generate_series(1, 1500) n`,
    [tenant.accountId, tenant.livemode],
  );
  assert.equal(await fill(), 2);
  const rows = await store.db.query<{ merchant_number: bigint; count: number }>(
    `select merchant_number, count(*)::int from wallet_changes
     where account_id = $1 group by merchant_number order by merchant_number`,
    [tenant.accountId],
  );
  const expected = [
    { merchant_number: 7n, count: 1 },
    { merchant_number: merchantNumber, count: 1_499 },
  ].sort((a, b) => Number(a.merchant_number) - Number(b.merchant_number));
  assert.deepEqual(rows, expected);
  assert.equal(await fill(), 0);
});
