import path from 'node:path';
import { openDatabase } from '#db/database.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { interval, load, openGround } from './grounds.ts';
import { type BenchLine, median, report } from './report.ts';

/**
 * Measures the extra cost of line items and of prices in a shop currency. Creates with them
 * alternate with creates in USDC atoms on one service, in changing order. The table shows the
 * median of the rounds' ratios of processor time (service and PostgreSQL together) with its 95 %
 * interval.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
/** A single connection, and the number for which batching is designed. */
const CONNECTIONS = [1, 64];
const HOUR_SECONDS = 3600;

const presentment = '"presentment":{"currency":"eur","amount":250}';
const withLine = (tax: string) =>
  `${presentment},"line_items":[{"name":"Coffee","quantity":2,"unit_amount":125,${tax}}]`;
/** The same sale of 2.50, requested in different ways. */
const SALES = {
  atoms: '"amount":2500000',
  presentment,
  'presentment and a line': withLine('"tax_rate":700,"tax_inclusive":true'),
  'presentment and a line by the account’s settings': withLine('"tax_rate":"Drinks"'),
} as const;

const ground = await openGround(path.join(import.meta.dirname, '..'));
const db = openDatabase({ url: ground.databaseUrl, maxConnections: 1 });
await putRates(db, { eur: '1', usd: '1' }, { now: new Date(), maxAgeS: HOUR_SECONDS });
await db.query(`update accounts set tax_rates = '[{"name": "Drinks", "rate": 1900}]'`);
await db.close();

async function measure(sale: string, connections: number): Promise<number> {
  const work = { kind: 'create', seconds: SECONDS, sale, connections } as const;
  return (await load(ground, work)).cpuMs;
}

const lines: BenchLine[] = [];
const [[, plain], ...others] = Object.entries(SALES) as [[string, string], ...[string, string][]];
for (const connections of CONNECTIONS) {
  const ratios = others.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, [name, sale]] of others.entries()) {
      const isFirst = round % 2 === 0;
      const before = isFirst ? await measure(plain, connections) : null;
      const cost = await measure(sale, connections);
      const base = before ?? (await measure(plain, connections));
      ratios[index]?.push(cost / base);
      console.log(connections, round, name, base.toFixed(3), cost.toFixed(3));
    }
  }
  others.forEach(([name], index) => {
    const of = ratios[index] ?? [];
    const [low, high] = interval(of);
    lines.push({
      work: `create with ${name}, ${connections} at a time: processor time / in atoms`,
      ratio: median(of),
      value: `${low.toFixed(2)} to ${high.toFixed(2)} over ${of.length} rounds`,
      target: '<= 1.15',
    });
  });
}
ground.child.disconnect();
await report('prices', lines);
