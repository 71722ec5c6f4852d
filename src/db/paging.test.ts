import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMs } from '#core/clock.ts';
import type { Tenant } from '#core/mode.ts';
import { type Page, type Place, selectPage } from '#db/paging.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';

const START = new Date('2026-10-01T12:00:00.000Z');
const TENANT: Tenant = { accountId: 'acct_a', livemode: false };
const FIRST: Page = { limit: 3, after: null, createdGte: null, createdLt: null };

interface Row extends Place {
  readonly color: string;
}

const database = openForTests(testDatabase, async () => {
  await database.db.query(
    `create table listed (account_id text, livemode boolean, created timestamptz(3),
       position bigint, color text)`,
  );
});

async function add(tenant: Tenant, position: number, ms: number, color = 'red'): Promise<void> {
  const values = [tenant.accountId, tenant.livemode, addMs(START, ms), position, color];
  await database.db.query('insert into listed values ($1, $2, $3, $4, $5)', values);
}

/** Fills the table with ten rows, two in each millisecond. */
async function refill(): Promise<void> {
  await database.db.query('truncate listed');
  for (let i = 1; i <= 10; i++)
    await add(TENANT, i, Math.ceil(i / 2), i % 2 === 0 ? 'red' : 'blue');
}

async function list(
  page: Partial<Page>,
  expected: { tenant?: Tenant; color?: string | null; conditions?: string[] } = {},
): Promise<Row[]> {
  const { tenant = TENANT, color = null, conditions = [] } = expected;
  const table = { table: 'listed', columns: 'created, position, color', filters: { color } };
  return selectPage<Row>(database.db, { ...table, conditions }, tenant, { ...FIRST, ...page });
}

function places(rows: readonly Row[]): number[] {
  return rows.map((row) => Number(row.position));
}

test('a page is the newest rows first, plus one to know whether there are more', async () => {
  await refill();
  assert.deepEqual(places(await list({})), [10, 9, 8, 7]);
  assert.deepEqual(places(await list({ limit: 10 })), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
});

test('paging shows every row once, although new rows are added on top', async () => {
  await refill();
  const seen: number[] = [];
  let after: Place | null = null;
  for (let extra = 11; ; extra++) {
    const rows: Row[] = await list({ after });
    const page = rows.slice(0, FIRST.limit);
    seen.push(...places(page));
    if (rows.length <= FIRST.limit) break;
    after = page.at(-1) ?? null;
    await add(TENANT, extra, extra);
  }
  assert.deepEqual(seen, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
});

test('created_gte includes its instant, created_lt does not', async () => {
  await refill();
  const [second, fourth] = [addMs(START, 2), addMs(START, 4)];
  assert.deepEqual(places(await list({ limit: 9, createdGte: fourth })), [10, 9, 8, 7]);
  assert.deepEqual(places(await list({ limit: 9, createdLt: second })), [2, 1]);
  const between = { limit: 9, createdGte: second, createdLt: fourth };
  assert.deepEqual(places(await list(between)), [6, 5, 4, 3]);
});

test('filters and conditions narrow the list on every page', async () => {
  await refill();
  assert.deepEqual(places(await list({ limit: 2 }, { color: 'blue' })), [9, 7, 5]);
  const after = { created: addMs(START, 4), position: 7n };
  assert.deepEqual(places(await list({ after }, { color: 'blue' })), [5, 3, 1]);
  assert.deepEqual(places(await list({}, { conditions: ['position < 3'] })), [2, 1]);
});

test("another account's or mode's rows are never listed", async () => {
  await refill();
  await add({ ...TENANT, livemode: true }, 20, 20);
  await add({ ...TENANT, accountId: 'acct_b' }, 21, 21);
  assert.equal((await list({ limit: 50 })).length, 10);
  assert.deepEqual(places(await list({}, { tenant: { ...TENANT, livemode: true } })), [20]);
});

test('client input is a value, never SQL', async () => {
  await refill();
  assert.deepEqual(await list({}, { color: `red' or true --` }), []);
});
