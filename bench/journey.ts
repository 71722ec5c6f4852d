import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Database } from '#db/database.ts';
import { type ChaosGround, openChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import { cpuSeconds } from './cpu.ts';
import type { FarNode } from './far-node.ts';
import { type BenchLine, percentile, report } from './report.ts';
import { type Bench, load, residentMb, withBench } from './shop.ts';

/**
 * Measures complete payments over HTTP in a service started like `npm start`: one process with API
 * and workers, durable PostgreSQL, a chain with one block per second, and one webhook endpoint for
 * all events. A second process sends the taps. Everything shares one machine. `BENCH_BLOCK_MS`
 * lists other block intervals to measure in turn, and `BENCH_NODE_MS` adds round-trip time to the
 * nodes.
 */
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10);
const RATES = numbers(process.env.BENCH_RATES ?? '100,400');
const BLOCKS_MS = numbers(process.env.BENCH_BLOCK_MS ?? '1000');
const NODES_MS = numbers(process.env.BENCH_NODE_MS ?? '0');

function numbers(list: string): number[] {
  return list.split(',').map(Number);
}

/** Returns the blocks that contain the payments of these intents. */
async function blocksOf(db: Database, intents: readonly string[]): Promise<Map<string, number>> {
  const rows = await db.query<{ payment_intent_id: string; block_number: bigint }>(
    'select payment_intent_id, block_number from payments where payment_intent_id = any($1)',
    [intents],
  );
  return new Map(rows.map((row) => [row.payment_intent_id, Number(row.block_number)]));
}

async function measure(bench: Bench, rate: number): Promise<BenchLine[]> {
  const cpuBefore = await cpuSeconds(bench.pids);
  const { taps, blocks } = await load(bench, rate, rate * SECONDS);
  // Processor time from the creates to their webhooks, except for a few sales that are not finished
  // yet.
  const cpu = (await cpuSeconds(bench.pids)) - cpuBefore;
  const paid = taps.filter((tap) => tap.status === 'succeeded');
  const blockOf = await blocksOf(
    bench.db,
    paid.map(({ intent }) => intent),
  );
  const seenAt = new Map(blocks.map(({ number, at }) => [number, at]));
  const afterBlock = paid.map((tap) => {
    const seen = seenAt.get(blockOf.get(tap.intent) ?? -1) ?? tap.done;
    return Math.max(0, tap.done - Math.max(seen, tap.at));
  });
  const inFirst = paid.filter((tap) => {
    const first = blocks.find(({ at }) => at > tap.at);
    return first?.number === blockOf.get(tap.intent);
  });
  const total = paid.map((tap) => tap.done - tap.at);
  // Counts from the first successful payment to the last, because the service cannot shorten the
  // wait for the first block.
  const ends = paid.map(({ done }) => done);
  const span = Math.max(...ends) - Math.min(...ends);
  const failures = taps.length - paid.length;
  const share = ((inFirst.length / paid.length) * 100).toFixed(0);
  const isTarget = rate === 100;
  return [
    {
      work: `tap to succeeded less block wait, ${rate} taps/s`,
      p50Ms: percentile(afterBlock, 0.5),
      p95Ms: percentile(afterBlock, 0.95),
      p99Ms: percentile(afterBlock, 0.99),
      failures,
      value: `${share} % in the first block`,
      ...(isTarget ? { target: 'p50 <= 60 ms, p99 <= 250 ms' } : {}),
    },
    {
      work: `tap to succeeded in all, ${rate} taps/s`,
      perSecond: paid.length / (span / 1000),
      p50Ms: percentile(total, 0.5),
      p95Ms: percentile(total, 0.95),
      p99Ms: percentile(total, 0.99),
      failures,
      ...(isTarget ? {} : { target: '>= 400/s' }),
    },
    { work: `processor time of a sale, ${rate} taps/s`, p50Ms: (cpu * 1000) / taps.length },
  ];
}

/** Gives the chain two addresses: with a single one, a payment waits for a second block. */
function atTwoAddresses(ground: ChaosGround): ChaosGround {
  const { testnet } = ground;
  const [url = ''] = testnet.config.rpcUrls;
  const rpcUrls = [url, url.replace('127.0.0.1', 'localhost')];
  return { ...ground, testnet: { ...testnet, config: { ...testnet.config, rpcUrls } } };
}

/**
 * Adds this round-trip time to the connections to the node. @returns a function that removes it.
 */
async function atDistance(ground: ChaosGround, roundTripMs: number) {
  if (roundTripMs === 0) return { ground, end: () => {} };
  const { config } = ground.testnet;
  const way = fork(path.join(import.meta.dirname, 'far-node.ts'));
  const { port: nearPort } = new URL(config.rpcUrls[0] ?? '');
  way.send({ port: Number(nearPort), roundTripMs } satisfies FarNode);
  const [port] = (await once(way, 'message')) as [number];
  const far = (url: string) => url.replace(`:${nearPort}`, `:${port}`);
  const headsUrl = config.headsUrl === null ? null : far(config.headsUrl);
  const farConfig = { ...config, rpcUrls: config.rpcUrls.map(far), headsUrl };
  const testnet = { ...ground.testnet, config: farConfig };
  return { ground: { ...ground, testnet }, end: () => way.disconnect() };
}

async function measureAll(bench: Bench, pid: number | undefined): Promise<BenchLine[]> {
  const lines: BenchLine[] = [];
  for (const rate of RATES) lines.push(...(await measure(bench, rate)));
  const memory = await residentMb(pid);
  lines.push({
    work: 'memory of the one process after the run',
    value: `${memory.toFixed(0)} MB`,
    target: '<= 300 MB',
  });
  return lines;
}

/**
 * Runs as a child of bench/compare.ts: measures each time the parent sends a rate, until the parent
 * disconnects.
 */
async function serve(bench: Bench): Promise<void> {
  process.on('message', async (rate: number) => process.send?.(await measure(bench, rate)));
  process.send?.('ready');
  await once(process, 'disconnect');
}

/** Measures with one chain and one node. */
async function runOn(blockMs: number, nodeMs: number): Promise<BenchLine[]> {
  const near = await openChaosGround({ providers: 'none', blockMs });
  const { ground, end } = await atDistance(atTwoAddresses(near), nodeMs);
  const [rpcUrl = ''] = near.testnet.config.rpcUrls;
  try {
    return await withBench(ground, rpcUrl, async (bench, pid) => {
      if (!process.argv.includes('--serve')) return measureAll(bench, pid);
      await serve(bench);
      return [];
    });
  } finally {
    end();
    await near.close();
  }
}

async function main(): Promise<void> {
  const lines: BenchLine[] = [];
  const isOne = BLOCKS_MS.length === 1 && NODES_MS.length === 1;
  for (const blockMs of BLOCKS_MS) {
    for (const nodeMs of NODES_MS) {
      const result = await runOn(blockMs, nodeMs);
      const where = isOne ? '' : `, blocks of ${blockMs} ms, node at ${nodeMs} ms`;
      lines.push(...result.map((line) => ({ ...line, work: `${line.work}${where}` })));
    }
  }
  if (!process.argv.includes('--serve')) await report('journey', lines);
}

await main();
