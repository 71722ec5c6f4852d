import { openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { addTestMerchant, type TestMerchant } from '#testkit/fixtures/payments/merchants.ts';
import { startFlags } from '#testkit/network/spawn-network.ts';
import { runLoad, startApiServer } from './child-processes.ts';
import { startOwnPostgres } from './databases.ts';
import { CREATE_FLOOR } from './floors.ts';
import type { Job, Result } from './http-load.ts';
import { findPgbench, runFloor } from './pgbench.ts';
import { report } from './report.ts';

/**
 * Measures the first intents of a new network, all created by one account: from an empty data
 * folder, before and while PostgreSQL learns the sizes of its tables. The floor uses a separate,
 * equally empty database on the same server.
 */
const CREATES = Number(process.env.BENCH_CREATES ?? 100_000);
const FLOOR_SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const CONNECTIONS = 64;
const FLOOR_CLIENTS = 8;
/** Time limit. A run that reaches it is hundreds of times too slow. */
const TIMEOUT_SECONDS = 900;
const TARGET = '>= 0.45 of the floor; the last tenth >= 0.9 of the first';

async function prepare(url: string): Promise<TestMerchant> {
  const db = openDatabase({ url, maxConnections: 2 });
  try {
    await migrate(db);
    return await addTestMerchant(db, { now: new Date() });
  } finally {
    await db.close();
  }
}

async function floorOf(url: string): Promise<number> {
  const own = new URL(url);
  own.pathname = '/floor';
  const db = openDatabase({ url, maxConnections: 1 });
  await db.query('create database floor');
  await db.close();
  const { accountId } = await prepare(own.toString());
  const { perSecond } = await runFloor(findPgbench(), {
    databaseUrl: own.toString(),
    script: CREATE_FLOOR,
    clients: FLOOR_CLIENTS,
    seconds: FLOOR_SECONDS,
    variables: { account: accountId },
  });
  return perSecond;
}

async function createAll(url: string, { test: mode }: TestMerchant): Promise<Result> {
  const { child, port } = await startApiServer(url, startFlags());
  try {
    const job: Job = {
      ...{ port, connections: CONNECTIONS, seconds: TIMEOUT_SECONDS, warmUpSeconds: 0 },
      ...{ key: mode.key, terminal: mode.terminal, kind: 'create', targets: [], limit: CREATES },
    };
    return await runLoad<Result>('http-load.ts', job);
  } finally {
    child.disconnect();
  }
}

async function main(): Promise<void> {
  const postgres = await startOwnPostgres();
  try {
    const floor = await floorOf(postgres.url);
    const { perSecond, p50Ms, p99Ms, failures, tenths } = await createAll(
      postgres.url,
      await prepare(postgres.url),
    );
    const [first, last] = tenths;
    await report('young', [
      {
        work: `the first ${CREATES} creates of a network`,
        ...{ perSecond, p50Ms, p99Ms, failures, floor, ratio: perSecond / floor },
        value: `last tenth ${(last / first).toFixed(2)} of the first`,
        target: TARGET,
      },
    ]);
  } finally {
    await postgres.stop();
  }
}

await main();
