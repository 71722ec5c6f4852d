import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SEED } from '#testkit/fixtures/core/random.ts';
import { runChaos } from '#testkit/simulation/chaos/chaos.ts';
import { WAYS } from '#testkit/simulation/ways/ways.ts';

/** `SOAK_MINUTES=120` is two hours. */
const MINUTES = Number(process.env.SOAK_MINUTES ?? '6');
/** Far fewer than eight slow clients make in a minute, so that a soak without sales fails. */
const FEWEST_PAYMENTS_PER_MINUTE = 2;
/**
 * A soak of at least this many minutes must sell in every way to pay. Usually each is used twenty
 * times or more.
 */
const EVERY_WAY_MINUTES = 30;
/**
 * Adds time for the setup and until the network comes to rest, which takes minutes on a busy
 * machine.
 */
const TIMEOUT_MS = (MINUTES + 20) * 60_000;
const SIZE = { terminals: 8, payers: 24, limited: 4, refundDailyLimit: 2_400_000n };

test('every feature survives every fault, and ledger, contract, receivers and files agree', {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const report = await runChaos({
    seed: SEED,
    repeat: `SOAK_MINUTES=${MINUTES} SEED=${SEED} npm run test:long -- test/long/soak.test.ts`,
    seconds: MINUTES * 60,
    clients: 8,
    reach: 'soak',
    size: { ...SIZE, refundDailyLimit: SIZE.refundDailyLimit * BigInt(MINUTES) },
    log: (line) => console.log(line),
  });
  const { payments, refunds, withdrawals, events, deliveries, secondsToRest, faults } = report;
  const { uses, answers, hasOwnDisk } = report;
  const listed = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([name, times]) => `${name}: ${times}`)
      .join(', ');
  t.diagnostic(
    `${MINUTES} minutes, seed ${SEED}: ${payments} payments, ${refunds} refunds, ` +
      `${withdrawals} withdrawals, ${events} events, ${deliveries} deliveries, ` +
      `at rest after ${secondsToRest} s; ${listed(uses)}`,
  );
  t.diagnostic(`faults that struck: ${listed(faults)}`);
  if (!hasOwnDisk) t.diagnostic('no disk was full: this user may not mount one');
  assert.deepEqual(report.broken, [], report.repeat);
  for (const use of ['price in euros', 'scheduled export']) {
    assert.ok((uses[use] ?? 0) > 0, `no ${use}`);
  }
  for (const { name } of MINUTES >= EVERY_WAY_MINUTES ? WAYS : []) {
    assert.ok((answers[`${name}: succeeded`] ?? 0) > 0, `no sale succeeded by ${name}`);
  }
  assert.ok(payments >= FEWEST_PAYMENTS_PER_MINUTE * MINUTES, `only ${payments} payments`);
});
