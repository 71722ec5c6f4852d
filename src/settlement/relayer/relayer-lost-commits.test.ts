import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import { systemClock } from '#core/clock.ts';
import { openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { localWakeups } from '#db/wakeups.ts';
import { silentLog } from '#observability/log.ts';
import { isRunning, signalProcess, waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { type Relayer, startRelayer } from '#settlement/relayer/relayer.ts';
import type { TestDatabase } from '#testkit/fixtures/db/database.ts';
import {
  openTemporaryFolder,
  type TemporaryFolder,
} from '#testkit/fixtures/db/temporary-folder.ts';
import {
  assertSucceeded,
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import { type ChaosDatabase, openDatabaseOf } from '#testkit/simulation/chaos/chaos-ground.ts';

/**
 * Maximum number of tries. A try proves nothing if another commit reaches the disk first and makes
 * the results durable.
 */
const ROUNDS = 6;
const CRASHED_MS = 20_000;

describe('results whose commit a crash of PostgreSQL has undone', () => {
  let temporary: TemporaryFolder;
  let postgres: ChaosDatabase;
  let database: TestDatabase;
  let world: RelayerWorld;
  let relayer: Relayer;
  let payers: PrivateKeyAccount[];
  let crash: () => void = () => {};
  let wake: () => void;

  before(async () => {
    temporary = await openTemporaryFolder('tapline-lost-commits');
    postgres = await openDatabaseOf(temporary);
    const db = openDatabase({ url: postgres.url, maxConnections: 8 });
    await migrate(db);
    database = { db, url: postgres.url, close: db.close };
    world = await startRelayerWorld(undefined, database);
    payers = await world.network.addPayers(3);
    // Notifications stay within this process, because a notification through the database would be
    // a commit.
    const wakeups = localWakeups();
    wakeups.on('chain-outcomes', 'payment', () => crash());
    wake = () => wakeups.send('chain-requests', world.network.config.network);
    const { chain } = world.network;
    relayer = startRelayer({ chain, db, wakeups, clock: systemClock, log: silentLog });
  });

  after(async () => {
    await relayer.stop();
    await world.stop();
    await database.close();
    await postgres.stop();
    await temporary.remove();
  });

  const count = (status: string) => world.countRows(`chain_requests where status = '${status}'`);

  /** PostgreSQL may be starting. */
  const until = (done: () => Promise<boolean>) => world.mineUntil(() => done().catch(() => false));

  /** Sends one transaction per sender, so that several senders have one in progress. */
  async function sendAll(): Promise<string[]> {
    const ids: string[] = [];
    for (const payer of payers) {
      ids.push(await world.pay({ payer }));
      wake();
      while ((await count('submitted')) < ids.length) await sleep(10);
    }
    return ids;
  }

  /** Kills PostgreSQL right after the results of the next block were committed. */
  async function mineAndCrash(): Promise<void> {
    const file = path.join(temporary.folder.path, 'postgres/postmaster.pid');
    const postmaster = Number((await readFile(file, 'utf8')).split('\n')[0]);
    // Use `pg_ctl stop -m immediate`, so that nothing else is committed first.
    crash = () => {
      crash = () => {};
      signalProcess(postmaster, 'SIGQUIT');
    };
    await world.network.mine();
    await waitUntil(() => !isRunning(postmaster), CRASHED_MS);
    await postgres.start();
  }

  async function lostOutcomes(): Promise<number> {
    for (;;) {
      const lost = await count('submitted').catch(() => null);
      if (lost !== null) return lost;
      await sleep(20);
    }
  }

  it('are read again even if no call of the senders has failed', async () => {
    const ids = await sendAll();
    await until(async () => (await count('submitted')) === 0);
    // Undo the commits in the rows, as a crash would, in a way that the worker cannot notice.
    await database.db.transaction(async (tx) => {
      await tx.query(`update chain_requests set status = 'submitted', outcome = null`);
      await tx.query(`update chain_transactions
        set status = 'signed', tx_hash = null, block_number = null, block_hash = null`);
    });
    await until(async () => (await count('submitted')) === 0);
    assertSucceeded(await world.outcomes(ids));
  });

  it('are read from the chain again by one of several workers that kept its senders', async () => {
    await until(async () => (await world.countRows('relayer_senders')) > 0);
    let lost = 0;
    for (let round = 0; round < ROUNDS && lost === 0; round++) {
      const ids = await sendAll();
      const senders = `select count(distinct sender) from chain_transactions
        where status = 'signed'`;
      assert((await world.count(senders)) > 1, 'several senders are at work');
      await mineAndCrash();
      lost = await lostOutcomes();
      await until(async () => (await count('submitted')) === 0);
      assertSucceeded(await world.outcomes(ids));
    }
    assert(lost > 0, 'a crash has lost the commit of outcomes');
  });
});
