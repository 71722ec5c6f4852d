import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '#observability/log.ts';
import { configuredSenders } from '#settlement/chain/fees/configure-senders.ts';
import {
  judgeNetwork,
  type UnsettledReason,
  type WatchedReadiness,
  WORKER_GONE_MS,
  watchReadiness,
} from '#settlement/network-readiness.ts';
import { upsertReport, type WorkerReport, workersDeploy } from '#settlement/readiness-queries.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import {
  type OddWorld,
  startOddWorld,
  switchContract,
} from '#testkit/fixtures/settlement/relayer-scene.ts';
import { type FaultyNode, startFaultyNode } from '#testkit/network/faulty-node.ts';

const WELL: WorkerReport = {
  reasons: [],
  senders: 2,
  fundedSenders: 2,
  paymentsLeft: null,
  contracts: 1,
  deploysWallets: true,
};
const BLIND: WorkerReport = { ...WELL, reasons: ['no_node'] };
const POOR: WorkerReport = { ...WELL, fundedSenders: 0 };
const IDLE: WorkerReport = { ...WELL, senders: 0, fundedSenders: 0 };

describe('the state of a network', () => {
  const usual = { recovering: false, all_stopped: false, workers: [WELL], ceiling: null };
  const cases: readonly {
    readonly name: string;
    readonly state: Partial<typeof usual>;
    readonly reason?: UnsettledReason;
  }[] = [
    { name: 'not without a worker', state: { workers: [] }, reason: 'no_worker' },
    { name: 'with one worker that sees nothing wrong', state: { workers: [BLIND, WELL] } },
    {
      name: 'not when all workers see something wrong',
      ...{ state: { workers: [BLIND] }, reason: 'no_node' },
    },
    {
      name: 'not when no held sender can pay for gas',
      ...{ state: { workers: [POOR, IDLE] }, reason: 'no_gas' },
    },
    { name: 'when some sender can pay', state: { workers: [POOR, WELL] } },
    { name: 'while senders are being taken over', state: { workers: [IDLE] } },
    {
      name: "not while the database's losses are being recovered",
      ...{ state: { recovering: true }, reason: 'recovering' },
    },
    {
      name: 'not when all of its senders are stopped because their keys were used elsewhere',
      ...{ state: { all_stopped: true }, reason: 'no_worker' },
    },
  ];
  for (const { name, state, reason } of cases) {
    it(name, () => {
      const reasons = reason === undefined ? [] : [reason];
      const settles = reason === undefined;
      assert.deepEqual(judgeNetwork({ ...usual, ...state }), { settles, reasons });
    });
  }
});

describe("a process's copy of the networks' states", () => {
  const database = databaseForTests(8);
  let world: OddWorld<FaultyNode>;
  let node: FaultyNode;
  let readiness: WatchedReadiness;

  beforeEach(async () => {
    world = await startOddWorld(startFaultyNode, { database });
    [node] = world.nodes as [FaultyNode];
    readiness = await watchReadiness({ db: database.db, log: silentLog, ceilingShare: null });
  });

  afterEach(async () => {
    await readiness.stop();
    await database.db.query('update network_states set recovering = false');
    await database.db.query('delete from relayer_workers');
    await world.stop();
  });

  async function until(reasons: string, withinMs: number): Promise<void> {
    const from = performance.now();
    while (readiness.of(false).reasons.join() !== reasons) {
      const result = readiness.of(false).reasons.join();
      assert(performance.now() - from < withinMs, `${result} instead of ${reasons}`);
      await sleep(20);
    }
  }

  it('shows no worker at first, and a worker soon after it has started', async () => {
    assert.deepEqual(readiness.of(false), { settles: false, reasons: ['no_worker'] });
    const relayer = world.startRelayer();
    await until('', 3_000);
    assert.deepEqual(readiness.of(true), { settles: false, reasons: ['no_worker'] });
    await relayer.stop();
    await sleep(600);
    assert.deepEqual(readiness.of(false).reasons, [], 'the next one may be starting');
    const rows = await database.db.query('select senders, funded_senders from relayer_workers');
    assert.deepEqual(rows, [{ senders: 0, funded_senders: 0 }], 'it counts for no sender');
  });

  const report = (owner: string, result: WorkerReport) =>
    upsertReport(database.db, { livemode: false, owner }, result);
  const age = (seconds: number) =>
    database.db.query(`update relayer_workers set seen_at = now() - $1 * interval '1 second'`, [
      seconds,
    ]);

  it('a worker counts as gone 10 s after its last heartbeat, not before', async () => {
    await report('dead', WELL);
    await age(9);
    await until('', 900);
    await age(10.1);
    await until('no_worker', 900);
  });

  it('wallets are deployed only if a running worker of the mode can deploy them', async () => {
    const deploys = (livemode: boolean) =>
      workersDeploy(database.db, { livemode, goneMs: WORKER_GONE_MS });
    assert.equal(await deploys(false), true, 'unknown without a worker');
    await report('behind a signer', { ...WELL, deploysWallets: false });
    assert.deepEqual([await deploys(false), await deploys(true)], [false, true]);
    await report('with its own key', WELL);
    assert.equal(await deploys(false), true, 'one is enough');
    await age(10.1);
    await report('behind a signer', { ...WELL, deploysWallets: false });
    assert.equal(await deploys(false), false, 'the worker that could deploy has stopped');
  });

  it('reports that no node answers, and when one answers again', async () => {
    world.startRelayer();
    await until('', 3_000);
    node.mood = 'down';
    await until('no_node', 4_000);
    node.mood = 'well';
    await until('', 3_000);
  });

  it('reports that the contract is paused', async () => {
    world.startRelayer();
    await until('', 3_000);
    await switchContract(world.network, 'pauseSettling');
    await until('paused', 4_000);
    await switchContract(world.network, 'unpauseSettling');
    await until('', 4_000);
  });

  it("reports that the chain's clock and the server's differ by more than 30 s", async () => {
    world.startRelayer();
    await until('', 3_000);
    const { rpc } = world.network;
    await rpc.call('evm_increaseTime', [40]);
    await world.network.mine();
    await until('clock', 3_000);
  });

  it('reports that no sender can pay for gas', async () => {
    const { rpc, config } = world.network;

    for (const { address, role } of configuredSenders(config)) {
      if (role === 'operator') await rpc.call('anvil_setBalance', [address, '0x0']);
    }
    world.startRelayer();
    await until('no_gas', 4_000);
  });

  it('reports that the network is being recovered', async () => {
    world.startRelayer();
    await until('', 3_000);
    await database.db.query('update network_states set recovering = true where not livemode');
    await until('recovering', 900);
  });
});
