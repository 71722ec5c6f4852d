import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '#core/ids.ts';
import type { Database } from '#db/database.ts';
import { addTestMerchant, type TestMerchant } from '#testkit/fixtures/payments/merchants.ts';
import { startFlags } from '#testkit/network/spawn-network.ts';
import { hear, runLoad, startApiServer } from './child-processes.ts';
import { type OwnDatabase, openOwnDatabase } from './databases.ts';
import { CREATE_FLOOR, READ_FLOOR, STORE_INTENTS, STORED_INTENTS, storedId } from './floors.ts';
import type { Job, Result } from './http-load.ts';
import { findPgbench, runFloor } from './pgbench.ts';
import { type BenchLine, median, printTable, RESULTS } from './report.ts';

/**
 * Measures how many payment intents per second the service creates and reads over HTTP with all
 * features on, and, as the floor, how fast PostgreSQL alone runs the same statements. The two take
 * turns on one durable server. PostgreSQL, the service and the load generator share two cores.
 */
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const CONNECTIONS = 64;
const STEADY_RATE = 500;
/** The number of clients at which PostgreSQL is fastest on two cores. */
const FLOOR_CLIENTS = 8;
/** Shown in the table if pgbench was not available to measure the floor. */
const LOWER_FLOOR = "floor: own clients, below pgbench's";
const WARM_UP_SECONDS = 2;
/** The ids that the load generator reads, in random order, as merchants' servers would. */
const READ_TARGETS = Array.from({ length: 20_000 }, () =>
  storedId(Math.floor(Math.random() * STORED_INTENTS)),
);

/** `BENCH_PROFILE=1` writes a CPU profile of the service beside the results. */
const PROFILE =
  process.env.BENCH_PROFILE === '1' ? ['--cpu-prof', `--cpu-prof-dir=${RESULTS}`] : [];
/** `BENCH_ONLY=get` measures only reads. */
const ONLY = process.env.BENCH_ONLY ?? null;

const NOTHING: Result = {
  perSecond: 0,
  p50Ms: 0,
  p99Ms: 0,
  requests: 0,
  failures: 0,
  tenths: [0, 0],
  ids: [],
};

async function load(job: Job): Promise<Result> {
  return ONLY !== null && ONLY !== job.kind ? NOTHING : runLoad('http-load.ts', job);
}

/** Adds an endpoint that gets every event, so that each create also writes a delivery. */
async function subscribe(db: Database, merchant: TestMerchant): Promise<void> {
  const now = new Date();
  await db.query(
    `insert into webhook_endpoints
       (id, account_id, livemode, url, enabled_events, api_version, secret, created, updated)
     values ($1, $2, false, 'https://example.com/', '{*}', '2026-09-28', $3, $4, $4)`,
    [newId('webhookEndpoint', now), merchant.accountId, randomBytes(60), now],
  );
}

interface Ground extends OwnDatabase {
  readonly merchant: TestMerchant;
}

async function prepare(): Promise<Ground> {
  const database = await openOwnDatabase(4);
  const { db } = database;
  const merchant = await addTestMerchant(db, { now: new Date() });
  await subscribe(db, merchant);
  await db.query(STORE_INTENTS, [merchant.accountId, merchant.test.terminal, STORED_INTENTS]);
  await db.query('vacuum analyze payment_intents');
  return { ...database, merchant };
}

interface Round {
  /** Statements per second; `null` if `BENCH_ONLY` skips the floors. */
  readonly createFloor: number | null;
  readonly readFloor: number | null;
  readonly create: Result;
  /** The result at a fixed request rate. */
  readonly steady: Result;
  readonly get: Result;
  readonly list: Result;
  readonly replay: Result;
}

async function runRound(ground: Ground, port: number, pgbench: string | null): Promise<Round> {
  const { url: databaseUrl, merchant } = ground;
  const floorOf = async (script: string) => {
    if (ONLY !== null) return null;
    const variables = { account: merchant.accountId };
    const load = { databaseUrl, script, clients: FLOOR_CLIENTS, seconds: SECONDS, variables };
    return (await runFloor(pgbench, load)).perSecond;
  };
  const base = {
    port,
    connections: CONNECTIONS,
    seconds: SECONDS,
    warmUpSeconds: WARM_UP_SECONDS,
    key: merchant.test.key,
    terminal: merchant.test.terminal,
    targets: [],
  };
  await ground.db.query('checkpoint');
  const createFloor = await floorOf(CREATE_FLOOR);
  // Forces a checkpoint, so that neither side pays for flushing the other side's pages.
  await ground.db.query('checkpoint');
  const create = await load({ ...base, kind: 'create' });
  const steady = await load({ ...base, kind: 'create', perSecond: STEADY_RATE });
  const replay = await load({ ...base, kind: 'replay' });
  const readFloor = await floorOf(READ_FLOOR);
  const get = await load({ ...base, kind: 'get', targets: READ_TARGETS });
  const list = await load({ ...base, kind: 'list', targets: ['', '?limit=20&source=api'] });
  return { createFloor, readFloor, create, steady, get, list, replay };
}

/**
 * Returns the table's lines. `floorName` is a note for each line; it is empty if pgbench measured
 * the floor.
 */
function summarize(rounds: readonly Round[], floorName: string): BenchLine[] {
  const line = (
    kind: 'create' | 'steady' | 'get' | 'list' | 'replay',
    work: string,
    target: string,
  ) => {
    const results = rounds.map((round) => round[kind]);
    const beside = rounds.flatMap((round) => {
      const floor = kind === 'create' || kind === 'steady' ? round.createFloor : round.readFloor;
      return floor === null ? [] : [{ floor, ratio: round[kind].perSecond / floor }];
    });
    return {
      work,
      perSecond: median(results.map((result) => result.perSecond)),
      p50Ms: median(results.map((result) => result.p50Ms)),
      p99Ms: median(results.map((result) => result.p99Ms)),
      failures: results.reduce((sum, result) => sum + result.failures, 0),
      ...(beside.length > 0 && {
        floor: median(beside.map(({ floor }) => floor)),
        ratio: median(beside.map(({ ratio }) => ratio)),
      }),
      value: floorName,
      target,
    };
  };
  return [
    line('create', 'create', '>= 3,000/s'),
    line('steady', `create, ${STEADY_RATE}/s by the clock`, 'p99 <= 30 ms'),
    line('get', 'get by id', '>= 0.45'),
    line('list', 'list page of 20', ''),
    line('replay', 'replayed create', ''),
  ];
}

async function main(): Promise<void> {
  const pgbench = findPgbench();
  const isLowerFloor = pgbench === null && ONLY === null;
  if (isLowerFloor) {
    console.log(
      'Without pgbench (set PGBENCH to its path) the floors are of bench/floor-clients.ts: ' +
        'they lie lower, so no ratio below says that a target is reached.',
    );
  }
  const ground = await prepare();
  const { child, port } = await startApiServer(ground.url, [...startFlags(), ...PROFILE]);
  try {
    const rounds: Round[] = [];
    for (let i = 0; i < ROUNDS; i++) rounds.push(await runRound(ground, port, pgbench));
    child.send('memory');
    const { memory } = await hear<{ memory: number }>(child);
    const lines = summarize(rounds, isLowerFloor ? LOWER_FLOOR : '');
    printTable(lines);
    console.log(`Memory of the API process: ${Math.round(memory / 1e6)} MB`);
    await mkdir(RESULTS, { recursive: true });
    const text = JSON.stringify(
      { at: new Date(), lines, memory, rounds: rounds.map(withoutIds) },
      null,
      2,
    );
    await writeFile(join(RESULTS, 'api.json'), text);
  } finally {
    child.disconnect();
    await ground.close();
  }
}

function withoutIds(round: Round): object {
  return { ...round, create: { ...round.create, ids: [] }, steady: { ...round.steady, ids: [] } };
}

await main();
