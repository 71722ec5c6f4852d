import { setTimeout as sleep } from 'node:timers/promises';
import { present } from '#core/assert.ts';
import type { Database } from '#db/database.ts';
import { runLoad } from './child-processes.ts';
import { cpuSeconds } from './cpu.ts';
import { type NodesGround, openNodesGround } from './nodes-ground.ts';
import type { NodesJob, NodesResult, Seller } from './nodes-load.ts';
import { type BenchLine, median, report } from './report.ts';

/**
 * Measures creates, reads and taps per second with one, two and three API processes and with 1, 16
 * and 256 accounts, and the cost of each request: processor time of the service and of PostgreSQL,
 * write-ahead log, rows and gas. One worker settles on a real chain with 1-second blocks.
 * Everything shares the machine, so more nodes cannot be faster here, but must not be slower. Reads
 * take no locks, so if they are slower with a second node, the machine is the reason.
 */
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const NODES = (process.env.BENCH_NODES ?? '1,2,3').split(',').map(Number);
const ACCOUNTS = (process.env.BENCH_ACCOUNTS ?? '1,16,256').split(',').map(Number);
const CREATE_CLIENTS = 64;
/**
 * Warm-up time of each node separately. V8 compiles code only after it has run often, and a node
 * that has created few intents takes twice the processor time per create; in a shared warm-up, each
 * node would create too few.
 */
const WARM_UP_SECONDS = 10;
/** Number of clients. High, because each tap waits a second or more for its block. */
const TAP_CLIENTS = 256;
/** More taps per second than one machine can handle. */
const MAX_TAPS_PER_SECOND = 500;
const TIMEOUT_SECONDS = 120;
/** Waits for PostgreSQL's statistics, which its processes report only at intervals. */
const REST_MS = 12_000;
/** Number of sales that are made to count their rows and bytes. */
const COUNTED_SALES = 400;
/** The minimum speed of two nodes, relative to one node. */
const TARGET = '>= 0.9 of one node';

interface Cell {
  readonly nodes: number;
  readonly accounts: number;
}

/** The work that the database has done so far, from PostgreSQL's statistics. */
interface Work {
  readonly wal: number;
  readonly rows: number;
}

async function selectWork(db: Database): Promise<Work> {
  const [row] = await db.query<Work>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float as wal,
       (tup_inserted + tup_updated + tup_deleted)::float as rows
     from pg_stat_database where datname = current_database()`,
  );
  return present(row, 'the statistics of the database');
}

const load = (job: NodesJob) => runLoad<NodesResult>('nodes-load.ts', job);

/** The result of one kind of work in one round. */
interface Measured {
  readonly cell: Cell;
  readonly kind: NodesJob['kind'];
  readonly perSecond: number;
  readonly failures: number;
  /** Milliseconds of processor time per request: of the API, PostgreSQL and the worker. */
  readonly cpuMs: readonly number[];
}

const failuresOf = ({ others }: NodesResult) =>
  Object.values(others).reduce((sum, count) => sum + count, 0);

async function measure(ground: NodesGround, cell: Cell, job: NodesJob): Promise<Measured> {
  const pids = ground.nodes.map(({ pid }) => pid);
  const parts = [pids, [ground.postgresPid], [ground.workerPid]];
  const before = await Promise.all(parts.map(cpuSeconds));
  const result = await load(job);
  const after = await Promise.all(parts.map(cpuSeconds));
  const cpuMs = after.map((seconds, index) => {
    const used = seconds - (before[index] ?? 0);
    return (used * 1000) / Math.max(1, result.done);
  });
  const failures = failuresOf(result);
  if (failures > 0) console.log(cell, job.kind, result.others);
  return { cell, kind: job.kind, perSecond: result.done / result.seconds, failures, cpuMs };
}

/** Creates intents for these sellers in order, across all nodes, without measuring. */
async function makeIntents(
  ground: NodesGround,
  { sellers, count: limit }: { readonly sellers: readonly Seller[]; readonly count: number },
) {
  const origins = ground.nodes.map(({ origin }) => origin);
  const base = { origins, sellers, passes: [], clients: CREATE_CLIENTS, intents: [] };
  const made = await load({ ...base, kind: 'create', limit, seconds: TIMEOUT_SECONDS });
  // Fails the run: with an intent missing, each later one would be tapped at the wrong seller's
  // terminal.
  if (failuresOf(made) > 0) throw new Error(`creates failed: ${JSON.stringify(made.others)}`);
  return made.intents;
}

async function measureCell(ground: NodesGround, cell: Cell): Promise<Measured[]> {
  const sellers = ground.sellers.slice(0, cell.accounts);
  const origins = ground.nodes.slice(0, cell.nodes).map(({ origin }) => origin);
  const base = { origins, sellers, passes: ground.passes, seconds: SECONDS, intents: [] };
  await ground.db.query('checkpoint');
  const create = await measure(ground, cell, { ...base, kind: 'create', clients: CREATE_CLIENTS });
  const count = MAX_TAPS_PER_SECOND * SECONDS;
  const intents = await makeIntents(ground, { sellers, count });
  const tap = { ...base, kind: 'tap', clients: TAP_CLIENTS, intents } as const;
  const get = { ...base, kind: 'get', clients: CREATE_CLIENTS, intents } as const;
  return [create, await measure(ground, cell, get), await measure(ground, cell, tap)];
}

/** Returns a line with the medians of several rounds, relative to one node in the same rounds. */
function toLine(rounds: readonly Measured[], alone: readonly Measured[]): BenchLine {
  const [{ cell, kind } = present(alone[0], 'a round')] = rounds;
  const ms = [0, 1, 2].map((part) => median(rounds.map(({ cpuMs }) => cpuMs[part] ?? 0)));
  const ratios = rounds.map((one, index) => one.perSecond / (alone[index]?.perSecond ?? 0));
  return {
    work: `${kind}, ${cell.nodes} nodes, ${cell.accounts} accounts`,
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    failures: rounds.reduce((sum, { failures }) => sum + failures, 0),
    value: `${ms.map((one) => one.toFixed(2)).join(' + ')} ms of API, PostgreSQL, worker`,
    ...(rounds === alone ? {} : { ratio: median(ratios), target: TARGET }),
  };
}

/**
 * Measures all numbers of nodes in turn, so that other load on the machine affects all of them
 * equally.
 */
async function measureAccounts(ground: NodesGround, accounts: number): Promise<BenchLine[]> {
  const all: Measured[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const nodes of NODES) all.push(...(await measureCell(ground, { nodes, accounts })));
  }
  return (['create', 'get', 'tap'] as const).flatMap((kind) => {
    const measured = NODES.map((nodes) =>
      all.filter((one) => one.kind === kind && one.cell.nodes === nodes),
    );
    const alone = present(measured[0], 'a number of nodes');
    return measured.map((rounds) => toLine(rounds, alone));
  });
}

/** Returns how much a complete sale writes: its intent, tap, settlement and events. */
async function writtenPerSale(ground: NodesGround): Promise<BenchLine> {
  const { db, passes } = ground;
  const origins = ground.nodes.slice(0, 1).map(({ origin }) => origin);
  const sellers = ground.sellers.slice(0, 1);
  await sleep(REST_MS);
  const before = await selectWork(db);
  const intents = await makeIntents(ground, { sellers, count: COUNTED_SALES });
  const base = { origins, passes, sellers, clients: CREATE_CLIENTS, seconds: TIMEOUT_SECONDS };
  const tapped = await load({ ...base, kind: 'tap', intents });
  await sleep(REST_MS);
  const after = await selectWork(db);
  const wal = (after.wal - before.wal) / tapped.done / 1000;
  const rows = (after.rows - before.rows) / tapped.done;
  return {
    work: 'written per sale, create to settlement',
    failures: failuresOf(tapped),
    value: `${wal.toFixed(1)} kB of write-ahead log, ${rows.toFixed(1)} rows inserted or changed`,
  };
}

interface Gas {
  readonly hash: string;
  readonly payments: number;
}

/** Returns the gas per payment in the most recent transactions. */
async function gasPerPayment({ db, rpcUrl }: NodesGround): Promise<number> {
  const rows = await db.query<Gas>(
    `select tx_hash as hash, count(*)::int as payments from payments
     where not livemode group by tx_hash order by max(settled_at) desc limit 50`,
  );
  let gas = 0;
  for (const { hash } of rows) {
    const body = { jsonrpc: '2.0', id: 1, method: 'eth_getTransactionReceipt', params: [hash] };
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(body) });
    const { result } = (await answer.json()) as { result: { gasUsed: string } };
    gas += Number(result.gasUsed);
  }
  return gas / rows.reduce((sum, { payments }) => sum + payments, 0);
}

async function warmUp({ nodes, sellers }: NodesGround): Promise<void> {
  const job = {
    sellers,
    passes: [],
    intents: [],
    clients: CREATE_CLIENTS,
    kind: 'create',
  } as const;
  for (const { origin } of nodes) {
    await load({ ...job, origins: [origin], seconds: WARM_UP_SECONDS });
  }
}

async function main(): Promise<void> {
  const [accounts, nodes] = [Math.max(...ACCOUNTS), Math.max(...NODES)];
  const ground = await openNodesGround({ accounts, nodes });
  try {
    await warmUp(ground);
    await measureCell(ground, { nodes, accounts });
    const lines: BenchLine[] = [];
    for (const count of ACCOUNTS) lines.push(...(await measureAccounts(ground, count)));
    lines.push(await writtenPerSale(ground));
    const gas = await gasPerPayment(ground);
    lines.push({ work: 'gas per payment', value: gas.toFixed(0) });
    await report('nodes', lines);
  } finally {
    await ground.close();
  }
}

await main();
