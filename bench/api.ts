import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '#core/ids.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { startPostgres } from '#sandbox/postgres.ts';
import { openTemporaryFolder } from '#sandbox/temporary-folder.ts';
import { addTestMerchant, type TestMerchant } from '#testing/merchants.ts';
import { CREATE_FLOOR, READ_FLOOR, STORE_INTENTS, STORED_INTENTS, storedId } from './floors.ts';
import type { Job, Result } from './http-load.ts';
import { findPgbench, runPgbench } from './pgbench.ts';

/**
 * Creating and reading payment intents over HTTP with everything on, beside what PostgreSQL does
 * alone with the same statements, turn by turn on one durable server. The two cores are shared by
 * PostgreSQL, the service and the load.
 */
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const CONNECTIONS = 64;
/** As many as PostgreSQL does best with on two cores. */
const FLOOR_CLIENTS = 8;
const WARM_UP_SECONDS = 2;
/** In no order, as customers' servers ask. */
const READ_TARGETS = Array.from({ length: 20_000 }, () =>
  storedId(Math.floor(Math.random() * STORED_INTENTS)),
);
const RESULTS = join(import.meta.dirname, 'results');

/** `BENCH_PROFILE=1` leaves a CPU profile of the service beside the results. */
const PROFILE =
  process.env.BENCH_PROFILE === '1' ? ['--cpu-prof', `--cpu-prof-dir=${RESULTS}`] : [];
/** `BENCH_ONLY=get` runs one kind of work. */
const ONLY = process.env.BENCH_ONLY ?? null;

function runChild(
  file: string,
  env: NodeJS.ProcessEnv = {},
  execArgv: string[] = [],
): ChildProcess {
  return fork(join(import.meta.dirname, file), { env: { ...process.env, ...env }, execArgv });
}

const NOTHING: Result = {
  perSecond: 0,
  p50Ms: 0,
  p99Ms: 0,
  requests: 0,
  failures: 0,
  ids: [],
};

async function load(job: Job): Promise<Result> {
  if (ONLY !== null && ONLY !== job.kind) return NOTHING;
  const child = runChild('http-load.ts');
  child.send(job);
  const [result] = await once(child, 'message');
  child.disconnect();
  return result as Result;
}

/** An endpoint that hears of every event: each create writes its delivery as well. */
async function subscribe(db: Database, merchant: TestMerchant): Promise<void> {
  const now = new Date();
  await db.query(
    `insert into webhook_endpoints
       (id, account_id, livemode, url, enabled_events, api_version, secret, created, updated)
     values ($1, $2, false, 'https://example.com/', '{*}', '2026-09-28', $3, $4, $4)`,
    [newId('webhookEndpoint', now), merchant.accountId, randomBytes(60), now],
  );
}

interface Ground {
  readonly url: string;
  readonly db: Database;
  readonly merchant: TestMerchant;
  stop(): Promise<void>;
}

async function prepare(): Promise<Ground> {
  const temporary = await openTemporaryFolder('tapline-bench');
  const postgres = await startPostgres({ folder: temporary.folder, log: () => {} });
  const db = openDatabase({ url: postgres.url, maxConnections: 4 });
  await migrate(db);
  const merchant = await addTestMerchant(db, { now: new Date() });
  await subscribe(db, merchant);
  await db.query(STORE_INTENTS, [merchant.accountId, merchant.test.terminal, STORED_INTENTS]);
  await db.query('vacuum analyze payment_intents');
  const stop = async () => {
    await db.close();
    await postgres.stop();
    await temporary.remove();
  };
  return { url: postgres.url, db, merchant, stop };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

interface Round {
  readonly createFloor: number;
  readonly readFloor: number;
  readonly create: Result;
  readonly get: Result;
  readonly list: Result;
  readonly replay: Result;
}

async function runRound(ground: Ground, port: number, pgbench: string | null): Promise<Round> {
  const { url: databaseUrl, merchant } = ground;
  const floorOf = (script: string) =>
    pgbench === null || ONLY !== null
      ? Promise.resolve({ perSecond: Number.NaN, latencyMs: Number.NaN })
      : runPgbench(pgbench, {
          databaseUrl,
          script,
          clients: FLOOR_CLIENTS,
          seconds: SECONDS,
          variables: { account: merchant.accountId },
        });
  const base = {
    port,
    connections: CONNECTIONS,
    seconds: SECONDS,
    warmUpSeconds: WARM_UP_SECONDS,
    key: merchant.test.key,
    terminal: merchant.test.terminal,
    targets: [],
  };
  const createFloor = await floorOf(CREATE_FLOOR);
  const create = await load({ ...base, kind: 'create' });
  const replay = await load({ ...base, kind: 'replay' });
  const readFloor = await floorOf(READ_FLOOR);
  const get = await load({ ...base, kind: 'get', targets: READ_TARGETS });
  const list = await load({ ...base, kind: 'list', targets: ['', '?limit=20&source=api'] });
  return {
    createFloor: createFloor.perSecond,
    readFloor: readFloor.perSecond,
    create,
    get,
    list,
    replay,
  };
}

interface Line {
  readonly work: string;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly failures: number;
  readonly floor: number;
  readonly ratio: number;
  readonly target: string;
}

function summarise(rounds: readonly Round[]): Line[] {
  const line = (work: string, kind: 'create' | 'get' | 'list' | 'replay', target: string): Line => {
    const results = rounds.map((round) => round[kind]);
    const floors = rounds.map((round) => (kind === 'create' ? round.createFloor : round.readFloor));
    return {
      work,
      perSecond: median(results.map((result) => result.perSecond)),
      p50Ms: median(results.map((result) => result.p50Ms)),
      p99Ms: median(results.map((result) => result.p99Ms)),
      failures: results.reduce((sum, result) => sum + result.failures, 0),
      floor: median(floors),
      ratio: median(results.map((result, i) => result.perSecond / (floors[i] ?? Number.NaN))),
      target,
    };
  };
  return [
    line('create', 'create', '>= 1.0, p99 <= 20 ms'),
    line('get by id', 'get', '>= 0.45'),
    line('list page of 20', 'list', ''),
    line('replayed create', 'replay', ''),
  ];
}

function print(lines: readonly Line[]): void {
  const shown = lines.map(({ work, perSecond, p50Ms, p99Ms, failures, floor, ratio, target }) => ({
    work,
    'per s': Math.round(perSecond),
    'p50 ms': Number(p50Ms.toFixed(1)),
    'p99 ms': Number(p99Ms.toFixed(1)),
    failures,
    'floor per s': Math.round(floor),
    ratio: Number(ratio.toFixed(2)),
    target,
  }));
  console.table(shown);
}

async function main(): Promise<void> {
  const pgbench = findPgbench();
  if (pgbench === null) {
    console.log('pgbench is not installed (set PGBENCH to its path): no floors in this run.');
  }
  const ground = await prepare();
  const server = runChild(
    'api-server.ts',
    {
      DATABASE_URL: ground.url,
      RATE_LIMIT: '100000000/1',
    },
    PROFILE,
  );
  try {
    const [{ port }] = (await once(server, 'message')) as [{ port: number }];
    const rounds: Round[] = [];
    for (let i = 0; i < ROUNDS; i++) rounds.push(await runRound(ground, port, pgbench));
    server.send('memory');
    const [{ memory }] = (await once(server, 'message')) as [{ memory: number }];
    const lines = summarise(rounds);
    print(lines);
    console.log(`Memory of the API process: ${Math.round(memory / 1e6)} MB`);
    await mkdir(RESULTS, { recursive: true });
    const text = JSON.stringify(
      { at: new Date(), lines, memory, rounds: rounds.map(withoutIds) },
      null,
      2,
    );
    await writeFile(join(RESULTS, 'api.json'), text);
  } finally {
    server.disconnect();
    await ground.stop();
  }
}

function withoutIds(round: Round): object {
  return { ...round, create: { ...round.create, ids: [] } };
}

await main();
