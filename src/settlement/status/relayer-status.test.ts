import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import { present } from '#core/assert.ts';
import { DAY_MS } from '#core/durations.ts';
import { reportOf } from '#settlement/relayer/report-worker-state.ts';
import { checkBalances } from '#settlement/relayer/senders/check-sender-balances.ts';
import { daysLeftOf, paymentsLeftOf, paymentsPerDay } from '#settlement/status/low-gas-balance.ts';
import { readRelayerStatus } from '#settlement/status/relayer-status.ts';
import { idleRelayer } from '#testkit/fixtures/settlement/idle-relayer.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';

const GWEI = 10n ** 9n;
const COIN = 10n ** 18n;
/** Reads without a cache, as a process that has just started does. */
const anew = <T>(_what: string, _maxAgeMs: number, read: () => Promise<T>) => read();
const at = (baseFeePerGas: bigint, { tip = 0n, dataFee = 0n } = {}) => ({
  baseFeePerGas,
  tip,
  dataFee,
});

test('a balance is reported as the number of payments that it covers', () => {
  // 95,000 gas for a payment alone in a transaction.
  assert.equal(paymentsLeftOf(COIN / 10n, at(GWEI)), 1_052n);
  assert.equal(paymentsLeftOf(COIN / 10n, at(2n * GWEI)), 526n);
  assert.equal(paymentsLeftOf(COIN / 10n, at(GWEI, { tip: GWEI })), 526n);
  assert.equal(paymentsLeftOf(0n, at(GWEI)), 0n);
  // Publication doubles the cost of each payment.
  assert.equal(paymentsLeftOf(COIN / 10n, at(GWEI, { dataFee: 95_000n * GWEI })), 526n);
});

test('values that were not measured are not reported', () => {
  assert.equal(paymentsLeftOf(null, at(GWEI)), null);
  assert.equal(paymentsLeftOf(COIN, null), null);
  assert.equal(paymentsLeftOf(COIN, at(0n)), null);
});

test('payments left are reported as whole days, and not at all if unknown', () => {
  assert.equal(daysLeftOf(5_000n, 800), 6);
  assert.equal(daysLeftOf(799n, 800), 0);
  assert.equal(daysLeftOf(10n ** 20n, 0.1), 3_650, 'the estimate is capped at ten years');
  assert.equal(daysLeftOf(null, 800), null);
  assert.equal(daysLeftOf(5_000n, 0), null, 'there are no payments to estimate from');
});

describe('the gas balance of the senders', () => {
  let world: RelayerWorld;

  before(async () => {
    world = await startRelayerWorld();
  });

  after(() => world.stop());

  it('covers the same number of payments in worker, console and metrics', async () => {
    const worker = await idleRelayer(world);
    const { maxPriorityFeePerGas } = present(worker.fees, 'fees');
    assert.ok(maxPriorityFeePerGas > 0n, 'the relayer offers a tip');
    await checkBalances(worker, [...worker.senders.values()]);
    const { senders } = await readRelayerStatus(world.database.db, world.network.chain);
    const told = new Map(senders.map(({ address, paymentsLeft }) => [address, paymentsLeft]));
    for (const { address, paymentsLeft } of worker.senders.values()) {
      assert.ok(paymentsLeft !== null && paymentsLeft > 0n);
      assert.equal(told.get(address), paymentsLeft);
    }
    const operators = senders.filter(({ role }) => role === 'operator');
    const sum = operators.reduce((all, { paymentsLeft }) => all + (paymentsLeft ?? 0n), 0n);
    assert.equal(reportOf(worker, performance.now()).paymentsLeft, Number(sum));
  });

  it('counts for nothing while the checks of the start have not passed', async () => {
    const worker = await idleRelayer(world);
    const reasonsWith = (isChecked: boolean) => {
      const chain = { ...worker.chain, isChecked: () => isChecked };
      return reportOf({ ...worker, chain, answeredAt: 0, failedPolls: 0 }, 0).reasons;
    };
    assert.equal(reasonsWith(true).includes('no_node'), false);
    assert.equal(reasonsWith(false).includes('no_node'), true);
  });

  it("lasts for the number of days that it covers at last week's rate", async () => {
    const { db } = world.database;
    const { livemode } = world.network.config;
    const now = new Date();
    const daysAgo = (days: number) => new Date(now.getTime() - days * DAY_MS);
    assert.equal(await paymentsPerDay(db, livemode, now), 0, 'there was no payment');
    // Add a payment per minute, a third of them on the other network, and transactions that settle
    // nothing.
    await db.query(
      `insert into chain_requests
         (livemode, kind, subject_id, payload, status, outcome, created, applied_at)
       select case when n % 3 = 0 then not $1 else $1 end, kind, 'week_' || n || kind, '{}', status,
         '{}', $2::timestamptz + n * interval '1 minute', now()
       from generate_series(1, 14400) n,
         (values ('payment', 'succeeded'), ('payment', 'failed'), ('enrolment', 'succeeded'))
           as asked (kind, status)`,
      [livemode, daysAgo(10)],
    );
    const perDay = await paymentsPerDay(db, livemode, now);
    // Add more rows than are counted, so that a sample is used.
    assert.ok(Math.abs(perDay - 960) < 20, `${perDay} of 960 a day`);
    assert.equal(await paymentsPerDay(db, livemode, daysAgo(-8)), 0, 'a week without any');
    const [young] = [await paymentsPerDay(db, livemode, daysAgo(9))];
    assert.ok(young !== undefined && young > 960, 'of a network that is a day old');
    const status = await readRelayerStatus(db, { ...world.network.chain, remember: anew });
    const left = status.senders
      .filter(({ role, owner }) => role === 'operator' && owner !== null)
      .reduce((sum, { paymentsLeft }) => sum + Number(paymentsLeft), 0);
    assert.equal(status.daysLeft, Math.min(3_650, Math.floor(left / perDay)));
  });
});
