import { datevFile, planDatev } from '#books/datev-file.ts';
import { entriesOf, openDays, type Statement, statementFile } from '#books/statement.ts';
import { STATEMENT_FORMATS, type StatementFormat } from '#books/statement-formats.ts';
import { isRefusal } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import { addSales, SKR03, setDatev, UTC_DAYS } from '#testkit/fixtures/payments/books.ts';
import { addTestMerchant } from '#testkit/fixtures/payments/merchants.ts';
import { openOwnDatabase } from './databases.ts';
import { type BenchLine, report } from './report.ts';

/**
 * Writes the statement of a month with 100,000 sales, each with two tax rates and a tip, in every
 * format, while another connection sells. Measures the time and how much the process grows.
 */
const SALES = Number(process.env.BENCH_SALES ?? 100_000);
const MONTH = { from: '2026-10-01', to: '2026-10-31' };
const START = new Date('2026-10-01T00:00:00.000Z');
const MONTH_MS = 31 * 86_400_000;
const NOW = addMs(START, MONTH_MS + 60_000);
/** Rows that are added with one statement. */
const CHUNK = 10_000;
/** Pause between sales, which go on during each file: 50 a second. */
const SALE_MS = 20;

const SALE = {
  amount: 23_592_748n,
  tip: 2_144_795n,
  taxes: [
    { rate: 700, net: 1_136, tax: 80, gross: 1_216 },
    { rate: 1_900, net: 639, tax: 121, gross: 760 },
  ],
  presentment: { currency: 'eur', amount: 1_976, tipAmount: 198, rate: '1.08542277217' },
  shopRate: '1.08542277217',
  description: 'Lunch "of the day"; =1+1',
};

async function* fileOf(db: Database, statement: Statement, format: StatementFormat) {
  if (format !== 'datev') {
    yield* statementFile(db, statement, format);
    return;
  }
  const plan = await planDatev(db, statement);
  if (isRefusal(plan)) throw new Error(plan.message);
  yield* datevFile(statement, plan, entriesOf(db, statement));
}

/** Sells at the end of the month until `isDone`. */
async function sell(db: Database, tenant: Tenant, isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    await addSales(db, tenant, [{ ...SALE, at: NOW }]);
    await new Promise((resolve) => setTimeout(resolve, SALE_MS));
  }
}

async function measure(db: Database, tenant: Tenant, format: StatementFormat): Promise<BenchLine> {
  let isDone = false;
  const selling = sell(db, tenant, () => isDone);
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const began = performance.now();
  const used = process.cpuUsage();
  const statement = await openDays(db, { tenant, shop: UTC_DAYS, now: NOW }, MONTH);
  let [bytes, most] = [0, before];
  for await (const part of fileOf(db, statement, format)) {
    bytes += part.length;
    most = Math.max(most, process.memoryUsage().rss);
  }
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(used);
  const cpu = ((user + system) / 1_000_000).toFixed(1);
  isDone = true;
  await selling;
  const grown = Math.round((most - before) / 1_048_576);
  const size = Math.round(bytes / 1_048_576);
  return {
    work: `${format}: ${statement.count} sales, ${size} MB`,
    value: `${seconds.toFixed(1)} s (${cpu} s of our processor time), ${grown} MB more`,
    target: '10 s, 100 MB',
  };
}

const { db, close } = await openOwnDatabase(4);
const { accountId } = await addTestMerchant(db, { now: START });
const tenant = { accountId, livemode: false };
await setDatev(db, tenant, SKR03);
await db.query("update accounts set currency = 'eur' where id = $1", [accountId]);
for (let n = 0; n < SALES; n += CHUNK) {
  const count = Math.min(CHUNK, SALES - n);
  const sales = Array.from({ length: count }, (_, k) => {
    return { ...SALE, at: addMs(START, Math.floor(((n + k) * MONTH_MS) / SALES)) };
  });
  await addSales(db, tenant, sales);
}
await db.query('analyze payments, payment_intents');
const lines: BenchLine[] = [];
const asked = process.argv[2];
for (const format of STATEMENT_FORMATS.filter((one) => asked === undefined || one === asked))
  lines.push(await measure(db, tenant, format));
await close();
await report('books', lines);
