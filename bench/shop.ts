import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Database, openDatabase } from '#db/database.ts';
import { caller } from '#testkit/apis/api-client.ts';
import type { ChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import { makeDemo } from '#testkit/simulation/chaos/chaos-process.ts';
import { type ChaosWorld, fillWorld } from '#testkit/simulation/chaos/chaos-world.ts';
import { runLoad, startServer } from './child-processes.ts';
import type { TapJob, TapResult } from './tap-load.ts';

/** A shop with fifty tills and two hundred customers. A second process makes the sales. */
const COUNTERS = 50;
const PAYERS = 200;
const WARM_UP_TAPS = 200;

export interface Bench {
  readonly db: Database;
  readonly world: ChaosWorld;
  readonly origin: string;
  readonly rpcUrl: string;
  /** The process ids of the service and of PostgreSQL. */
  readonly pids: readonly number[];
}

export async function load(bench: Bench, perSecond: number, taps: number): Promise<TapResult> {
  const { world, origin, rpcUrl } = bench;
  const job: TapJob = {
    origin,
    rpcUrl,
    key: world.secretKey,
    counters: world.terminals,
    passes: world.passes,
    perSecond,
    taps,
  };
  return runLoad('tap-load.ts', job);
}

export async function residentMb(pid: number | undefined, which = 'VmRSS'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kB] = new RegExp(`${which}:\\s+(\\d+)`).exec(status) ?? [];
  return Number(kB ?? Number.NaN) / 1024;
}

async function postmasterPid({ folder }: ChaosGround): Promise<number> {
  const file = path.join(folder, 'postgres/postmaster.pid');
  return Number((await readFile(file, 'utf8')).split('\n')[0]);
}

/** Opens a shop with its customers on this ground while `use` runs. */
export async function withBench<T>(
  ground: ChaosGround,
  rpcUrl: string,
  use: (bench: Bench, pid: number | undefined) => Promise<T>,
): Promise<T> {
  const network = await makeDemo(ground);
  const db = openDatabase({ url: ground.database.url, maxConnections: 4 });
  const receiver = await startServer('webhook-receiver.ts');
  try {
    const { sandbox } = network;
    const size = { terminals: COUNTERS, payers: PAYERS, limited: 0, refundDailyLimit: 0n };
    const service = { db, secret: ground.secret, network: ground.testnet.config };
    const world = await fillWorld(service, { sandbox, size });
    const merchant = caller(`${sandbox.base_url}/v1`, world.secretKey);
    const url = `${receiver.url}/hook`;
    await merchant.post('/webhook_endpoints', { url, enabled_events: ['*'] });
    const pids = [network.process.pid ?? 0, await postmasterPid(ground)];
    const bench = { db, world, origin: sandbox.web_url, rpcUrl, pids };
    await load(bench, WARM_UP_TAPS / 2, WARM_UP_TAPS);
    return await use(bench, network.process.pid);
  } finally {
    receiver.child.disconnect();
    await network.stop();
    await db.close();
  }
}
