import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { addTestKey, addTestMerchant } from '#testkit/fixtures/payments/merchants.ts';
import { type OpenedStream, openEventStream } from '#testkit/network/event-stream.ts';
import { startApiServer } from './child-processes.ts';
import { openOwnDatabase } from './databases.ts';
import { percentile, report } from './report.ts';

/**
 * One process serves 1,000 event streams of one account while intents are created one by one.
 * Measures from sending the merchant's request, including the create, until each stream has the
 * event. The readers run in a second process.
 */
const STREAMS = Number(process.env.BENCH_STREAMS ?? 1_000);
const STREAMS_OF_KEY = 20;
const INTENTS = 100;
/**
 * Pause between intents. Longer than writing and reading a thousand events takes, so that events do
 * not overlap.
 */
const GAP_MS = 200;
const SETTLE_MS = 2_000;

/** Returns the arrival times of all events, by stream. */
function arrivals(streams: readonly OpenedStream[]): number[][] {
  return streams.map((stream) => {
    const at: number[] = [];
    stream.response.on('data', () => {
      while (at.length < stream.ids.length) at.push(performance.now());
    });
    return at;
  });
}

const database = await openOwnDatabase(4);
const { db } = database;
const merchant = await addTestMerchant(db, { now: new Date() });
const { child, url } = await startApiServer(database.url);

const streams: OpenedStream[] = [];
while (streams.length < STREAMS) {
  const { secret } = await addTestKey(db, merchant.test.tenant, { now: new Date() });
  const opening = Array.from({ length: STREAMS_OF_KEY }, () =>
    openEventStream({ url: `${url}/api/v1/events/stream`, key: secret }),
  );
  streams.push(...(await Promise.all(opening)));
}
const came = arrivals(streams);
await sleep(SETTLE_MS);

const pool = new Pool(url, { connections: 1 });
const sentAt: number[] = [];
for (let i = 0; i < INTENTS; i++) {
  sentAt.push(performance.now());
  const answer = await pool.request({
    method: 'POST',
    path: '/api/v1/payment_intents',
    headers: {
      authorization: `Bearer ${merchant.test.key}`,
      'content-type': 'application/json',
      'idempotency-key': `stream-${i}`,
    },
    body: JSON.stringify({ amount: 100, terminal: merchant.test.terminal }),
  });
  await answer.body.dump();
  await sleep(GAP_MS);
}
await sleep(SETTLE_MS);

const failures = streams.filter(
  ({ status, ids }) => status !== 200 || ids.join() !== streams[0]?.ids.join(),
).length;
const took = came.flatMap((at) => at.map((time, index) => time - (sentAt[index] ?? Number.NaN)));
await report('streams', [
  {
    work: `create to event, ${STREAMS} streams of one account`,
    p50Ms: percentile(took, 0.5),
    p99Ms: percentile(took, 0.99),
    failures: failures + STREAMS * INTENTS - took.length,
    target: 'no loss; p99 ≤ 250 ms',
  },
]);

for (const stream of streams) stream.close();
await pool.close();
child.disconnect();
await once(child, 'exit');
await database.close();
