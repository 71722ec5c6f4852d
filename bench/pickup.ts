import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Database } from '#db/database.ts';
import { addTestMerchant, type TestMerchant } from '#testkit/fixtures/payments/merchants.ts';
import { addTerminal } from '#testkit/fixtures/payments/store.ts';
import { startApiServer } from './child-processes.ts';
import { openOwnDatabase } from './databases.ts';
import { percentile, report } from './report.ts';

/**
 * 500 terminals wait in long polls while intents are created for them one by one. Measures from
 * sending the merchant's request, including the create, until the terminal has the intent. There
 * are two processes: every other intent is created on one and picked up from the other.
 */
const TERMINALS = Number(process.env.BENCH_TERMINALS ?? 500);
const INTENTS = 1_000;
const GAP_MS = 10;
const SETTLE_MS = 1_500;

interface Terminal {
  readonly terminalId: string;
  readonly deviceKey: string;
}

interface Bench {
  readonly pools: readonly Pool[];
  readonly merchant: TestMerchant;
  readonly terminals: readonly Terminal[];
  /** Time at which the create request for each terminal's intent was sent. */
  readonly sentAt: Map<string, number>;
  readonly took: number[];
}

/** Polls for work repeatedly, as a terminal would. */
async function wait(bench: Bench, pool: Pool, terminal: Terminal, stop: AbortSignal) {
  const authorization = `Bearer ${terminal.deviceKey}`;
  while (!stop.aborted) {
    const answer = await pool.request({
      method: 'GET',
      path: '/api/device/v1/payment_intents/next?wait=25',
      headers: { authorization },
      signal: stop,
    });
    const now = performance.now();
    const text = await answer.body.text();
    if (answer.statusCode !== 200) continue;
    const sentAt = bench.sentAt.get(terminal.terminalId);
    if (sentAt !== undefined) bench.took.push(now - sentAt);
    // Cancels the intent, because no customer taps here and the next poll would return it again.
    const { id } = JSON.parse(text) as { id: string };
    const path = `/api/device/v1/payment_intents/${id}/cancel`;
    const canceled = await pool.request({ method: 'POST', path, headers: { authorization } });
    await canceled.body.dump();
  }
}

async function create(bench: Bench, pool: Pool, terminal: Terminal): Promise<void> {
  bench.sentAt.set(terminal.terminalId, performance.now());
  const answer = await pool.request({
    method: 'POST',
    path: '/api/v1/payment_intents',
    headers: {
      authorization: `Bearer ${bench.merchant.test.key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ amount: 2_500_000, terminal: terminal.terminalId }),
  });
  await answer.body.dump();
  if (answer.statusCode !== 201) throw new Error(`create answered ${answer.statusCode}`);
}

async function run(bench: Bench): Promise<void> {
  const [first, second] = bench.pools;
  if (first === undefined || second === undefined) throw new Error('two servers are needed');
  const stop = new AbortController();
  const waiting = bench.terminals.map((terminal, index) =>
    wait(bench, index % 2 === 0 ? first : second, terminal, stop.signal).catch(() => {}),
  );
  await sleep(SETTLE_MS);
  for (let number = 0; number < INTENTS; number++) {
    const terminal = bench.terminals[(number * 7) % bench.terminals.length];
    if (terminal !== undefined) await create(bench, number % 4 < 2 ? first : second, terminal);
    await sleep(GAP_MS);
  }
  await sleep(SETTLE_MS);
  stop.abort();
  await Promise.all(waiting);
}

async function addTerminals(db: Database, merchant: TestMerchant): Promise<Terminal[]> {
  const { tenant } = merchant.test;
  const terms = { name: 'Bench', kybApproved: true, merchantNumber: 1n };
  const account = { ...terms, tenant, keyHash: null };
  const terminals: Terminal[] = [];
  for (let number = 0; number < TERMINALS; number++) {
    terminals.push(await addTerminal(db, account, new Date()));
  }
  return terminals;
}

async function main(): Promise<void> {
  const { url, db, close } = await openOwnDatabase(2);
  const merchant = await addTestMerchant(db, { now: new Date() });
  const terminals = await addTerminals(db, merchant);
  const servers = await Promise.all([startApiServer(url), startApiServer(url)]);
  const pools = servers.map((server) => new Pool(server.url, { connections: TERMINALS + 16 }));
  try {
    const bench: Bench = { pools, merchant, terminals, sentAt: new Map(), took: [] };
    await run(bench);
    const line = {
      work: `pickup, ${TERMINALS} terminals waiting at two nodes`,
      p50Ms: percentile(bench.took, 0.5),
      p99Ms: percentile(bench.took, 0.99),
      failures: INTENTS - bench.took.length,
      target: 'p99 <= 50 ms',
    };
    await report('pickup', [line]);
  } finally {
    for (const pool of pools) await pool.destroy();
    for (const { child } of servers) child.disconnect();
    await close();
  }
}

await main();
