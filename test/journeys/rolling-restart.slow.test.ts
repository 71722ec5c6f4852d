import assert from 'node:assert/strict';
import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Database, openDatabase } from '#db/database.ts';
import { freePort, waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { compareSales, keepSelling, type SalesOptions } from '#testkit/fixtures/payments/sales.ts';
import { type Balancer, startBalancer } from '#testkit/network/balancer.ts';
import { type SpawnedNetwork, spawnMain } from '#testkit/network/spawn-network.ts';
import { type ChaosGround, openChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import { chaosEnv, makeDemo } from '#testkit/simulation/chaos/chaos-process.ts';
import { comeToRest } from '#testkit/simulation/invariants/invariants.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/** Longer than the load balancer takes to notice that a node is not ready. */
const DRAIN_SECONDS = '1';
const START_MS = 60_000;

let ground: ChaosGround;
let workers: SpawnedNetwork;
let db: Database;
let nextRelease = '';
const nodes: Node[] = [];

before(async () => {
  ground = await openChaosGround();
  workers = await makeDemo(ground);
  db = openDatabase({ url: ground.database.url, maxConnections: 2 });
  nextRelease = await makeNextRelease();
});

after(async () => {
  for (const node of nodes) await node.stop();
  await db.close();
  await workers.stop();
  await ground.close();
  await rm(nextRelease, { recursive: true, force: true });
});

/** One migration of each kind, as the next release may have (CONTRIBUTING.md, "A migration"). */
const MIGRATIONS = {
  '9997_next_release.sql': 'alter table payment_intents add column of_next_release text;\n',
  '9998_next_release_index.sql': `-- concurrently
create index concurrently if not exists payment_intents_of_next_release
  on payment_intents (of_next_release);
`,
  '9999_next_release_backfill.sql': `-- batched
with part as (
  select id from payment_intents where id > coalesce($1::text, '') order by id limit 20
), filled as (
  update payment_intents set of_next_release = 'filled' from part
  where payment_intents.id = part.id
)
select max(id) as cursor from part;
`,
};

/** Creates a copy of this release with three additional migrations. */
async function makeNextRelease(): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), 'tapline-next-'));
  for (const part of [
    'src',
    'web',
    'cli',
    'migrations',
    'contracts',
    'docs',
    'package.json',
    'package-lock.json',
    'examples',
    'reader',
    'texts',
  ]) {
    await cp(path.join(ROOT, part), path.join(root, part), { recursive: true });
  }
  await symlink(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
  for (const [name, sql] of Object.entries(MIGRATIONS)) {
    await writeFile(path.join(root, 'migrations', name), sql);
  }
  return root;
}

/** Runs `npm run migrate` of the next release. @returns its output. */
async function migrateNext(): Promise<string> {
  const env = { ...process.env, ...chaosEnv(ground) };
  const command = path.join(nextRelease, 'src/ops/migrate-command.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [command], {
    env,
    cwd: nextRelease,
  });
  return stdout;
}

/** Checks the migrations' results; the backfill must reach every existing intent. */
async function requireMigrated(intent: string): Promise<void> {
  const rows = await db.query<{ filled: string; valid: boolean }>(
    `select of_next_release as filled,
       (select indisvalid from pg_index
         where indexrelid = 'payment_intents_of_next_release'::regclass) as valid
     from payment_intents where id = $1`,
    [intent],
  );
  assert.deepEqual(rows, [{ filled: 'filled', valid: true }]);
}

interface Node {
  readonly url: string;
  start(root: string): Promise<void>;
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>;
}

async function openNode(name: string, role: 'api' | 'worker' = 'api'): Promise<Node> {
  const dataDir = path.join(ground.folder, name);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await copyFile(path.join(workers.dataDir, 'demo.json'), path.join(dataDir, 'demo.json'));
  const port = await freePort();
  const env = { ...chaosEnv(ground), PORT: String(port), DRAIN_SECONDS };
  let child: ChildProcess | null = null;
  const url = `http://127.0.0.1:${port}`;
  const node: Node = {
    url,
    start: async (root) => {
      const life = spawnMain({ dataDir, env, args: ['--roles', role], root });
      child = life.child;
      if (child.pid !== undefined) ground.endWithUs(child.pid);
      const isUp = () => life.logs().includes('Tapline is running');
      assert.ok(await waitUntil(isUp, START_MS), life.logs());
    },
    stop: async () => {
      child?.kill('SIGTERM');
      if (child !== null && child.exitCode === null) await once(child, 'exit');
      return child?.exitCode ?? null;
    },
  };
  nodes.push(node);
  return node;
}

function salesOptions(sandbox: SandboxFile, balancer: Balancer): SalesOptions {
  const node = () => `${balancer.next()}/api`;
  return { node, shop: sandbox.test, clients: 12, onFailure: 'report' };
}

/** Long-polls repeatedly for a change that never comes, and records unexpected results. */
function keepPolling({ node, shop }: SalesOptions, intentId: string) {
  const odd: string[] = [];
  let polls = 0;
  let stopping = false;
  const path = `/device/v1/payment_intents/${intentId}?wait=8&status=requires_payment_method`;
  const run = async () => {
    while (!stopping) {
      try {
        const headers = { authorization: `Bearer ${shop.device_key}` };
        const answer = await fetch(`${node()}${path}`, { headers });
        const { status } = (await answer.json()) as { status: string };
        polls++;
        if (answer.status !== 200 || status !== 'requires_payment_method') odd.push(status);
      } catch (error) {
        odd.push(String(error instanceof Error ? (error.cause ?? error) : error));
      }
    }
  };
  const done = Promise.all([run(), run(), run()]);
  return {
    odd,
    polls: () => polls,
    stop: async () => {
      stopping = true;
      await done;
    },
  };
}

async function createIdle({ node, shop }: SalesOptions): Promise<string> {
  const answer = await fetch(`${node()}/v1/payment_intents`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${shop.secret_key}`,
      'content-type': 'application/json',
      'idempotency-key': 'idle',
    },
    body: JSON.stringify({ amount: 1, terminal: shop.terminal, expires_in: 600 }),
  });
  return ((await answer.json()) as { id: string }).id;
}

async function replace(node: Node, balancer: Balancer): Promise<void> {
  assert.equal(await node.stop(), 0);
  await node.start(nextRelease);
  assert.ok(await waitUntil(() => balancer.ready() === 2, START_MS), 'both are ready again');
}

test('nothing fails or runs twice while two nodes under load change their release', async (t) => {
  const pair = [await openNode('one'), await openNode('two')];
  await Promise.all(pair.map((node) => node.start(ROOT)));
  const balancer = startBalancer(pair.map(({ url }) => url));
  const options = salesOptions(workers.sandbox, balancer);
  const idle = await createIdle(options);
  const polling = keepPolling(options, idle);
  const shop = keepSelling(options);
  await sleep(1_000);
  const migrated = await migrateNext();
  for (const name of Object.keys(MIGRATIONS)) assert.ok(migrated.includes(name), migrated);
  await requireMigrated(idle);
  for (const node of pair) await replace(node, balancer);
  await sleep(1_000);
  await Promise.all([shop.stop(), polling.stop()]);
  await balancer.stop();
  t.diagnostic(`${shop.sales.length} sales and ${polling.polls()} long polls meanwhile`);

  assert.ok(shop.sales.length > 20, `only ${shop.sales.length} sales`);
  assert.deepEqual(shop.failures, []);
  assert.deepEqual(polling.odd, []);
  assert.deepEqual(await compareSales(db, shop), []);
  const chains = [ground.testnet.config];
  assert.deepEqual(await comeToRest({ db, chains }, { limitMs: START_MS }), []);
  for (const node of pair) assert.equal(await node.stop(), 0);
});

/**
 * Interval at which new customers arrive. A customer who waits for a settlement starts no other
 * sale.
 */
const ARRIVAL_MS = 400;

test('no request is refused while the only worker is replaced', async (t) => {
  const [node, worker] = [await openNode('three'), await openNode('worker', 'worker')];
  await Promise.all([node.start(ROOT), worker.start(ROOT)]);
  await workers.stop();
  const balancer = startBalancer([node.url]);
  assert.ok(await waitUntil(() => balancer.ready() === 1, START_MS), 'it is ready');
  const options = { ...salesOptions(workers.sandbox, balancer), clients: 1 };
  const shops = [keepSelling(options)];
  await sleep(1_000);
  let isReplaced = false;
  const replacing = worker
    .stop()
    .then(() => worker.start(ROOT))
    .then(() => {
      isReplaced = true;
    });
  while (!isReplaced) {
    await sleep(ARRIVAL_MS);
    shops.push(keepSelling(options));
  }
  await replacing;
  await Promise.all(shops.map((shop) => shop.stop()));
  const sales = shops.flatMap((shop) => shop.sales);
  t.diagnostic(`${sales.length} sales by ${shops.length} customers`);
  assert.deepEqual(
    shops.flatMap((shop) => shop.failures),
    [],
  );
  assert(sales.every(({ status }) => status === 'succeeded'));
  await balancer.stop();
  for (const one of [node, worker]) assert.equal(await one.stop(), 0);
});
