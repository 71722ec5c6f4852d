import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '#db/migrate.ts';
import { type Caller, caller } from '#testkit/apis/api-client.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import { type OwnNetwork, startOwnNetwork } from '#testkit/network/spawn-network.ts';
import { NEXT_MIGRATIONS } from './release/next.ts';

/** Migrates a large table while merchants continue to create. MIGRATION_ROWS sets its size. */

const ROWS = Number(process.env.MIGRATION_ROWS ?? 1_000_000);
const ROWS_A_STEP = 100_000;
/** Limit for the 99th percentile of a create's duration during the migration, in milliseconds. */
const P99_MS = 250;
const ALONE_MS = 30_000;
/** Pause between creates, so that a machine with two cores has capacity for both. */
const PAUSE_MS = 25;

let database: TestDatabase;
let network: OwnNetwork;
let merchant: Caller;

before(async () => {
  database = await testDatabase();
  network = await startOwnNetwork({ env: { DATABASE_URL: database.url } });
  const { base_url, test: mode } = network.sandbox;
  merchant = caller(`${base_url}/v1`, mode.secret_key);
  await generate();
});

after(async () => {
  await network?.close();
  await database?.close();
});

async function create(): Promise<string> {
  const { terminal } = network.sandbox.test;
  const { status, body } = await merchant.post('/payment_intents', { amount: 100, terminal });
  assert.equal(status, 201, JSON.stringify(body));
  return String(body.id);
}

/** Adds canceled intents of another account, copied from one that the API created. */
async function generate(): Promise<void> {
  const id = await create();
  await merchant.post(`/payment_intents/${id}/cancel`);
  for (let from = 1; from <= ROWS; from += ROWS_A_STEP) {
    await database.db.query(
      `insert into payment_intents
       select made.* from payment_intents as one,
         generate_series($2::bigint, least($2::bigint + $3 - 1, $4::bigint)) as n,
         jsonb_populate_record(one, jsonb_build_object(
           'id', 'pi_generated' || lpad(n::text, 12, '0'), 'account_id', 'acct_generated',
           'position', n, 'order_id', lpad(to_hex(n), 8, '0'), 'settlement_number', null)) as made
       where one.id = $1`,
      [id, from, ROWS_A_STEP, ROWS],
    );
  }
  await database.db.query('analyze payment_intents');
}

/**
 * Creates intents in two parallel loops until stopped. @returns a function that stops them and
 * returns the durations, sorted.
 */
function keepCreating() {
  const took: number[] = [];
  let stopping = false;
  const run = async () => {
    while (!stopping) {
      const started = performance.now();
      await create();
      took.push(performance.now() - started);
      await sleep(PAUSE_MS);
    }
  };
  const done = Promise.all([run(), run()]);
  return {
    stop: async () => {
      stopping = true;
      await done;
      return took.sort((a, b) => a - b);
    },
  };
}

/** Returns the 99th percentile of the durations, in milliseconds. */
function p99Of(took: readonly number[]): number {
  return took[Math.floor(took.length * 0.99)] ?? Number.POSITIVE_INFINITY;
}

test('creates stay fast while a large table gets a column, an index and a backfill', async (t) => {
  const folder = testFolder();
  for (const [file, sql] of Object.entries(NEXT_MIGRATIONS))
    await writeFile(path.join(folder, file), sql);
  const before = keepCreating();
  await sleep(ALONE_MS);
  const alone = p99Of(await before.stop());
  const creating = keepCreating();
  const started = performance.now();
  const applied = await migrate(database.db, { folder });
  const minutes = (performance.now() - started) / 60_000;
  const took = await creating.stop();
  const p99 = p99Of(took);
  t.diagnostic(
    `${ROWS} intents migrated in ${minutes.toFixed(1)} min beside ${took.length} creates: ` +
      `p50 ${took[took.length >> 1]?.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ` +
      `slowest ${took.at(-1)?.toFixed(0)} ms; creates alone: p99 ${alone.toFixed(0)} ms`,
  );
  assert.deepEqual(applied, Object.keys(NEXT_MIGRATIONS));
  assert.ok(took.length > 100, `only ${took.length} creates`);
  assert.ok(p99 < P99_MS, `p99 of creates: ${p99.toFixed(0)} ms`);
  const [left] = await database.db.query<{ n: bigint }>(
    `select count(*) as n from payment_intents
     where of_migration is distinct from amount and account_id = 'acct_generated'`,
  );
  assert.equal(left?.n, 0n);
});
