import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMs } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import { takeAttempt, takeGuess } from '#people/attempt-limits.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

const ALLOWANCE = { attempts: 2, windowMs: 600_000 };
const now = new FakeClock().now();

const database = databaseForTests();

for (const [name, take] of [
  ['attempts', takeAttempt],
  ['guesses', async (...request) => (await takeGuess(...request)).refused],
] as const satisfies readonly (readonly [string, typeof takeAttempt])[]) {
  test(`${name} counted while the clock was a day ahead expire after one window`, async () => {
    const at = (when: Date) =>
      take(database.db, `step ${name}`, { allowance: ALLOWANCE, now: when });
    for (let count = 0; count <= ALLOWANCE.attempts; count++) await at(addMs(now, DAY_MS));
    const refused = await at(now);
    assert.ok(refused !== null, 'they count');
    const waits = Number(refused.headers?.['Retry-After']);
    assert.ok(waits <= ALLOWANCE.windowMs / 1000, `${waits} s`);
    assert.equal(await at(addMs(now, waits * 1000)), null);
  });
}
