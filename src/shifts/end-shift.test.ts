import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { openShift } from '#accounts/shift-rows.ts';
import { isRefusal } from '#core/answer.ts';
import { type Database, RunAgain } from '#db/database.ts';
import { endShift, type ShiftReport, type WriteMail } from '#shifts/end-shift.ts';
import {
  addMerchant,
  addTerminal,
  openStore,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import { addPayment } from '#testkit/fixtures/payments/store-payments.ts';

let store: TestStore;

before(async () => {
  store = await openStore();
});
after(() => store.close());

beforeEach(async () => {
  const now = store.clock.now();
  const merchant = await addMerchant(store.db, { now });
  store = { ...store, merchant, ...(await addTerminal(store.db, merchant, now)) };
});

/** Ends a shift with this function in place of the database's. */
async function end(
  transaction: Database['transaction'],
  writeMail: WriteMail = async () => ({ subject: '', text: '' }),
): Promise<ShiftReport> {
  const { terminalId, merchant, ctx, db, clock } = store;
  const { tenant } = merchant;
  const { accountId } = tenant;
  const now = clock.now();
  await db.transaction((tx) =>
    openShift(tx, { terminalId, accountId, personId: null, pinId: null, now }),
  );
  const request = { tenant, terminalId, idempotency: null, requestId: 'req_1', now };
  const answer = await endShift({ ...ctx, db: { ...db, transaction } }, request, writeMail);
  assert.ok(!isRefusal(answer));
  return JSON.parse(answer.body);
}

const countsOf = ({ figures }: ShiftReport) => figures.map(({ count }) => count);

test('a report that is written again after a conflict holds each sale once', async () => {
  await store.db.query("update accounts set report_email = 'a@shop.test' where id = $1", [
    store.merchant.tenant.accountId,
  ]);
  await addPayment(store);
  let tries = 0;
  const report = await end(
    async (work) => {
      await addPayment(store);
      return store.db.transaction(work);
    },
    async () => {
      tries++;
      if (tries === 1) throw new RunAgain('conflict');
      return { subject: '', text: '' };
    },
  );
  assert.equal(tries, 2);
  assert.deepEqual(countsOf(report), [2]);
});

test('while the account’s order is locked, older entries are not read again', async () => {
  await addPayment(store);
  const [order] = await store.db.query<{ position: bigint }>(
    'select position from account_modes where account_id = $1 and not livemode',
    [store.merchant.tenant.accountId],
  );
  const from: unknown[] = [];
  await end((work) =>
    store.db.transaction((tx) =>
      work({
        ...tx,
        query: (text, values) => {
          if (text.includes('balance_entries e')) from.push(values?.[2]);
          return tx.query(text, values);
        },
      }),
    ),
  );
  assert.deepEqual(from, [order?.position, order?.position]);
});
