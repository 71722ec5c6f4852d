import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { present } from '#core/assert.ts';
import { newId } from '#core/ids.ts';
import { addEndpoint } from '#testkit/fixtures/webhooks/webhook-endpoints.ts';
import { writeTestEvents } from '#testkit/fixtures/webhooks/webhook-events.ts';
import {
  insertAccount,
  openBench,
  type WebhookBench,
} from '#testkit/fixtures/webhooks/webhooks.ts';
import { sign, signingKey } from '#webhooks/sign-delivery.ts';
import { type ChildServer, startServer } from './child-processes.ts';
import { median, percentile, report } from './report.ts';

/**
 * Measures webhook deliveries per second, from claim to recorded response, compared with a minimal
 * loop that sends the same signed bodies to the same receiver; and the time from an event to its
 * receiver when idle. The receiver has its own process and shares the machine with PostgreSQL and
 * the sender.
 */
const ACCOUNTS = 20;
const EVENTS_PER_ACCOUNT = 1_000;
const DELIVERIES = ACCOUNTS * EVENTS_PER_ACCOUNT;
const ROUNDS = 5;
const FLOOR_CONNECTIONS = 64;
const IDLE_EVENTS = 200;
const IDLE_GAP_MS = 15;

/** Sends already signed bodies with plain `Pool.request` calls, as the floor. */
async function floor(receiver: ChildServer, bodies: readonly Buffer[]): Promise<number> {
  const pool = new Pool(receiver.url, { connections: FLOOR_CONNECTIONS });
  const key = signingKey(`whsec_${Buffer.alloc(32, 7).toString('base64')}`);
  const signed = bodies.map((body) => {
    const signatures = sign({ eventId: 'evt_0', seconds: 1, body }, [key]);
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'Service-Signature': signatures.service,
      'Service-Event-Id': newId('event', new Date()),
      'webhook-signature': signatures.standard,
    };
    return { body, headers };
  });
  let next = 0;
  const started = performance.now();
  const loop = async () => {
    while (next < DELIVERIES) {
      const message = present(signed[next++ % signed.length], 'message');
      const answer = await pool.request({ path: '/', method: 'POST', ...message });
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: FLOOR_CONNECTIONS }, loop));
  const perSecond = DELIVERIES / ((performance.now() - started) / 1000);
  await pool.close();
  return perSecond;
}

async function fill(bench: WebhookBench, receiver: ChildServer): Promise<void> {
  for (let account = 0; account < ACCOUNTS; account++) {
    const tenant = await insertAccount(bench.db, new Date());
    await addEndpoint(bench, `${receiver.url}/hook`, { tenant });
    for (let done = 0; done < EVENTS_PER_ACCOUNT; done += 200) {
      await writeTestEvents(bench, Math.min(200, EVENTS_PER_ACCOUNT - done), { tenant });
    }
  }
}

async function whole(receiver: ChildServer): Promise<{ perSecond: number; bodies: Buffer[] }> {
  const bench = await openBench();
  try {
    await fill(bench, receiver);
    await bench.db.query('checkpoint');
    const bodies = await bench.db.query<{ body: string }>('select body from events limit 1000');
    const started = performance.now();
    const worker = bench.startWorker();
    for (;;) {
      await pause(5);
      // Queries only while no delivery is in flight, because the query would slow deliveries down.
      if (worker.stats().inFlight > 0 || worker.stats().endpoints === 0) continue;
      const [left] = await bench.db.query<{ n: bigint }>(
        'select count(*) as n from (select from webhook_due limit 1) d',
      );
      if (left?.n === 0n) break;
    }
    const perSecond = DELIVERIES / ((performance.now() - started) / 1000);
    const [done] = await bench.db.query<{ n: bigint }>(
      `select count(*) as n from webhook_deliveries where status = 'succeeded' and attempt = 1`,
    );
    if (done?.n !== BigInt(DELIVERIES)) throw new Error(`only ${done?.n} succeeded`);
    return { perSecond, bodies: bodies.map((row) => Buffer.from(row.body)) };
  } finally {
    await bench.close();
  }
}

async function idle(receiver: ChildServer): Promise<number[]> {
  const bench = await openBench();
  try {
    await addEndpoint(bench, `${receiver.url}/hook`);
    bench.startWorker();
    const seen: number[] = [];
    receiver.child.on('message', (message: { at?: number }) => {
      if (message.at !== undefined) seen.push(message.at);
    });
    receiver.child.send({ ask: 'tell' });
    const took: number[] = [];
    for (let sent = 1; sent <= IDLE_EVENTS; sent++) {
      await pause(IDLE_GAP_MS);
      const begun = performance.timeOrigin + performance.now();
      await writeTestEvents(bench);
      while (seen.length < sent) await pause(1);
      took.push((seen.at(-1) ?? 0) - begun);
    }
    receiver.child.send({ ask: 'hush' });
    receiver.child.removeAllListeners('message');
    return took;
  } finally {
    await bench.close();
  }
}

async function main(): Promise<void> {
  const receiver = await startServer('webhook-receiver.ts');
  const rounds: { ours: number; floor: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { perSecond, bodies } = await whole(receiver);
    rounds.push({ ours: perSecond, floor: await floor(receiver, bodies) });
  }
  const took = await idle(receiver);
  receiver.child.disconnect();
  await report('webhooks', [
    {
      work: `${DELIVERIES} webhooks to ${ACCOUNTS} endpoints, claim to recorded answer`,
      perSecond: median(rounds.map(({ ours }) => ours)),
      floor: median(rounds.map((round) => round.floor)),
      // Uses the ratio of each round, because the machine's other load changes between rounds.
      ratio: median(rounds.map((round) => round.ours / round.floor)),
      target: '>= 0.42 of a bare Pool.request loop',
    },
    {
      work: 'event to receiver when idle, from before its transaction',
      p50Ms: median(took),
      p99Ms: percentile(took, 0.99),
      target: 'p50 < 20 ms',
    },
  ]);
}

await main();
