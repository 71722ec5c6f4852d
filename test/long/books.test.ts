import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { STATEMENT_FORMATS } from '#books/statement-formats.ts';
import { type DashboardServer, startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addOwner, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { addSales, SKR03, setDatev } from '#testkit/fixtures/payments/books.ts';

/** A month of 100,000 sales, exported in each format. */

const SALES = 100_000;
const CHUNK = 10_000;
const FIRST = new Date('2026-09-01T00:00:00.000Z').getTime();
/** Interval between sales, so that all of them are in one month. */
const STEP_MS = 25_000;
const MAX_MS = 20_000;
const MAX_BYTES = 300_000_000;

let server: DashboardServer;
let client: PersonClient;
let accountId = '';

before(async () => {
  server = await startDashboardServer();
  ({ accountId } = await addOwner(server, 'olga@month.test'));
  client = await signInAs(server, 'olga@month.test');
  for (let first = 0; first < SALES; first += CHUNK) {
    const sales = Array.from({ length: CHUNK }, (_, n) => ({
      at: new Date(FIRST + (first + n) * STEP_MS),
      amount: 1_000_001n,
      description: 'Flat white and a croissant',
    }));
    await addSales(server.db, { accountId, livemode: false }, sales);
  }
  await setDatev(server.db, { accountId, livemode: false }, SKR03);
  await server.db.query('analyze payments, payment_intents');
});
after(() => server.close());

for (const format of STATEMENT_FORMATS) {
  test(`${format}: 100,000 sales in at most 20 s and 300 MB`, async (t) => {
    const before = process.memoryUsage.rss();
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss());
    }, 50);
    const start = performance.now();
    const url = `${server.dashboard}/accounts/${accountId}/test/exports/statement`;
    // With the row for rounding, the month has more rows than one file of DATEV: an archive.
    const split = format === 'datev' ? '&split=true' : '';
    const response = await fetch(`${url}?format=${format}&month=2026-09${split}`, {
      headers: client.headers(),
    });
    assert.equal(response.status, 200);
    let bytes = 0;
    for await (const part of response.body ?? []) bytes += part.length;
    const ms = performance.now() - start;
    clearInterval(watch);
    t.diagnostic(`${Math.round(ms)} ms, ${bytes} bytes, ${peak - before} bytes of memory`);
    assert.ok(bytes > SALES * (format === 'datev' ? 5 : 50), `${bytes} bytes`);
    assert.ok(ms <= MAX_MS, `${ms} ms`);
    assert.ok(peak - before <= MAX_BYTES, `${peak - before} bytes of memory`);
  });
}
