import { present } from '#core/assert.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import {
  addPayer,
  intentMaker,
  openStore,
  pay,
  playChain,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import { startOwnPostgres } from './databases.ts';
import { type BenchLine, median, report } from './report.ts';

/**
 * Measures whether the cost of a payment stays constant as tables grow: create, tap and settlement
 * with idempotency key, events and job, everything but the chain. Each table size has its own
 * database on one server. The sizes take turns, and only consecutive rounds are compared, because
 * the machine's speed drifts within minutes.
 */
const SIZES = (process.env.BENCH_SIZES ?? '10000,100000,1000000').split(',').map(Number);
const PAYMENTS = 600;
const ROUNDS = 15;
const AT_ONCE = 32;
const PAYERS = 100;
const CHUNK = 50_000;

/** Adds settled payments in the past, with everything that the service stores about them. */
async function fillPayments(
  db: Database,
  { accountId, terminalId, payerId, from, to }: Filling,
): Promise<void> {
  const connection = await db.connect();
  const values = [accountId, terminalId, payerId, from, to];
  const each = `generate_series($4::bigint, $5::bigint - 1) as n`;
  const created = `now() - interval '20 hours' + n * interval '50 ms'`;
  const statements = [
    `insert into payment_intents (id, account_id, livemode, position, created, amount, terminal_id,
       order_id, metadata, source, expires_at, status, attempt, payment_id, tx_hash)
     select 'pi_' || lpad(n::text, 22, '0'), $1, false, -1 - n, ${created}, 2500000, $2,
       'f' || lpad(to_hex(n), 7, '0'), '{}', 'api', ${created} + interval '2 minutes', 'succeeded',
       jsonb_build_object('payerId', $3::text, 'payerAddress', '0x', 'reasonCode', null,
         'credential', '{"type":"nfc_id","passId":"pass_x"}'::jsonb),
       'pay_' || lpad(n::text, 22, '0'), '0x' || lpad(to_hex(n), 64, '0')
     from ${each}`,
    `insert into payments (id, account_id, livemode, position, created, payment_intent_id,
       terminal_id, payer_id, payer_address, order_id, method_type, credential_type, amount,
       fee_acquirer, fee_protocol, fee_cashback, chain_id, settlement_number, batch_number,
       tx_hash, block_number, log_index, settled_at, refundable_until)
     select 'pay_' || lpad(n::text, 22, '0'), $1, false, -1 - n, ${created},
       'pi_' || lpad(n::text, 22, '0'), $2, $3, '0x', 'f' || lpad(to_hex(n), 7, '0'),
       'wallet_pass', 'nfc_id', 2500000, 7500, 5000, 1250, 31337, 1000000000 + n, n / 100,
       '0x' || lpad(to_hex(n), 64, '0'), n, 0, ${created}, now() + interval '180 days'
     from ${each}`,
    `insert into settlement_numbers (livemode, number, payment_intent_id)
     select false, 1000000000 + n, 'pi_' || lpad(n::text, 22, '0')
     from ${each} where $1 || $2 || $3 is not null`,
    `insert into chain_requests (livemode, kind, subject_id, number, payload, status, outcome,
       created, applied_at)
     select false, 'payment', 'pi_' || lpad(n::text, 22, '0'), 1000000000 + n, '{}', 'succeeded',
       '{}', ${created}, ${created}
     from ${each} where $1 || $2 || $3 is not null`,
    `insert into events (id, account_id, livemode, position, created, type, object_id, body)
     select 'evt_' || lpad((n * 2 + k)::text, 22, '0'), $1, false, -1 - n * 2 - k, ${created},
       'payment.succeeded', 'pay_' || lpad(n::text, 22, '0'), repeat('x', 700)
     from ${each}, generate_series(0, 1) as k where $2 || $3 is not null`,
    `insert into idempotency_keys (account_id, livemode, key, fingerprint, method, path, status,
       resource, response_status, response_body, created, expires_at)
     select $1, false, 'filled ' || n, '\\x00', 'POST', '/v1/payment_intents', 'completed',
       'pi_' || lpad(n::text, 22, '0'), 201, repeat('x', 500), ${created},
       ${created} + interval '48 hours'
     from ${each} where $2 || $3 is not null`,
  ];
  for (const statement of statements) await connection.query(statement, values);
  await connection.end();
}

interface Filling {
  readonly accountId: string;
  readonly terminalId: string;
  readonly payerId: string;
  readonly from: number;
  readonly to: number;
}

async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<unknown>) {
  let next = 0;
  const one = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

/** Runs one round of payments. @returns the milliseconds per payment. */
async function round(store: TestStore, passes: readonly string[]): Promise<number> {
  const make = intentMaker(store);
  const intents: { id: string; pass: string }[] = [];
  const began = performance.now();
  await inTurn(
    Array.from({ length: PAYMENTS }, (_, number) => number),
    async (number) => {
      intents.push({ id: await make(store), pass: passes[number % passes.length] ?? '' });
    },
  );
  await inTurn(intents, ({ id, pass }) => pay(store, { intentId: id, pass, hangUp: true }));
  await playChain(store);
  return (performance.now() - began) / PAYMENTS;
}

interface Filled {
  readonly size: number;
  readonly db: Database;
  readonly store: TestStore;
  readonly passes: readonly string[];
  /** Milliseconds per payment, for each round. */
  readonly rounds: number[];
}

async function fill(admin: Database, url: string, size: number): Promise<Filled> {
  const name = `growth_${size}`;
  await admin.query(`create database ${name}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  const db = openDatabase({ url: own.toString(), maxConnections: 12 });
  await migrate(db);
  const database = { db, url: own.toString(), close: async () => {} };
  const store = await openStore({ database });
  const payers = await Promise.all(Array.from({ length: PAYERS }, () => addPayer(store)));
  const owner = await addPayer(store);
  const { accountId } = store.merchant.tenant;
  const parties = { accountId, terminalId: store.terminalId, payerId: owner.payer.id };
  for (let from = 0; from < size; from += CHUNK) {
    await fillPayments(db, { ...parties, from, to: Math.min(from + CHUNK, size) });
  }
  // Vacuums first, because tables that grew slowly would have been vacuumed, too. Otherwise
  // autovacuum would run during the rounds.
  await db.query('vacuum analyze');
  const passes = payers.map(({ pass }) => pass);
  return { size, db, store, passes, rounds: [] };
}

function toLine({ size, rounds }: Filled, first: Filled): BenchLine {
  const ms = median(rounds);
  const ratio = median(rounds.map((one, index) => one / (first.rounds[index] ?? Number.NaN)));
  return {
    work: `one payment beside ${size} others, without the chain`,
    perSecond: 1000 / ms,
    value: `${ms.toFixed(2)} ms, ${ratio.toFixed(2)} of the first`,
    ...(size === first.size ? {} : { target: '<= 1.1 of the first' }),
  };
}

async function main(): Promise<void> {
  const postgres = await startOwnPostgres();
  const admin = openDatabase({ url: postgres.url, maxConnections: 1 });
  const filled: Filled[] = [];
  for (const size of SIZES) filled.push(await fill(admin, postgres.url, size));
  await admin.query('checkpoint');
  for (const { store, passes } of filled) await round(store, passes);
  for (let count = 0; count < ROUNDS; count++) {
    for (const { store, passes, rounds } of filled) rounds.push(await round(store, passes));
  }
  const first = present(filled[0], 'a size');
  await report(
    'growth',
    filled.map((one) => toLine(one, first)),
  );
  for (const { db } of filled) await db.close();
  await admin.close();
  await postgres.stop();
}

await main();
