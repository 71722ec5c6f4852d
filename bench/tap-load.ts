import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

/**
 * The load generator of bench/journey.ts, in its own process. Creates intents, then taps them at a
 * steady rate, whether or not the service keeps up. Every tap waits for its response.
 */
export interface TapJob {
  /** `http://127.0.0.1:1`. */
  readonly origin: string;
  readonly rpcUrl: string;
  readonly key: string;
  readonly counters: readonly { readonly id: string; readonly deviceKey: string }[];
  readonly passes: readonly string[];
  readonly perSecond: number;
  readonly taps: number;
}

export interface Tapped {
  readonly intent: string;
  /** Unix milliseconds, with fractions. */
  readonly at: number;
  readonly done: number;
  readonly status: string;
}

export interface TapResult {
  readonly taps: readonly Tapped[];
  /** Time at which each block was first seen. */
  readonly blocks: readonly { readonly number: number; readonly at: number }[];
  /** Milliseconds that all creates together took. */
  readonly createMs: number;
}

const CREATORS = 64;
const TICK_MS = 2;
const BLOCK_POLL_MS = 5;
const MAX_CONNECTIONS = 2_000;
const now = () => performance.timeOrigin + performance.now();

interface Target {
  readonly intent: string;
  readonly deviceKey: string;
  readonly pass: string;
}

function post(pool: Pool, path: string, key: string, body: object) {
  return pool.request({
    method: 'POST',
    path,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify(body),
    headersTimeout: 60_000,
  });
}

async function create(pool: Pool, job: TapJob, number: number): Promise<Target> {
  const counter = job.counters[number % job.counters.length];
  const pass = job.passes[number % job.passes.length];
  if (counter === undefined || pass === undefined) throw new Error('no counter or no pass');
  const body = { amount: 2_000_000, terminal: counter.id, expires_in: 600 };
  const answer = await post(pool, '/api/v1/payment_intents', job.key, body);
  const { id } = (await answer.body.json()) as { id: string };
  if (answer.statusCode !== 201) throw new Error(`create answered ${answer.statusCode}`);
  return { intent: id, deviceKey: counter.deviceKey, pass };
}

async function createAll(pool: Pool, job: TapJob): Promise<Target[]> {
  const targets: Target[] = [];
  let next = 0;
  const one = async () => {
    while (next < job.taps) targets.push(await create(pool, job, next++));
  };
  await Promise.all(Array.from({ length: CREATORS }, one));
  return targets;
}

async function tap(pool: Pool, target: Target): Promise<Tapped> {
  const at = now();
  const path = `/api/device/v1/payment_intents/${target.intent}/tap`;
  const credential = { type: 'nfc_id', value: target.pass };
  const answer = await post(pool, path, target.deviceKey, { credential });
  const { status } = (await answer.body.json()) as { status?: string };
  return { intent: target.intent, at, done: now(), status: status ?? `${answer.statusCode}` };
}

async function tapAll(pool: Pool, job: TapJob, targets: readonly Target[]): Promise<Tapped[]> {
  const running: Promise<Tapped>[] = [];
  const started = performance.now();
  while (running.length < targets.length) {
    const due = Math.floor(((performance.now() - started) / 1000) * job.perSecond);
    for (const target of targets.slice(running.length, due)) running.push(tap(pool, target));
    await sleep(TICK_MS);
  }
  return Promise.all(running);
}

/** Watches the chain's blocks independently of the service. */
function watchBlocks(rpcUrl: string) {
  const blocks: { number: number; at: number }[] = [];
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] });
  const headers = { 'content-type': 'application/json' };
  let stopped = false;
  const done = (async () => {
    while (!stopped) {
      const answer = await fetch(rpcUrl, { method: 'POST', headers, body });
      const { result } = (await answer.json()) as { result: string };
      const number = Number(result);
      if (number !== blocks.at(-1)?.number) blocks.push({ number, at: now() });
      await sleep(BLOCK_POLL_MS);
    }
  })();
  return {
    blocks,
    stop: () => {
      stopped = true;
      return done;
    },
  };
}

async function run(job: TapJob): Promise<TapResult> {
  const pool = new Pool(job.origin, { connections: MAX_CONNECTIONS, pipelining: 1 });
  const began = performance.now();
  const targets = await createAll(pool, job);
  const createMs = performance.now() - began;
  const watch = watchBlocks(job.rpcUrl);
  const taps = await tapAll(pool, job, targets);
  await watch.stop();
  await pool.close();
  return { taps, blocks: watch.blocks, createMs };
}

process.on('message', (job: TapJob) => {
  void run(job).then(
    (result) => process.send?.(result),
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit());
