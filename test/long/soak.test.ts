import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runChaos } from '#testing/chaos/chaos.ts';
import { SEED } from '#testing/random.ts';

/** `SOAK_MINUTES=120` is two hours. */
const MINUTES = Number(process.env.SOAK_MINUTES ?? '6');
/** Far fewer than eight slow clients make in a minute, so that a soak without sales fails. */
const FEWEST_PAYMENTS_PER_MINUTE = 2;
/** Adds time for the setup and for coming to rest, which take minutes on a busy machine. */
const TIMEOUT_MS = (MINUTES + 20) * 60_000;
const SIZE = { terminals: 8, payers: 24, limited: 4, refundDailyLimit: 2_400_000n };

test('every feature survives every fault, and ledger, contract, receivers and files agree', {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const report = await runChaos({
    seed: SEED,
    seconds: MINUTES * 60,
    clients: 8,
    blockMs: 1_000,
    profile: 'custom',
    reach: 'soak',
    size: { ...SIZE, refundDailyLimit: SIZE.refundDailyLimit * BigInt(MINUTES) },
    log: (line) => console.log(line),
  });
  const { payments, refunds, withdrawals, events, deliveries, secondsToRest, faults } = report;
  const { uses } = report;
  const struck = Object.values(faults).reduce((sum, count) => sum + count, 0);
  t.diagnostic(
    `${MINUTES} minutes, seed ${SEED}: ${payments} payments, ${refunds} refunds, ` +
      `${withdrawals} withdrawals, ${events} events, ${deliveries} deliveries, ` +
      `${struck} faults of ${Object.keys(faults).length} kinds, ` +
      `at rest after ${secondsToRest} s; ` +
      Object.entries(uses)
        .map(([use, times]) => `${use}: ${times}`)
        .join(', '),
  );
  assert.deepEqual(report.broken, [], report.repeat);
  for (const use of ['price in euros', 'scheduled export']) {
    assert.ok((uses[use] ?? 0) > 0, `no ${use}`);
  }
  assert.ok(payments >= FEWEST_PAYMENTS_PER_MINUTE * MINUTES, `only ${payments} payments`);
});
