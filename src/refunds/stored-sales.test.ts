import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Json } from '#core/canonical-json.ts';
import type { Tenant } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { insertIntents, selectIntent } from '#payments/intent-queries.ts';
import type { OpenIntent } from '#payments/intent-rows.ts';
import { transition } from '#payments/payment-intent.ts';
import { insertPayments, selectPayment } from '#payments/payment-queries.ts';
import { renderIntent, renderPayment } from '#payments/render.ts';
import { saveStates } from '#payments/save-intent-steps.ts';
import { settlementOf } from '#payments/settlement-job.ts';
import { insertRefund, selectRefund } from '#refunds/refund-queries.ts';
import { renderRefund } from '#refunds/render.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import { COMMANDS } from '#testkit/fixtures/payments/intent-situations.ts';
import { TEST_RECEIPTS } from '#testkit/fixtures/payments/store.ts';

/**
 * The file has a line per row of an earlier release: the row, the object that the release rendered
 * from it, and what each command did to it: events, stored columns, and the payload of a job. In
 * `presentment`, the fields of this release are added.
 */
const LINES = readFileSync(new URL('stored-sales.jsonl', import.meta.url), 'utf8');

type Fields = { readonly [name: string]: Json };
type TableName = 'payment_intents' | 'payments' | 'refunds';

interface Line {
  readonly table: TableName;
  readonly row: Fields;
  readonly shown: Fields;
}

const LATER_MS = 1_000;
const TERMS = { merchantNumber: 7n, settleWithinS: 60 };

const database = openForTests(testDatabase, async () => {
  // Each row is tried alone, without the rows to which it refers.
  await database.db.query('alter table payments drop constraint payments_payment_intent_id_fkey');
  await database.db.query('alter table refunds drop constraint refunds_payment_id_fkey');
});

/** Runs `work` in a transaction that is rolled back. */
async function tryOut<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
  const undo = new Error('undo');
  const results: T[] = [];
  const done = database.db.transaction(async (tx) => {
    results.push(await work(tx));
    throw undo;
  });
  await assert.rejects(done, undo);
  return results[0] as T;
}

async function readRow(tx: Tx, table: TableName, id: string): Promise<Fields> {
  const rows = await tx.query<{ row: string }>(
    `select to_jsonb(t)::text as row from ${table} t where id = $1`,
    [id],
  );
  return JSON.parse(present(rows[0], 'row').row) as Fields;
}

async function insertRow(tx: Tx, { table, row }: Line): Promise<void> {
  const columns = Object.keys(row).join(', ');
  await tx.query(
    `insert into ${table} (${columns})
     select ${columns} from jsonb_populate_record(null::${table}, $1::text::jsonb)`,
    [JSON.stringify(row)],
  );
}

function changed(from: Fields, now: Fields): Fields {
  const to = JSON.parse(JSON.stringify(now)) as Fields;
  assert.deepEqual(Object.keys(to), Object.keys(from));
  const isSame = (name: string) => JSON.stringify(to[name]) === JSON.stringify(from[name]);
  return Object.fromEntries(Object.entries(to).filter(([name]) => !isSame(name)));
}

/** Asserts that `insert` stores a new sale as the earlier release did. */
async function insertAgain(tx: Tx, { table, row }: Line, insert: () => Promise<void>) {
  const id = String(row.id);
  const whole = await readRow(tx, table, id);
  await tx.query(`delete from ${table} where id = $1`, [id]);
  await insert();
  assert.deepEqual(changed(whole, await readRow(tx, table, id)), {});
}

function isNew({ row }: Line): boolean {
  const {
    status = 'requires_payment_method',
    tapped_at,
    last_payment_error,
    amount_reserved,
  } = row;
  const isFirst = status === 'requires_payment_method' || status === 'pending';
  return isFirst && tapped_at == null && last_payment_error == null && !amount_reserved;
}

const SHOW = {
  payment_intents: async (tx: Tx, line: Line, tenant: Tenant) => {
    const { row } = line;
    const intent = present(await selectIntent(tx, tenant, String(row.id)), 'intent');
    const shown = renderIntent(intent);
    const now = new Date(intent.created.getTime() + LATER_MS);
    const commands: { [name: string]: Json } = {};
    for (const [name, command] of Object.entries(COMMANDS)) {
      const steps = transition(intent, command, now);
      if (isRefusal(steps)) {
        commands[name] = steps.message;
        continue;
      }
      if (steps.length === 0) continue;
      await tx.query('savepoint command', []);
      const whole = await readRow(tx, line.table, intent.id);
      await saveStates(tx, [{ before: intent, steps }]);
      const stored = changed(whole, await readRow(tx, line.table, intent.id));
      await tx.query('rollback to command', []);
      const events = steps.map((step) => [step.event, changed(shown, renderIntent(step.intent))]);
      commands[name] = { events, stored };
    }
    const job = intent.status === 'processing' ? settlementOf(intent, TERMS) : null;
    if (isNew(line)) await insertAgain(tx, line, () => insertIntents(tx, [intent as OpenIntent]));
    return { shown, job: job && { ...job, number: String(job.number) }, commands };
  },
  payments: async (tx: Tx, line: Line, tenant: Tenant) => {
    const payment = present(await selectPayment(tx, tenant, String(line.row.id)), 'payment');
    if (isNew(line)) await insertAgain(tx, line, () => insertPayments(tx, [payment]));
    return { shown: renderPayment(payment, TEST_RECEIPTS) };
  },
  refunds: async (tx: Tx, line: Line, tenant: Tenant) => {
    const refund = present(await selectRefund(tx, tenant, String(line.row.id)), 'refund');
    if (isNew(line)) await insertAgain(tx, line, () => insertRefund(tx, refund, null));
    return { shown: renderRefund(refund, TEST_RECEIPTS) };
  },
} as const;

/** Returns a field without the fields of its rows that were added since. */
function asBefore(now: Json | undefined, before: Json | undefined): Json | undefined {
  if (!Array.isArray(now) || !Array.isArray(before)) return now;
  return now.map((row, index) => {
    const names = Object.keys(before[index] ?? {});
    return Object.fromEntries(Object.entries(row ?? {}).filter(([name]) => names.includes(name)));
  });
}

/** A column that no response shows. */
const ADDED_COLUMN = 'declined_payer_id';

/**
 * Inserts the row and returns the line that this release would write for it, without the fields
 * that were added since.
 */
function lineNow(line: Line): Promise<string> {
  const { account_id: accountId, livemode } = line.row;
  const tenant = { accountId: String(accountId), livemode: livemode === true };
  return tryOut(async (tx) => {
    await insertRow(tx, line);
    const now = await SHOW[line.table](tx, line, tenant);
    const known = Object.entries(now.shown).flatMap(([name, field]) => {
      return name in line.shown ? [[name, asBefore(field, line.shown[name])]] : [];
    });
    const written = { ...line, ...now, shown: Object.fromEntries(known) };
    return JSON.stringify(written, (name, value) => (name === ADDED_COLUMN ? undefined : value));
  });
}

test('sales that an earlier release stored are read, shown and changed as it did', async () => {
  const lines = LINES.trimEnd().split('\n');
  assert.ok(lines.length >= 20);
  for (const text of lines) {
    const { table, row, shown } = JSON.parse(text) as Line;
    assert.equal(await lineNow({ table, row, shown }), text, `${table} ${row.id}`);
  }
});

test('a succeeded refund without its transaction is a bug, not a refund to show', async () => {
  const lines = LINES.trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text) as Line);
  const line = present(
    lines.find(({ table, row }) => table === 'refunds' && row.status === 'succeeded'),
    'a succeeded refund',
  );
  const damaged = { ...line, row: { ...line.row, tx_hash: null } };
  await assert.rejects(lineNow(damaged), /a succeeded refund has a tx_hash/);
});
