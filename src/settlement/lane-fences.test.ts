import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { NO_RHYTHM } from '#settlement/block-rhythm.ts';
import { configuredLanes, configureLanes } from '#settlement/configure-lanes.ts';
import { NO_TIPS } from '#settlement/fees.ts';
import { flushPayments, LaneLost } from '#settlement/flush-payments.ts';
import { flushSingles } from '#settlement/flush-singles.ts';
import { keepLanes } from '#settlement/lanes.ts';
import type { RelayerState } from '#settlement/relayer-state.ts';
import { newSight } from '#settlement/report.ts';
import { collectReceipts, readFees } from '#settlement/watch.ts';
import { type TestDatabase, testDatabase } from '#testing/database.ts';
import { type RelayerWorld, startRelayerWorld } from '#testing/relayer-world.ts';

/** A worker whose lanes another has taken, and that has not noticed yet. */
describe('a worker with an outdated fence', () => {
  let database: TestDatabase;
  let world: RelayerWorld;
  let payer: PrivateKeyAccount;
  let worker: RelayerState;

  before(async () => {
    database = await testDatabase(6);
    world = await startRelayerWorld(undefined, database);
    payer = present((await world.network.addPayers(1))[0], 'payer');
  });

  after(async () => {
    await world.stop();
    await database.close();
  });

  beforeEach(async () => {
    const { chain } = world.network;
    const { db } = database;
    await configureLanes({ chain, db });
    await db.query('update relayer_lanes set lease_owner = null, lease_until = null');
    await db.query('delete from relayer_workers');
    worker = {
      chain,
      db,
      wakeups: world.wakeups,
      clock: systemClock,
      log: silentLog,
      leaseMs: 60_000,
      owner: 'slow',
      configured: configuredLanes(chain.config),
      lanes: new Map(),
      head: null,
      doubt: null,
      spread: 0n,
      sight: newSight(),
      fees: null,
      tips: NO_TIPS,
      rhythm: NO_RHYTHM,
      recheckAll: true,
      deferred: new Map(),
    };
    const head = present(await chain.block('latest'), 'head');
    worker.head = head;
    await readFees(worker, head);
    await keepLanes(worker);
    assert.equal(worker.lanes.size, 5);
  });

  const lane = () => present(worker.lanes.get(0), 'lane');
  /** Another worker: the same owner's name would do, because only the fence counts. */
  const takeOver = () => database.db.query('update relayer_lanes set fence = fence + 1');
  const count = (where: string) => world.count(`select count(*) from ${where}`);

  it('signs nothing', async () => {
    const payment = await world.pay({ payer });
    const faucet = await world.ask({
      kind: 'faucet',
      payload: { to: payer.address, amount: '1' },
    });
    await takeOver();
    await assert.rejects(flushPayments(worker, lane()), LaneLost);
    await assert.rejects(flushSingles(worker, lane()), LaneLost);
    assert.equal(await count('chain_transactions'), 0);
    assert.equal(await count(`chain_requests where status = 'queued'`), 2);
    await database.db.query('delete from chain_requests where subject_id = any($1)', [
      [payment, faucet],
    ]);
  });

  it('writes no outcome down, and the one that took over does', async () => {
    const payment = await world.pay({ payer });
    assert.equal(await flushPayments(worker, lane()), 1);
    await world.network.mine();
    const head = present(await world.network.chain.block('latest'), 'head');
    await takeOver();
    await assert.rejects(collectReceipts(worker, head), LaneLost);
    assert.equal(await world.outcome(payment), null);
    worker.lanes.clear();
    await keepLanes(worker);
    await collectReceipts(worker, head);
    assert.equal((await world.outcome(payment))?.succeeded, true);
  });

  it('keeps no lease', async () => {
    await takeOver();
    await database.db.query(`update relayer_lanes set lease_owner = 'quick'`);
    await keepLanes(worker);
    assert.equal(worker.lanes.size, 0);
  });
});
