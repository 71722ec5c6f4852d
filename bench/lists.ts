import { Pool } from 'undici';
import type { Database } from '#db/database.ts';
import { addTestMerchant, type TestMerchant } from '#testkit/fixtures/payments/merchants.ts';
import { startApiServer } from './child-processes.ts';
import { openOwnDatabase } from './databases.ts';
import { STORE_INTENTS } from './floors.ts';
import { type BenchLine, percentile, report } from './report.ts';

/**
 * Measures a page of 20 intents out of 1,000,000 at the beginning, the middle and the end of the
 * list. Its cost must not depend on the position.
 */
const INTENTS = Number(process.env.BENCH_ROWS ?? 1_000_000);
const PAGES = 1_500;
const CLIENTS = 8;
const WARM_UP_PAGES = 200;

interface Bench {
  readonly pool: Pool;
  readonly db: Database;
  readonly merchant: TestMerchant;
}

async function page(bench: Bench, query: string): Promise<{ next: string; count: number }> {
  const answer = await bench.pool.request({
    method: 'GET',
    path: `/api/v1/payment_intents?limit=20${query}`,
    headers: { authorization: `Bearer ${bench.merchant.test.key}` },
  });
  const body = (await answer.body.json()) as { data: unknown[]; next_cursor: string | null };
  if (answer.statusCode !== 200) throw new Error(JSON.stringify(body));
  return { next: body.next_cursor ?? '', count: body.data.length };
}

/** Returns the filter with the cursor at this fraction of the list. */
async function cursorAt(bench: Bench, share: number): Promise<string> {
  if (share === 0) return '';
  const [row] = await bench.db.query<{ created: Date }>(
    'select created from payment_intents where position = $1 and account_id = $2',
    [Math.floor(INTENTS * (1 - share)), bench.merchant.accountId],
  );
  const filter = `&created_lt=${row?.created.toISOString()}`;
  const { next } = await page(bench, filter);
  return `${filter}&cursor=${encodeURIComponent(next)}`;
}

async function measure(bench: Bench, query: string, pages: number): Promise<number[]> {
  const took: number[] = [];
  let left = pages;
  const client = async () => {
    while (left-- > 0) {
      const began = performance.now();
      const { count } = await page(bench, query);
      took.push(performance.now() - began);
      if (count !== 20) throw new Error(`a page of ${count}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return took;
}

async function lines(bench: Bench): Promise<BenchLine[]> {
  const places = [
    { name: 'first page', share: 0 },
    { name: 'page in the middle', share: 0.5 },
    { name: 'page at the end', share: 0.999 },
  ];
  const queries = await Promise.all(places.map(({ share }) => cursorAt(bench, share)));
  await measure(bench, queries[1] ?? '', WARM_UP_PAGES);
  const results: BenchLine[] = [];
  for (const [index, { name }] of places.entries()) {
    const began = performance.now();
    const took = await measure(bench, queries[index] ?? '', PAGES);
    results.push({
      work: `${name} of ${INTENTS} intents`,
      perSecond: PAGES / ((performance.now() - began) / 1000),
      p50Ms: percentile(took, 0.5),
      p99Ms: percentile(took, 0.99),
      ...(index === 0 ? {} : { target: 'p99 <= 2 x the first page' }),
    });
  }
  return results;
}

async function main(): Promise<void> {
  const { url: databaseUrl, db, close } = await openOwnDatabase(2);
  const merchant = await addTestMerchant(db, { now: new Date() });
  const connection = await db.connect();
  await connection.query(STORE_INTENTS, [merchant.accountId, merchant.test.terminal, INTENTS]);
  await connection.query('vacuum analyze payment_intents');
  await connection.end();
  const { child, url } = await startApiServer(databaseUrl);
  try {
    const pool = new Pool(url, { connections: CLIENTS });
    await report('lists', await lines({ pool, db, merchant }));
    await pool.close();
  } finally {
    child.disconnect();
    await close();
  }
}

await main();
