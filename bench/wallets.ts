import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { hashSecret, newSecret } from '#core/bearer-secrets.ts';
import { addMs } from '#core/clock.ts';
import { HOUR_MS } from '#core/durations.ts';
import { newId } from '#core/ids.ts';
import { connectWakeups } from '#db/wakeups.ts';
import { addTestMerchant } from '#testkit/fixtures/payments/merchants.ts';
import { startApiServer } from './child-processes.ts';
import { cpuSeconds } from './cpu.ts';
import { openOwnDatabase } from './databases.ts';
import { percentile, report } from './report.ts';
import { residentMb } from './shop.ts';

/**
 * One process serves 10,000 wallets that wait for updates, as `/wallet` does: 20 s at a time.
 * Measures what their waiting costs, and the time from the commit of a decline in another process
 * until its wallet has the response. The wallets run in this process.
 */
const WALLETS = Number(process.env.BENCH_WALLETS ?? 10_000);
const WAIT_S = 20;
const DECLINES = 200;
const GAP_MS = 100;
const RETRY_MS = 1_000;
/** Two whole rounds of waits. */
const IDLE_MS = 2 * WAIT_S * 1_000;

const database = await openOwnDatabase(4);
const { db } = database;
const now = new Date();
const merchant = await addTestMerchant(db, { now });
const wallets = Array.from({ length: WALLETS }, (_, n) => ({
  id: newId('payer', now),
  token: newSecret('payerSession'),
  address: `0x${n.toString(16).padStart(40, '0')}`,
}));
await db.query(
  `with made as (
     insert into payers (id, livemode, address, created)
     select id, false, address, $4 from unnest($1::text[], $2::text[]) as t (id, address)
   )
   insert into payer_sessions (hash, payer_id, created, expires_at)
   select hash, id, $4, $5 from unnest($1::text[], $3::bytea[]) as t (id, hash)`,
  [
    wallets.map(({ id }) => id),
    wallets.map(({ address }) => address),
    wallets.map(({ token }) => hashSecret(token)),
    now,
    addMs(now, HOUR_MS),
  ],
);
const { child, url } = await startApiServer(database.url);
const pid = child.pid ?? 0;
const pool = new Pool(url, { connections: WALLETS, headersTimeout: 60_000 });
const wakeups = await connectWakeups(db);

const declinedAt = new Map<string, number>();
const took: number[] = [];
let failures = 0;
let isOver = false;

interface Updates {
  readonly ended: readonly unknown[];
  readonly cursor: string;
}

async function ask(token: string, query: string): Promise<Updates | null> {
  const headers = { authorization: `Bearer ${token}` };
  const path = `/api/payer/v1/updates?${query}`;
  const { statusCode, body } = await pool.request({ method: 'GET', path, headers });
  if (statusCode === 200) return (await body.json()) as Updates;
  await body.dump();
  return null;
}

async function wait({ id, token }: (typeof wallets)[number]): Promise<void> {
  let cursor: string | undefined;
  while (cursor === undefined) {
    // The process resets connections while too many open at once.
    cursor = (await ask(token, 'wait=0').catch(() => null))?.cursor;
    if (cursor === undefined) await sleep(RETRY_MS);
  }
  while (!isOver) {
    const told: Updates | null = await ask(token, `wait=${WAIT_S}&after=${cursor}`).catch(
      () => null,
    );
    const at = performance.now();
    if (isOver) return;
    if (told === null) failures++;
    cursor = told?.cursor ?? cursor;
    const since = declinedAt.get(id);
    if (told !== null && told.ended.length > 0 && since !== undefined) took.push(at - since);
  }
}

const createIntent = async (n: number) => {
  const { body } = await pool.request({
    method: 'POST',
    path: '/api/v1/payment_intents',
    headers: {
      authorization: `Bearer ${merchant.test.key}`,
      'content-type': 'application/json',
      'idempotency-key': `wallet-${n}`,
    },
    body: JSON.stringify({ amount: 100, terminal: merchant.test.terminal }),
  });
  return String(((await body.json()) as { id: unknown }).id);
};

/** Writes a decline as another process does, and sends its hint. */
async function decline(id: string, payerId: string): Promise<void> {
  const error = { decline_code: 'limit_exceeded', created: new Date().toISOString() };
  await db.query(
    'update payment_intents set declined_payer_id = $2, last_payment_error = $3 where id = $1',
    [id, payerId, JSON.stringify(error)],
  );
  declinedAt.set(payerId, performance.now());
  wakeups.send('payer', payerId);
}

async function queries(): Promise<number> {
  const rows = await db.query<{ n: bigint }>(
    'select xact_commit as n from pg_stat_database where datname = current_database()',
  );
  return Number(rows[0]?.n ?? 0);
}

const intents: string[] = [];
for (let n = 0; n < DECLINES; n++) intents.push(await createIntent(n));
const aloneMb = await residentMb(pid);
// Spread over a wait, as wallets that were opened at different times are.
for (const [n, wallet] of wallets.entries()) {
  void wait(wallet);
  if (n % 50 === 49) await sleep((WAIT_S * 1_000 * 50) / WALLETS);
}
await sleep(WAIT_S * 1_000);
const [cpuBefore, queriesBefore] = [await cpuSeconds([pid]), await queries()];
await sleep(IDLE_MS);
const cores = ((await cpuSeconds([pid])) - cpuBefore) / (IDLE_MS / 1_000);
const perSecond = ((await queries()) - queriesBefore) / (IDLE_MS / 1_000);
const waitingMb = await residentMb(pid);
for (const [n, intent] of intents.entries()) {
  await decline(intent, wallets[(n * 37) % WALLETS]?.id ?? '');
  await sleep(GAP_MS);
}
await sleep(2_000);
isOver = true;

await report('wallets', [
  {
    work: `decline in another process to its wallet, ${WALLETS} wallets wait`,
    p50Ms: percentile(took, 0.5),
    p99Ms: percentile(took, 0.99),
    failures: failures + DECLINES - took.length,
    target: 'no loss; p99 ≤ 1,000 ms',
  },
  { work: 'memory of the process before', value: `${aloneMb.toFixed(0)} MB` },
  { work: 'memory while they wait', value: `${waitingMb.toFixed(0)} MB` },
  { work: 'processor while they wait', value: `${cores.toFixed(2)} cores` },
  { work: 'transactions on the database', perSecond },
]);
child.disconnect();
await once(child, 'exit');
await wakeups.close();
await pool.destroy();
await database.close();
