import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import { type FaultSet, oneFault, playHistory } from '#testkit/simulation/history.ts';

const database = databaseForTests();

/**
 * Plays a history of one short step.
 * @returns the violations that were found
 */
async function brokenIn(faults: FaultSet): Promise<readonly string[]> {
  const ground = { db: database.db, limitMs: 1_000 };
  const clients = [[async () => sleep(50)]];
  return (await playHistory({ ground, clients, faults, repeat: '' })).broken;
}

const pause = (ms: number) => ({ pauseMs: { low: ms, high: ms } });

test('a history fails if no fault struck, unless it ended before the first was due', async () => {
  const strike = async () => {};
  const [one, later] = [oneFault('one', strike), oneFault('after', strike)];
  const among: FaultSet = { ...one, when: 'among' };
  assert.deepEqual(await brokenIn({ ...one, ...pause(10_000) }), ['no fault struck']);
  assert.deepEqual(await brokenIn({ ...among, ...pause(10_000) }), []);
  for (const faults of [one, later, { ...among, ...pause(5) }]) {
    assert.deepEqual(await brokenIn(faults), []);
  }
});

test('a history fails if causing one of its faults fails', async () => {
  const strike = async () => Promise.reject(new Error('still broken'));
  const broken = await brokenIn(oneFault('one', strike));
  assert.match(String(broken[0]), /^a fault failed: Error: still broken$/);
});
