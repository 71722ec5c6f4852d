import assert from 'node:assert/strict';
import type { Sale } from '#testkit/fixtures/payments/sales.ts';
import { restoreOnce } from './machines/moments.ts';
import { openPooler, roleStatements, whyNoPooler } from './machines/pooler.ts';
import { Rig } from './machines/rig.ts';
import { paidOf } from './machines/strikes.ts';

/** The service behind PgBouncer in transaction mode: two API processes and a worker. */

const SALE_MS = 6_000;
/** A busy machine causes time-outs of the node, which this test does not cover. */
const CHAIN_AWAY = 'is not settling payments right now';

const rig = new Rig(async ({ undo }) => {
  const why = await whyNoPooler();
  if (why !== null) return why;
  await rig.openGround(null);
  await rig.openShop({ node: () => nextNode(), clients: 12 });
  const { ground } = rig;
  const { url } = ground.database;
  // The test's own connections bypass the pooler.
  const client = await rig.db.connect();
  await client.query(await roleStatements(new URL(url).username));
  await client.end();
  const pooled = await openPooler(url, undo);
  const behind = { ...ground, database: { ...ground.database, url: pooled } };
  const env = { DATABASE_DIRECT_URL: url };
  const nextNode = await rig.startNodes(['api', 'api', 'worker'], { ground: behind, env });
  return null;
});

rig.check('sales go through PgBouncer in transaction mode', async () => {
  const shop = await rig.sellFor(SALE_MS, 'report');
  assert(paidOf(shop).length > 0, 'no payment succeeded');
  await rig.books(shop, CHAIN_AWAY);
  const [row] = await rig.db.query<{ servers: number }>(
    `select count(*)::int as servers from pg_stat_activity
     where datname = current_database() and application_name = 'tapline'`,
  );
  return `${paidOf(shop).length} sales by three processes over ${row?.servers} connections`;
});

rig.check('a database that was restored behind the pooler is noticed and recovered', async () => {
  const { db, ground } = rig;
  await ground.database.copy('before');
  const lost: Sale[] = [];
  const said = await restoreOnce({
    db,
    sellFor: async () => {
      const shop = await rig.sellFor(SALE_MS);
      lost.push(...paidOf(shop));
      return shop;
    },
    restore: () => ground.database.putBack('before'),
  });
  const after = await rig.sellFor(SALE_MS);
  assert(paidOf(after).length > 0, 'people pay again');
  await rig.books(after);
  const [row] = await db.query<{ reason: string; loss_shown: boolean; payments: number }>(
    'select reason, loss_shown, payments from network_recoveries where not livemode',
  );
  assert.equal(row?.loss_shown, true, JSON.stringify(row));
  assert(row.payments >= lost.length, JSON.stringify(row));
  return `${said}, ${row.payments} of them by recovery (${row.reason})`;
});
