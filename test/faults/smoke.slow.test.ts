import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '#testkit/fixtures/core/random.ts';
import { runChaos } from '#testkit/simulation/chaos/chaos.ts';

/** Fixed choices for the test suite; `npm run faults` makes new ones. */
const SEED = 8;
/** Long enough for two faults; `npm run faults` runs longer. */
const SECONDS = 12;
/** Far fewer than a busy machine settles, so that a run without payments cannot pass. */
const FEWEST_PAYMENTS = 8;

test('no rule is broken while processes, database and chain are killed', async (t) => {
  const report = await runChaos({
    seed: SEED,
    // The seed is fixed, so the command does not name it.
    repeat: 'npm test -- faults/smoke',
    seconds: SECONDS,
    clients: 6,
    reach: 'short',
    size: { terminals: 4, payers: 8, limited: 2, refundDailyLimit: 5_000_000n },
    log: (line) => t.diagnostic(line),
  });
  const { payments, refunds, withdrawals, secondsToRest, faults } = report;
  t.diagnostic(JSON.stringify({ payments, refunds, withdrawals, secondsToRest, faults }));
  assert.deepEqual(report.broken, [], report.repeat);
  assert.ok(payments >= FEWEST_PAYMENTS, `only ${payments} payments`);
});

test('a seed repeats its choices, and another seed makes different ones', () => {
  const choices = (seed: number, stream: string) => {
    const random = createRandom(seed, stream);
    return Array.from({ length: 20 }, () => random.below(1000));
  };
  assert.deepEqual(choices(1, 'faults'), choices(1, 'faults'));
  assert.notDeepEqual(choices(1, 'faults'), choices(2, 'faults'));
  assert.notDeepEqual(choices(1, 'faults'), choices(1, 'client 1'));
});
