import { randomUUID } from 'node:crypto';
import { type Dispatcher, Pool } from 'undici';

/**
 * The load generator of bench/nodes.ts, in its own process. Each of its clients waits for a
 * response, then sends the next request to the next node.
 */
export interface NodesJob {
  /** `http://127.0.0.1:1`, one per node. */
  readonly origins: readonly string[];
  readonly sellers: readonly Seller[];
  readonly passes: readonly string[];
  readonly clients: number;
  readonly seconds: number;
  /** Stops after this many requests, or earlier if the time is up. */
  readonly limit?: number;
  readonly kind: 'create' | 'get' | 'tap';
  /** The sellers' intents, in the order of the sellers. Each is tapped once or read repeatedly. */
  readonly intents: readonly string[];
}

export interface Seller {
  readonly key: string;
  readonly terminal: string;
  readonly deviceKey: string;
}

export interface NodesResult {
  readonly done: number;
  readonly seconds: number;
  /** Number of unsuccessful responses, by response. */
  readonly others: Readonly<Record<string, number>>;
  /** For creates: the new intents, in the order of the sellers. */
  readonly intents: readonly string[];
}

/** Time limit for a tap, which waits for a block. A slower tap counts as unsuccessful. */
const TIMEOUT_MS = 60_000;

interface Sent {
  readonly said: string;
  readonly id: string;
}

type Request = Pick<Dispatcher.RequestOptions, 'method' | 'path' | 'headers' | 'body'>;

type Send = (turn: number) => Promise<Sent>;

function sender(job: NodesJob, pools: readonly Pool[]): Send {
  const ask = async (turn: number, request: Request): Promise<Sent> => {
    const pool = pools[turn % pools.length];
    if (pool === undefined) throw new Error('no node');
    const { body: answer, statusCode } = await pool.request({
      ...request,
      headersTimeout: TIMEOUT_MS,
    });
    const { id = '', status } = (await answer.json()) as { id?: string; status?: string };
    return { said: status ?? String(statusCode), id };
  };
  const post = (turn: number, path: string, key: string, body: object) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    };
    return ask(turn, { method: 'POST', path, headers, body: JSON.stringify(body) });
  };
  return (turn) => {
    // Intents are in the order of their sellers, so the position identifies the seller.
    const position = job.kind === 'create' ? turn : turn % job.intents.length;
    const seller = job.sellers[position % job.sellers.length];
    if (seller === undefined) throw new Error('no seller');
    const { key, terminal, deviceKey } = seller;
    if (job.kind === 'create') {
      const order = { amount: 2_000_000, terminal, expires_in: 600 };
      return post(turn, '/api/v1/payment_intents', key, order);
    }
    const intent = job.intents[position];
    if (job.kind === 'get') {
      const headers = { authorization: `Bearer ${key}` };
      return ask(turn, { method: 'GET', path: `/api/v1/payment_intents/${intent}`, headers });
    }
    const path = `/api/device/v1/payment_intents/${intent}/tap`;
    const value = job.passes[turn % job.passes.length];
    return post(turn, path, deviceKey, { credential: { type: 'nfc_id', value } });
  };
}

const WANTED = {
  create: 'requires_payment_method',
  get: 'requires_payment_method',
  tap: 'succeeded',
} as const;

async function run(job: NodesJob): Promise<NodesResult> {
  const each = Math.ceil(job.clients / job.origins.length);
  const pools = job.origins.map((origin) => new Pool(origin, { connections: each, pipelining: 1 }));
  const send = sender(job, pools);
  const intents: string[] = [];
  const others: Record<string, number> = {};
  const most = job.limit ?? Number.POSITIVE_INFINITY;
  const limit = job.kind === 'tap' ? Math.min(most, job.intents.length) : most;
  const began = performance.now();
  let turn = 0;
  let done = 0;
  const client = async () => {
    while (turn < limit && performance.now() - began < job.seconds * 1000) {
      const mine = turn++;
      const { said, id } = await send(mine);
      if (said === WANTED[job.kind]) {
        done++;
        intents[mine] = id;
      } else others[said] = (others[said] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: job.clients }, client));
  const seconds = (performance.now() - began) / 1000;
  await Promise.all(pools.map((pool) => pool.close()));
  return { done, seconds, others, intents };
}

process.on('message', (job: NodesJob) => {
  void run(job).then(
    (result) => process.send?.(result),
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit());
