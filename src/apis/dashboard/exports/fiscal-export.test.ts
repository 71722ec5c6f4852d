import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accountingHeader, accountingLines } from '#apis/dashboard/exports/accountant-columns.ts';
import { EXPORTS } from '#apis/dashboard/exports/export-kinds.ts';
import { csvLine } from '#core/csv.ts';
import { updateSigned } from '#fiscal/fiscal-queries.ts';
import { openStore, TEST_RECEIPTS, type TestStore } from '#testkit/fixtures/payments/store.ts';
import { addPayment } from '#testkit/fixtures/payments/store-payments.ts';

let store: TestStore;
before(async () => {
  store = await openStore();
});
after(() => store.close());

test('the export has each signature, or says that the receipt is not signed yet', async () => {
  const { db, merchant } = store;
  const { tenant } = merchant;
  const unasked = await addPayment(store);
  await db.query("update accounts set fiscal_signer = 'https://signer.test' where id = $1", [
    tenant.accountId,
  ]);
  const waiting = await addPayment(store);
  const signed = await addPayment(store);
  const now = store.clock.now();
  await updateSigned(db, signed.id, { signature: '=SIG', text: 'TSE 1', now });
  const whose = { tenant, now, receipts: TEST_RECEIPTS };
  const page = { limit: 10, after: null, createdGte: null, createdLt: null };
  const { rows } = await EXPORTS.payments.read(db, whose, page);
  const rowOf = (id: string) => {
    const result = rows.find((row) => row.id === id);
    assert.ok(result !== undefined);
    return result;
  };
  assert.deepEqual(rowOf(signed.id).fiscal, { signature: '=SIG', text: 'TSE 1' });
  assert.deepEqual(rowOf(waiting.id).fiscal, { signature: null, text: null });
  assert.equal(rowOf(unasked.id).fiscal, null);
  const last = (line: string | undefined) => line?.trim().split(',').at(-1);
  assert.equal(last(accountingHeader('payments')), 'fiscal');
  const expected = [signed, waiting, unasked].map(({ id }) => rowOf(id));
  const lines = await accountingLines(db, tenant, {
    name: 'payments',
    rows: expected,
    timeZone: 'UTC',
  });
  assert.deepEqual(lines.map(last), ['"TSE 1 =SIG"', '"Not signed"', '']);
  const atoms = csvLine(rowOf(signed.id), EXPORTS.payments.columns);
  assert.ok(atoms.includes(',"{""signature"":""=SIG"",""text"":""TSE 1""}",'), atoms);
});
