import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { createCatalogueItem } from '#accounts/edit-catalogue.ts';
import { systemClock } from '#core/clock.ts';
import { rescheduleUnsigned } from '#fiscal/fiscal-queries.ts';
import { silentLog } from '#observability/log.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import { reconcileOnce } from '#settlement/reconciliation/reconcile-once.ts';
import { type Filling, fillTables } from '#testkit/fixtures/db/fill-tables.ts';
import { type KeptPlans, keepPlans, type Reading } from '#testkit/fixtures/db/kept-plans.ts';
import { type Executed, openPlanLog, type PlanLog } from '#testkit/fixtures/db/plan-log.ts';
import { startReceiver } from '#testkit/network/webhook-receiver.ts';
import { type QuickNetwork, startQuickNetwork } from '#testkit/simulation/model-network.ts';
import { openShop } from '#testkit/simulation/sales-round.ts';

/**
 * A connection plans a statement once, while a network is young, and keeps the plan until the first
 * `analyze`. This test plans every statement of a round of sales while the tables of one account
 * grow, both without statistics and with those of 100 rows. Finally it runs each plan.
 */

/** Rows per table; the long run has more (test/long/budgets.test.ts). */
const ROWS = Number(process.env.YOUNG_ROWS ?? 2_000);
const SIZES = [0, 50, 100, 200, 400, 1_000, 3_000, 10_000, 30_000, 100_000];
const ANALYZED_AT = 100;
/** Two rounds, because the second one finds the rows that the first one left. */
const ROUNDS = 2;
/** Limit of rows that a statement may read: a page of a list, or everything open. */
const MOST_ROWS = 150;
const MOST_PAGES = 300;
/** Lower bound that detects a log that was not parsed. */
const FEWEST_STATEMENTS = 150;
/**
 * Statements of the work that follows the rounds. They must have run, so that the test checks them.
 */
const MUST_RUN: Readonly<Record<string, RegExp>> = {
  'reconciliation has read the sales of the rounds': /update payments p set tx_hash = c\.tx_hash/,
  'receipts have been taken for their signer': /update fiscal_receipts f set attempts/,
  'receipts have been signed': /set signature = \$2/,
  'the till has read its catalog': /from catalogue_items/,
};

/** Statements that are exempt, because they take one step whatever the plan. */
const EXEMPT: Readonly<Record<string, RegExp>> = {
  'a sandbox’s first start': /kind = 'merchant_registration'|subject_id = any\(\$1\) and status/,
  'a reconciliation compares what has changed, at first all': /reconciliation_differences/,
  'an endpoint is disabled, and all of its deliveries end': /'endpoint_disabled'/,
};

let log: PlanLog;
let statements: readonly Executed[];
let account: Omit<Filling, 'from' | 'to'>;

before(async () => {
  log = await openPlanLog();
  const receiver = await startReceiver();
  receiver.answer((_received, response) => void response.end('{"signature": "signed"}'));
  const network = await startQuickNetwork({ database: log.database });
  const { account: accountId, test: mode } = network.sandbox;
  account = { accountId, terminalId: mode.terminal };
  try {
    const shop = await openShop(network, receiver.url);
    await setUpShop(accountId, receiver.url);
    for (let round = 0; round < ROUNDS; round++) await shop.round();
    await reconcile(network);
  } finally {
    await network.close();
    await receiver.close();
    await log.database.close();
  }
  const exempt = Object.values(EXEMPT);
  statements = (await log.executed()).filter(({ text }) => !exempt.some((one) => one.test(text)));
  assert.ok(statements.length >= FEWEST_STATEMENTS, `only ${statements.length} statements`);
  for (const [because, pattern] of Object.entries(MUST_RUN)) {
    assert.ok(
      statements.some(({ text }) => pattern.test(text)),
      because,
    );
  }
});
after(() => log?.close());

const ACTOR = { type: 'system', name: 'test' } as const;

/** Names a fiscal signer, and adds two catalog items that compete for the same position. */
async function setUpShop(accountId: string, signer: string): Promise<void> {
  const { db } = log.database;
  const now = systemClock.now();
  const tenant = { accountId, livemode: false };
  await db.query('update accounts set fiscal_signer = $2 where id = $1', [accountId, signer]);
  await db.transaction(async (tx) => {
    await rescheduleUnsigned(tx, accountId, now);
    for (const name of ['Flat white', 'Espresso']) {
      const item = { name, unit_amount: 2_000_000, position: 1 };
      await createCatalogueItem(tx, { tenant, actor: ACTOR, now }, item);
    }
  });
}

/** Runs the reconciliation, which a worker does only once a minute. */
async function reconcile({ testnet }: QuickNetwork): Promise<void> {
  const chain = await openChain(testnet, silentLog);
  try {
    const { db } = log.database;
    await reconcileOnce({ chain, db, clock: systemClock, log: silentLog });
  } finally {
    await chain.close();
  }
}

async function withClient(url: string, work: (client: pg.Client) => Promise<unknown>) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** Creates a copy of the database after the rounds. */
async function copy(name: string): Promise<string> {
  const url = new URL(log.database.url);
  const template = url.pathname.slice(1);
  url.pathname = '/postgres';
  await withClient(url.toString(), (client) =>
    client.query(`create database ${name} template ${template} strategy file_copy`),
  );
  url.pathname = `/${name}`;
  return url.toString();
}

/** Creates plans at each size and runs them all at the last one. */
async function readAll(url: string, analyzedAt: number | null): Promise<[string, Reading][]> {
  const kept: KeptPlans[] = [];
  let filled = 0;
  for (const size of [...SIZES.filter((one) => one < ROWS), ROWS]) {
    if (size > filled) await fillTables(url, { ...account, from: filled + 1, to: size });
    filled = size;
    if (size === analyzedAt) await withClient(url, (client) => client.query('analyze'));
    if (size >= (analyzedAt ?? 0)) kept.push(await keepPlans(url, `${size}`, statements));
  }
  const readings: [string, Reading][] = [];
  for (const plans of kept) {
    for (const reading of await plans.run()) readings.push([plans.label, reading]);
    await plans.close();
  }
  return readings;
}

/** Indexes that the busiest statements must use at any size. */
const INDEXES = [
  [/order_id, id, amount, recovered from payment_intents/, ['payment_intents_order_id']],
  [/from payment_intents\s+where id = \$1 .* for update/s, ['payment_intents_pkey']],
  [/from payments\s+where id = \$1 .* for update/s, ['payments_pkey']],
  [/response_body, created, expires_at\s+from idempotency_keys i/, ['idempotency_keys_pkey']],
] as const;

const describeReading = ([size, { statement, rows, pages, scans }]: [string, Reading]) =>
  `planned at ${size} rows: ${rows} rows and ${pages} pages by ${scans.join(', ')}\n` +
  statement.text;

for (const [name, known, analyzedAt] of [
  ['young_unknown', 'no statistics', null],
  ['young_known', `those of ${ANALYZED_AT} rows`, ANALYZED_AT],
] as const) {
  test(`with ${known}, no statement reads more as the tables grow`, async () => {
    const readings = await readAll(await copy(name), analyzedAt);
    const isTooMuch = ({ rows, pages }: Reading) => (rows ?? 0) > MOST_ROWS || pages > MOST_PAGES;
    const wrong = readings.filter(([, reading]) => isTooMuch(reading)).map(describeReading);
    assert.deepEqual(wrong, []);
    for (const [pattern, indexes] of INDEXES) {
      const results = readings.filter(([, { statement }]) => pattern.test(statement.text));
      assert.ok(results.length > 0, String(pattern));
      for (const [size, { scans }] of results) assert.deepEqual(scans, indexes, `at ${size} rows`);
    }
    const hasRun = readings.filter(([, { rows }]) => rows !== null).length;
    assert.ok(hasRun > readings.length / 2, `${hasRun} of ${readings.length} have run`);
  });
}
