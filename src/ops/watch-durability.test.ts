import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#core/clock.ts';
import { StartError } from '#core/start-error.ts';
import {
  DECLARED_DURABILITIES,
  fallsShort,
  judgeReplication,
  requireDurability,
} from '#db/durability.ts';
import { durabilitySamples } from '#ops/service-samples.ts';
import { watchDurability } from '#ops/watch-durability.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

const database = databaseForTests();

const row = (names: string, standbys: number, commit = 'on') => ({
  ...{ names, standbys, commit },
  synchronous: 0,
  lag_bytes: 0,
});

test('commits are synchronous only while they wait for a standby', () => {
  assert.equal(judgeReplication(row('', 0)), 'single');
  assert.equal(judgeReplication(row('', 2)), 'asynchronous');
  assert.equal(judgeReplication(row('ANY 1 (a, b)', 2)), 'synchronous');
  // Commits wait until a standby is connected again.
  assert.equal(judgeReplication(row('ANY 1 (a, b)', 0)), 'synchronous');
  for (const commit of ['off', 'local']) {
    assert.equal(judgeReplication(row('ANY 1 (a, b)', 2, commit)), 'asynchronous');
  }
});

test('durability may be better than declared, never worse', () => {
  const short = (declared: Parameters<typeof fallsShort>[1]) =>
    (['single', 'asynchronous', 'synchronous'] as const).filter((one) => fallsShort(one, declared));
  assert.deepEqual(short(null), ['single', 'asynchronous']);
  assert.deepEqual(short('asynchronous'), ['single']);
  assert.deepEqual(short('single'), []);
  assert.deepEqual(short('managed'), []);
});

test('a database without a standby ends the start, unless that was declared', async () => {
  await assert.rejects(
    requireDurability(database.db, null),
    (error) =>
      error instanceof StartError && /^DATABASE_URL: it has no standby/.test(error.message),
  );
  for (const declared of DECLARED_DURABILITIES) await requireDurability(database.db, declared);
});

test('while it runs, low durability raises an alarm and a metric, and stops nothing', async () => {
  const errors: string[] = [];
  const log = { info: () => {}, warn: () => {}, error: (line: string) => void errors.push(line) };
  const { db } = database;
  const watch = watchDurability({ db, clock: systemClock, log, declared: 'asynchronous' });
  const alarms = () => db.query(`select subject from chain_alarms where kind = 'durability'`);
  await waitUntil(async () => (await alarms()).length > 0, 5_000);
  await watch.stop();
  assert.deepEqual(await alarms(), [{ subject: 'single' }]);
  assert.deepEqual(errors, ['commits are less durable than declared']);
  const samples = await durabilitySamples(watch).read();
  const numberOf = (name: string, level?: string) =>
    samples.find((one) => one.name === `tapline_${name}` && one.labels.level === level)?.value;
  assert.equal(numberOf('database_durability_short'), 1);
  assert.equal(numberOf('database_durability', 'single'), 1);
  assert.equal(numberOf('database_durability', 'synchronous'), 0);
});
