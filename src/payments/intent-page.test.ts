import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMs } from '#core/clock.ts';
import type { Sql } from '#db/database.ts';
import type { Place } from '#db/paging.ts';
import { type IntentFilters, selectIntentPage } from '#payments/intent-page.ts';
import { INTENT_STATUSES } from '#payments/intent-rows.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';

const TENANT = { accountId: 'acct_a', livemode: false };
const NOW = new Date('2026-10-01T12:00:00.000Z');
const EVERY = { after: null, createdGte: null, createdLt: null, limit: 1_000 } as const;
/** Enough intents to reveal a plan that reads all of them to find a few. */
const MANY = 20_000;

/**
 * Adds ended intents, and new ones in each status. Some of those stored as open or waiting for
 * confirmation have expired, but no worker has written that yet.
 */
const database = openForTests(testDatabase, async () => {
  await database.db.query(
    `insert into payment_intents (id, account_id, livemode, position, created, amount, terminal_id,
       order_id, metadata, source, expires_at, status, attempt, confirm_by, payment_id, tx_hash,
       cancellation_reason, canceled_at)
     select 'pi_' || n, $1, false, n, at, 1, 'tml_' || n % 3, to_hex(n), '{}', 'api',
       at + n % 7 * interval '20 s' + interval '30 s', status,
       case when status in ('requires_action', 'processing', 'succeeded') 
         then '{"credential": {"type": "nfc_id"}}'::jsonb end,
       case when status = 'requires_action'
         then $2::timestamptz + (n % 9 - 4) * interval '10 s' end,
       case when status = 'succeeded' then 'pay_' || n end,
       case when status = 'succeeded' then '0x' end,
       case when status = 'canceled' then 'expired' end,
       case when status = 'canceled' then at end
     from generate_series(1, $3) n,
       lateral (select $2::timestamptz - ($3 - n) * interval '0.4 s' as at) t,
       lateral (select case
         when n > $3 - 300 then (array['requires_payment_method', 'requires_action', 'processing',
           'succeeded', 'canceled'])[n % 5 + 1]
         when n % 100 = 0 then 'canceled' else 'succeeded' end as status) s`,
    [TENANT.accountId, NOW, MANY],
  );
  await database.db.query('analyze payment_intents');
});

async function readAll(filters: IntentFilters, limit = 700): Promise<string[]> {
  const ids: string[] = [];
  let position: Place | null = null;
  for (;;) {
    const page = { ...EVERY, limit, after: position };
    const rows = await selectIntentPage(database.db, { tenant: TENANT, filters, now: NOW }, page);
    ids.push(...rows.slice(0, limit).map(({ id }) => id));
    if (rows.length <= limit) return ids;
    position = rows[limit - 1] ?? null;
  }
}

test('a status filter shows what readers see, even before a worker has written it', async () => {
  const search = { tenant: TENANT, filters: {}, now: NOW };
  const all = await selectIntentPage(database.db, search, { ...EVERY, limit: MANY });
  assert.equal(all.length, MANY);
  const seen: string[] = [];
  for (const status of INTENT_STATUSES) {
    const expected = all.filter((intent) => intent.status === status);
    assert.ok(expected.length >= 20, `${status}: ${expected.length}`);
    const result = await readAll({ status });
    assert.deepEqual(
      result,
      expected.map(({ id }) => id),
      status,
    );
    seen.push(...result);
    const here = expected
      .filter(({ terminal_id: terminalId }) => terminalId === 'tml_1')
      .map(({ id }) => id);
    assert.deepEqual(await readAll({ status, terminal_id: 'tml_1' }), here);
  }
  assert.equal(new Set(seen).size, MANY);
});

test('time moves an intent from one status to the other', async () => {
  const open = async (now: Date) => {
    const filters = { status: 'requires_payment_method' } as const;
    const rows = await selectIntentPage(database.db, { tenant: TENANT, filters, now }, EVERY);
    return rows.length;
  };
  const before = await open(NOW);
  const later = await open(addMs(NOW, 60_000));
  assert.ok(before > later && later > 0, `${before}, then ${later}`);
  assert.equal(await open(addMs(NOW, 601_000)), 0);
});

test('no status reads all intents of the account', async () => {
  for (const status of INTENT_STATUSES) {
    const plans = await planOf(status);
    assert.doesNotMatch(plans, /Seq Scan/, status);
    const read = [...plans.matchAll(/rows=(\d+)\.?\d* loops/g)].map((match) => Number(match[1]));
    assert.ok(read.length > 0 && Math.max(...read) < 1_600, `${status}: ${plans}`);
    const removed = [...plans.matchAll(/Removed by Filter: (\d+)/g)].map((m) => Number(m[1]));
    assert.ok(Math.max(0, ...removed) < 1_600, `${status}: ${plans}`);
  }
});

/** Returns the plan of the statement that reads the first page. */
async function planOf(status: (typeof INTENT_STATUSES)[number]): Promise<string> {
  const query = async (text: string, values: readonly unknown[]) => {
    const rows = await database.db.query<{ 'QUERY PLAN': string }>(
      `explain analyze ${text}`,
      values,
    );
    plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    return [];
  };
  let plan = '';
  const search = { tenant: TENANT, filters: { status }, now: NOW };
  await selectIntentPage({ query } as Pick<Sql, 'query'> as Sql, search, { ...EVERY, limit: 20 });
  return plan;
}
