import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual, promisify } from 'node:util';
import { newSecret, SECRET_PREFIXES, type SecretKind } from '#core/bearer-secrets.ts';
import { openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { openDataFolder } from '#sandbox/data-folder.ts';
import { startPostgres } from '#sandbox/start-postgres.ts';
import { type Body, type Caller, caller } from '#testkit/apis/api-client.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { type EarlierRelease, earlierRelease } from '#testkit/fixtures/core/earlier-release.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import {
  type SpawnedNetwork,
  spawnNetwork,
  temporaryDataDir,
} from '#testkit/network/spawn-network.ts';

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');

/**
 * During a rolling update, processes of the previous release run on the next one's schema. This is
 * the previous release's commit; update it when a release is tagged. Before the first release it is
 * `null`: then the current program runs on a schema with NEXT_RELEASE as the next migration.
 */
const PREVIOUS_RELEASE = null as string | null;

/**
 * Adds everything that a migration may add to every table: no statement may depend on the exact
 * columns.
 */
const NEXT_RELEASE = `-- A column of every table, and a table that refers to others.
do $$
declare
  old regclass;
begin
  for old in
    select oid from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
  loop
    execute format('alter table %s add column of_next_release text not null default %L', old, '');
  end loop;
end
$$;
create table next_release (
  account_id text collate "C" not null references accounts (id),
  payment_id text collate "C" not null references payments (id)
);
`;

/** The last commit that compares migrations as whole files, with their comments. */
const WHOLE_FILES = '8333a0ec847e8e8f522c2f63b1455c0519dcf848';
/** The last commit before shifts end with numbered reports and staff have PINs. */
const MEMBERS_ONLY = 'fcede0b475346ee1a7e3ebdf26d2d57191c03e45';
/** Tables whose rows a start does not change. */
const KEPT = ['migrations', 'accounts', 'payment_intents', 'payments', 'events', 'audit_log'];

const ELSEWHERE = { ofThisRelease: false } as const;

const undo: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const step of undo.reverse()) await step();
});

async function previousRelease(): Promise<EarlierRelease | null> {
  if (PREVIOUS_RELEASE === null) return { root: ROOT, remove: async () => {} };
  return earlierRelease(PREVIOUS_RELEASE);
}

async function migrateToNext(database: TestDatabase): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-next-'));
  undo.push(() => rm(folder, { recursive: true }));
  const name = '9999_next_release.sql';
  await writeFile(path.join(folder, name), NEXT_RELEASE);
  assert.deepEqual(await migrate(database.db, { folder }), [name]);
}

/** Starts a network of an earlier release on a database that this release has migrated. */
async function startEarlier(root: string, database: TestDatabase): Promise<SpawnedNetwork> {
  const folder = await temporaryDataDir();
  undo.push(folder.remove);
  const env = { DATABASE_URL: database.url };
  const network = await spawnNetwork({ dataDir: folder.path, env, root });
  undo.push(network.stop);
  return network;
}

async function sell({ sandbox }: SpawnedNetwork, order: string): Promise<Body> {
  const { base_url, test: mode } = sandbox;
  const merchant = caller(`${base_url}/v1`, mode.secret_key, ELSEWHERE);
  const terminal = caller(`${base_url}/device/v1`, mode.device_key, ELSEWHERE);
  const sale = { amount: 2_500_000, terminal: mode.terminal, order_id: order };
  const created = await merchant.post('/payment_intents', sale);
  assert.equal(created.status, 201, JSON.stringify(created.body));
  // Repeats the order ID, so that the create takes its other path, which locks rows.
  assert.equal((await merchant.post('/payment_intents', sale)).status, 409);
  const path = `/payment_intents/${created.body.id}`;
  const credential = { type: 'nfc_id', value: mode.passes.ok };
  const tapped = await terminal.post(`${path}/tap`, { credential });
  assert.equal(tapped.status, 200, JSON.stringify(tapped.body));
  return until(merchant, path, 'succeeded');
}

async function until(merchant: Caller, path: string, status: string): Promise<Body> {
  let body: Body = {};
  for (let tries = 0; tries < 200 && body.status !== status; tries++) {
    await sleep(50);
    ({ body } = await merchant.get(path));
  }
  assert.equal(body.status, status, JSON.stringify(body));
  return body;
}

test('the previous release accepts, settles and refunds a payment on the new schema', async (t) => {
  const release = await previousRelease();
  if (release === null) return t.skip(`the history of ${PREVIOUS_RELEASE} is not in this copy`);
  undo.push(release.remove);
  const database = await testDatabase();
  undo.push(database.close);
  await migrateToNext(database);
  const network = await startEarlier(release.root, database);
  const { base_url, test: mode } = network.sandbox;
  const merchant = caller(`${base_url}/v1`, mode.secret_key, ELSEWHERE);

  const paid = await sell(network, 'TWO-REL');
  const refund = await merchant.post('/refunds', { payment: paid.payment, amount: 1_000_000 });
  assert.equal(refund.status, 201, JSON.stringify(refund.body));
  await until(merchant, `/refunds/${refund.body.id}`, 'succeeded');
  const other = { amount: 2_500_000, terminal: mode.terminal, order_id: 'OTHER' };
  const canceled = (await merchant.post('/payment_intents', other)).body;
  assert.equal((await merchant.post(`/payment_intents/${canceled.id}/cancel`)).status, 200);

  const rows = await database.db.query<{ refunded: bigint }>(
    'select amount_refunded as refunded from payments where id = $1',
    [paid.payment],
  );
  assert.deepEqual(rows, [{ refunded: 1_000_000n }]);
});

test('a process that compares whole migrations restarts beside this release', async (t) => {
  const earlier = await earlierRelease(WHOLE_FILES);
  if (earlier === null) return t.skip(`the history of ${WHOLE_FILES} is not in this copy`);
  undo.push(earlier.remove);
  const database = await testDatabase();
  undo.push(database.close);
  await sell(await startEarlier(earlier.root, database), 'BESIDE');
});

/** Reads the data folder of a stopped network. @returns the rows of tables that a start keeps. */
async function rowsIn(dataDir: string): Promise<Body[]> {
  const folder = await openDataFolder(dataDir);
  const postgres = await startPostgres({ folder, log: () => {}, durable: false });
  const db = openDatabase({ url: postgres.url, maxConnections: 1 });
  try {
    const rows: Body[] = [];
    for (const table of KEPT) {
      rows.push(...(await db.query<Body>(`select '${table}' as table_name, t.* from ${table} t`)));
    }
    return rows;
  } finally {
    await db.close();
    await postgres.stop();
    await folder.close();
  }
}

/** Returns the rows that are missing or changed. Columns may have been added. */
function lost(before: readonly Body[], after: readonly Body[]): Body[] {
  return before.filter((row) => {
    const columns = Object.keys(row);
    return !after.some((one) => columns.every((name) => isDeepStrictEqual(one[name], row[name])));
  });
}

test('data and a backup of a build that compares whole migrations start', async (t) => {
  const earlier = await earlierRelease(WHOLE_FILES);
  if (earlier === null) return t.skip(`the history of ${WHOLE_FILES} is not in this copy`);
  undo.push(earlier.remove);
  const folder = await temporaryDataDir();
  undo.push(folder.remove);
  const [dataDir, backup] = [path.join(folder.path, 'data'), path.join(folder.path, 'backup')];
  const network = await spawnNetwork({ dataDir, root: earlier.root });
  undo.push(network.stop);
  await sell(network, 'BEFORE');
  await network.stop();
  const before = await rowsIn(dataDir);
  await run('cp', ['-a', dataDir, backup]);
  for (const order of ['AFTER', 'RESTORED']) {
    const next = await spawnNetwork({ dataDir });
    undo.push(next.stop);
    await sell(next, order);
    await next.stop();
    const after = await rowsIn(dataDir);
    assert.deepEqual(lost(before, after), []);
    const migrations = after.filter((row) => row.table_name === 'migrations');
    assert.ok(migrations.length >= 36);
    assert.ok(migrations.every(({ sum }) => typeof sum === 'string'));
    await rm(dataDir, { recursive: true });
    await run('cp', ['-a', backup, dataDir]);
  }
});

const tillOf = ({ sandbox }: SpawnedNetwork, mode: 'test' | 'live' = 'test') =>
  caller(`${sandbox.base_url}/device/v1`, sandbox[mode].device_key, ELSEWHERE);

/** Gives the owner a PIN. @returns how the owner signs in at a till */
async function givePin({ sandbox }: SpawnedNetwork) {
  const { account, base_url, dashboard } = sandbox;
  const client = new PersonClient(`${base_url}/dashboard/v1`, ELSEWHERE);
  const { body } = await client.post('/session', dashboard);
  const { id: cashier } = body.user as { readonly id: string };
  const pin = '493027';
  const set = await client.send('PUT', `/accounts/${account}/members/${cashier}/pin`, { pin });
  assert.equal(set.status, 200, set.text);
  return { cashier, pin };
}

test('shifts and PINs of a build without staff go on here, and there again', async (t) => {
  const earlier = await earlierRelease(MEMBERS_ONLY);
  if (earlier === null) return t.skip(`the history of ${MEMBERS_ONLY} is not in this copy`);
  undo.push(earlier.remove);
  const { path: dataDir, remove } = await temporaryDataDir();
  undo.push(remove);
  const start = async (root = ROOT) => {
    const network = await spawnNetwork({ dataDir, root });
    undo.push(network.stop);
    return network;
  };
  const old = await start(earlier.root);
  const owner = await givePin(old);
  const { body: shift } = await tillOf(old).post('/shift', owner);
  const register = await tillOf(old, 'live').patch('/terminal', { platform: 'reader' });
  assert.deepEqual([shift.cashier, register.status], [owner.cashier, 200]);
  const paid = await sell(old, 'MEMBER');
  await old.stop();

  const here = await start();
  const till = tillOf(here);
  const refund = () => till.post('/refunds', { payment: paid.payment, amount: 1_000_000 });
  const open = (await till.get('/terminal')).body.shift as Body;
  assert.deepEqual([open.id, open.cashier], [shift.id, owner.cashier]);
  assert.equal((await refund()).body.error?.code, 'manager_required', 'the PIN may be short');
  assert.equal((await till.post('/shift', owner)).body.id, shift.id);
  assert.equal((await refund()).status, 201);
  const { body: report } = await till.send('DELETE', '/shift');
  assert.deepEqual([report.id, report.number], [shift.id, 1], JSON.stringify(report));
  const { base_url, live, test: mode } = here.sandbox;
  const limits = [];
  for (const { secret_key, terminal: id } of [live, mode]) {
    const { body } = await caller(`${base_url}/v1`, secret_key).get(`/terminals/${id}`);
    limits.push(body.refund_limit);
  }
  assert.deepEqual(limits, [500_000_000, null], 'cash registers reverse sales as before');
  const { body: next } = await till.post('/shift', owner);
  await here.stop();

  const back = await start(earlier.root);
  const { body: again } = await tillOf(back).post('/shift', owner);
  assert.deepEqual([again.id, again.cashier], [next.id, owner.cashier]);
  await sell(back, 'BACK');
});

test('the changelog says which credentials the previous release refuses', async (t) => {
  const release = await previousRelease();
  if (release === null) return t.skip(`the history of ${PREVIOUS_RELEASE} is not in this copy`);
  undo.push(release.remove);
  const file = path.join(release.root, 'src/core/bearer-secrets.ts');
  const previous = (await import(file)) as {
    readonly SECRET_PREFIXES: Readonly<Record<string, string>>;
    isSecret(kind: string, text: string): boolean;
  };
  const kinds = Object.keys(SECRET_PREFIXES) as SecretKind[];
  // Skips a new kind, because it belongs to a new feature that the previous release does not have.
  const refused = kinds
    .filter((kind) => kind in previous.SECRET_PREFIXES)
    .filter((kind) => !previous.isSecret(kind, newSecret(kind)))
    .map((kind) => SECRET_PREFIXES[kind]);
  const changelog = await readFile(path.join(ROOT, 'CHANGELOG.md'), 'utf8');
  const [, said = ''] =
    /^### Going back\n([\s\S]*?)^##/m.exec(`${changelog.split(/^## /m)[1]}##`) ?? [];
  const named = [...said.matchAll(/`(\w+_)…`/g)].map(([, prefix]) => prefix);
  assert.deepEqual(named.sort(), refused.sort());
});
