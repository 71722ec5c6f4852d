import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase } from '#db/database.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { compareSales, keepSelling, type Sales } from '#testkit/fixtures/payments/sales.ts';
import { type ChaosGround, openChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import {
  type ChaosProcess,
  makeShop,
  startChaosProcess,
} from '#testkit/simulation/chaos/chaos-process.ts';
import { comeToRest } from '#testkit/simulation/invariants/invariants.ts';
import { openPooler, type Pooler, roleStatements, whyNot } from './pgbouncer/pooler.ts';

/** The service behind PgBouncer in transaction mode: two API processes and a worker. */

const REST_MS = 180_000;
const CHAIN_AWAY = 'is not settling payments right now';

let why: string | null = null;
let ground: ChaosGround;
let pooler: Pooler;
let db: Database;
let sandbox: SandboxFile;
const processes: ChaosProcess[] = [];

before(async () => {
  why = await whyNot();
  if (why !== null) return;
  ground = await openChaosGround();
  sandbox = await makeShop(ground);
  // The test's own connection bypasses the pooler.
  db = openDatabase({ url: ground.database.url, maxConnections: 3 });
  const client = await db.connect();
  await client.query(await roleStatements(new URL(ground.database.url).username));
  await client.end();
  pooler = await openPooler(ground.database.url);
  const behind = { ...ground, database: { ...ground.database, url: pooler.url } };
  const env = { DATABASE_DIRECT_URL: ground.database.url };
  processes.push(await startChaosProcess(behind, { name: 'api one', role: 'api', env }));
  processes.push(await startChaosProcess(behind, { name: 'api two', role: 'api', env }));
  processes.push(await startChaosProcess(behind, { name: 'worker', role: 'worker', env }));
});

after(async () => {
  if (why !== null) return;
  await Promise.all(processes.map((one) => one.close()));
  await pooler?.close();
  await db?.close();
  await ground?.close();
});

async function sellFor(ms: number, onFailure: 'report' | 'repeat'): Promise<Sales> {
  const urls = processes.flatMap(({ url }) => url ?? []);
  let turn = 0;
  const shop = keepSelling({
    node: () => urls[turn++ % urls.length] ?? '',
    shop: sandbox.test,
    clients: 12,
    onFailure,
  });
  await sleep(ms);
  await shop.stop();
  return shop;
}

const paidOf = ({ sales }: Sales) => sales.filter(({ status }) => status === 'succeeded').length;

async function requireWhole(shop: Sales): Promise<void> {
  const also = () => compareSales(db, shop);
  const sources = { db, chains: [ground.testnet.config] };
  const broken = await comeToRest(sources, { limitMs: REST_MS, also });
  assert.deepEqual(broken, [], processes.map(({ logs }) => logs().slice(-3_000)).join('\n'));
}

test('sales go through PgBouncer in transaction mode', async (t) => {
  if (why !== null) return t.skip(why);
  const shop = await sellFor(6_000, 'report');
  // Ignores time-outs of the node, which a busy machine causes and this test does not cover.
  assert.deepEqual(
    shop.failures.filter((said) => !said.includes(CHAIN_AWAY)),
    [],
  );
  assert(paidOf(shop) > 0, 'no payment succeeded');
  await requireWhole(shop);
  const [row] = await db.query<{ servers: number }>(
    `select count(*)::int as servers from pg_stat_activity
     where datname = current_database() and application_name = 'tapline'`,
  );
  t.diagnostic(`${paidOf(shop)} sales by three processes over ${row?.servers} connections`);
});

test('a database that was restored behind the pooler is noticed and recovered', async (t) => {
  if (why !== null) return t.skip(why);
  await ground.database.copy('before');
  const lost = await sellFor(6_000, 'repeat');
  assert(paidOf(lost) > 0, 'no payment succeeded');
  await ground.database.putBack('before');
  const after = await sellFor(6_000, 'repeat');
  assert(paidOf(after) > 0, 'people pay again');
  await requireWhole(after);
  await requireWhole(lost);
  const [row] = await db.query<{ reason: string; loss_shown: boolean; payments: number }>(
    'select reason, loss_shown, payments from network_recoveries where not livemode',
  );
  assert.equal(row?.loss_shown, true, JSON.stringify(row));
  assert(row.payments >= paidOf(lost), JSON.stringify(row));
  t.diagnostic(`${paidOf(lost)} lost sales, ${row.payments} booked from the chain (${row.reason})`);
});
