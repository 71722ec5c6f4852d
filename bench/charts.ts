import { type Charts, openCharts } from '#apis/dashboard/statistics/share-chart-reads.ts';
import { dayIn } from '#core/calendar.ts';
import { DAY_MS, MINUTE_MS } from '#core/durations.ts';
import type { Database } from '#db/database.ts';
import { addTestMerchant } from '#testkit/fixtures/payments/merchants.ts';
import { openOwnDatabase } from './databases.ts';
import { type BenchLine, percentile, report } from './report.ts';

/**
 * Measures the overview's charts over 14 days for a merchant with 1,000,000 payments, API calls and
 * deliveries each in 30 days. The first request counts past days and stores the counts; later
 * requests read them and count only what remains. That is most in the last minute of a day and just
 * before two o'clock the next night, so those times are measured.
 */
const ROWS = Number(process.env.BENCH_ROWS ?? 1_000_000);
/** Number of intents. A third of them stay unpaid. */
const INTENTS = (ROWS * 3) / 2;
const DAYS = 30;
const SHOWN_DAYS = 14;
const LOOKS = 200;
const CLIENTS = 4;
/**
 * End of the last complete day, up to which rows are added, so that runs at any time of day measure
 * the same.
 */
const END = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const MOMENTS = [
  { name: 'in the last minute of a day', at: new Date(END - MINUTE_MS) },
  { name: 'two hours later', at: new Date(END + 119 * MINUTE_MS) },
];

type Connection = Awaited<ReturnType<Database['connect']>>;

interface Ground {
  readonly db: Database;
  readonly charts: Charts;
  readonly accountId: string;
}

/**
 * Adds `ROWS` API calls, of which one in fifty was refused, and `ROWS` deliveries, of which one in
 * a hundred was given up.
 */
async function addCalls(
  connection: Connection,
  values: readonly unknown[],
  at: string,
): Promise<void> {
  await connection.query(
    `insert into request_log (id, created, account_id, livemode, method, path, status, api_version,
       duration_ms, address)
     select 'req_' || i, ${at}, $1, false, 'GET', '/api/v1/payments',
       case when i % 50 = 0 then 400 else 200 end, '2026-09-28', 3, '127.0.0.1'
     from generate_series(1, ${ROWS}) i`,
    [...values],
  );
  await connection.query(
    `insert into webhook_endpoints (id, account_id, livemode, url, enabled_events, api_version,
       secret, created, updated)
     values ('we_1', $1, false, 'https://shop.example/', '{*}', '2026-09-28', '', $2, $2)`,
    [...values],
  );
  await connection.query(
    `insert into webhook_deliveries (endpoint_id, status, event_created, event_position, id,
       account_id, livemode, event_id, event_type, created, updated, attempt)
     select 'we_1', case when i % 100 = 0 then 'failed' else 'succeeded' end, ${at}, i, 'wdl_' || i,
       $1, false, 'evt_' || i, 'payment.succeeded', ${at}, ${at}, 1
     from generate_series(1, ${ROWS}) i`,
    [...values],
  );
}

/** Adds intents. Every third stays unpaid, sometimes after a decline. */
async function seed({ db, accountId }: Ground): Promise<void> {
  const connection = await db.connect();
  const spread = (count: number) =>
    `$2::timestamptz + (i - 1) * interval '${DAYS} days' / ${count}`;
  const at = spread(ROWS);
  const created = spread(INTENTS);
  const values = [accountId, new Date(END - DAYS * DAY_MS)];
  await connection.query(
    `insert into payment_intents (id, account_id, livemode, position, created, amount, terminal_id,
       order_id, metadata, source, expires_at, tapped_at, status, attempt, last_payment_error,
       payment_id, tx_hash, cancellation_reason, canceled_at)
     select 'pi_' || i, $1, false, i, ${created}, 1000000 + i % 50000, 'tml_' || i % 20, 'o' || i,
       '{}', 'api', ${created} + interval '2 minutes', ${created} + interval '1 second',
       case when i % 3 = 0 then 'canceled' else 'succeeded' end,
       case when i % 3 = 0 then null else '{}'::jsonb end,
       case when i % 15 = 0 then '{"decline_code":"insufficient_funds"}'::jsonb end,
       case when i % 3 = 0 then null else 'pay_' || i end,
       case when i % 3 = 0 then null else '0x' end,
       case when i % 3 = 0 then 'expired' end, case when i % 3 = 0 then ${created} end
     from generate_series(1, ${INTENTS}) i`,
    values,
  );
  await connection.query(
    `insert into payments (id, account_id, livemode, position, created, payment_intent_id,
       terminal_id, payer_id, payer_address, order_id, method_type, credential_type, amount,
       fee_acquirer, fee_protocol, fee_cashback, chain_id, settlement_number, batch_number, tx_hash,
       block_number, log_index, settled_at, refundable_until)
     select payment_id, account_id, livemode, position,
       least(tapped_at + position % 3000 * interval '1 ms', $2), id, terminal_id,
       'pyr_' || position % 5000, '0x', order_id, 'wallet_pass', 'nfc_id', amount, 3, 2, 1, 31337,
       position, position / 10, '0x', position, 0, created, created
     from payment_intents where account_id = $1 and status = 'succeeded'`,
    [accountId, new Date(END - 1)],
  );
  await addCalls(connection, values, at);
  await connection.query(
    'vacuum analyze payment_intents, payments, request_log, webhook_deliveries',
  );
  await connection.end();
}

async function look({ charts, accountId }: Ground, now: Date): Promise<number> {
  const tenant = { accountId, livemode: false };
  const from = dayIn('UTC', new Date(now.getTime() - (SHOWN_DAYS - 1) * DAY_MS));
  const span = { tenant, from, to: dayIn('UTC', now) };
  const began = performance.now();
  const [figures, health] = await Promise.all([
    charts.statistics(span, now),
    charts.health(span, now),
  ]);
  const took = performance.now() - began;
  const days = new Set(figures.filter(({ payments }) => payments > 0).map(({ day }) => day));
  const expected = now.getTime() < END ? SHOWN_DAYS : SHOWN_DAYS - 1;
  if (days.size !== expected || health.length !== expected) throw new Error('days are missing');
  return took;
}

async function lines(ground: Ground, moment: (typeof MOMENTS)[number]): Promise<BenchLine[]> {
  const first = await look(ground, moment.at);
  const took: number[] = [];
  let left = LOOKS;
  const client = async () => {
    while (left-- > 0) took.push(await look(ground, moment.at));
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return [
    { work: `${moment.name}: first look`, value: `${(first / 1000).toFixed(2)} s` },
    {
      work: `${moment.name}: ${SHOWN_DAYS} days at ${ROWS} payments`,
      perSecond: LOOKS / ((performance.now() - began) / 1000),
      p50Ms: percentile(took, 0.5),
      p99Ms: percentile(took, 0.99),
      target: 'p99 < 300 ms',
    },
  ];
}

const { db, close } = await openOwnDatabase(8);
try {
  const { accountId } = await addTestMerchant(db, { now: new Date() });
  const ground = { db, charts: openCharts(db), accountId };
  await seed(ground);
  const results: BenchLine[] = [];
  for (const moment of MOMENTS) results.push(...(await lines(ground, moment)));
  await report('charts', results);
} finally {
  await close();
}
