import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { openDataFolder } from '#sandbox/data-folder.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { SUPERUSER } from '#sandbox/postgres-cluster.ts';
import { startPostgres } from '#sandbox/start-postgres.ts';
import { runPsqlScript } from '#testkit/fixtures/core/psql-script.ts';
import { spawnMain } from '#testkit/network/spawn-network.ts';

/** Tests the two database roles of compose.yaml in a real PostgreSQL. */

const CONTAINER = path.join(import.meta.dirname, '../../deploy/container');
const PASSWORDS = { owner_password: 'of-the-owner', app_password: 'of-the-app' };
/** Allows for a start while other tests run. */
const START_MS = 120_000;
/** Limit for a stop. The promise is 1 s; a busy machine gets twice that. */
const STOP_MS = 2_000;
/** Longer than the half second between two checks of a start that waits for the database. */
const LOOKS_MS = 1_500;
const DENIED = /permission denied|must be owner/;

let root: string;
let stop: () => Promise<void>;
let urlOf: (user: string, password: string, database: string) => string;
let superuser: string;

before(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'tapline-roles-'));
  const folder = await openDataFolder(path.join(root, 'data'));
  const postgres = await startPostgres({ folder, log: () => {}, durable: false });
  stop = async () => {
    await postgres.stop();
    await folder.close();
  };
  urlOf = (user, password, database) => {
    const url = new URL(postgres.url);
    return Object.assign(url, { username: user, password, pathname: `/${database}` }).href;
  };
  superuser = (await folder.secret('postgres-superuser')).toString('base64url');
});

after(async () => {
  await stop?.();
  await rm(root, { recursive: true });
});

async function as<T>(user: string, database: string, work: (client: pg.Client) => Promise<T>) {
  const passwords: Readonly<Record<string, string>> = {
    [SUPERUSER]: superuser,
    tapline_owner: PASSWORDS.owner_password,
    tapline_app: PASSWORDS.app_password,
  };
  const client = new pg.Client(urlOf(user, passwords[user] ?? '', database));
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function migrateAs(user: string, password: string, database: string): Promise<void> {
  const db = openDatabase({ url: urlOf(user, password, database), maxConnections: 2 });
  await migrate(db);
  await db.close();
}

const giveRoles = (database: string) =>
  as(SUPERUSER, database, (client) =>
    runPsqlScript(client, path.join(CONTAINER, 'roles.sql'), PASSWORDS),
  );

async function requireRoles(database: string): Promise<void> {
  await as('tapline_app', database, async (client) => {
    const { rows } = await client.query(
      'select rolsuper, rolcreaterole, rolcreatedb from pg_roles where rolname = current_user',
    );
    assert.deepEqual(rows, [{ rolsuper: false, rolcreaterole: false, rolcreatedb: false }]);
    await client.query('update accounts set created = created');
    await client.query('select nextval(c.oid) from pg_class c where relkind = $1 limit 1', ['S']);
    for (const sql of [
      'update audit_log set created = created',
      'delete from audit_log',
      'truncate audit_log',
      'create table of_a_thief (id bigint)',
      'alter table accounts add column of_a_thief bigint',
      "copy accounts to '/tmp/accounts'",
    ]) {
      await assert.rejects(client.query(sql), DENIED, sql);
    }
  });
  await as('tapline_owner', database, async (client) => {
    await client.query('alter table accounts add column of_the_owner bigint');
    await client.query('create table of_the_owner (id bigserial)');
    await assert.rejects(client.query("copy accounts to '/tmp/accounts'"), DENIED);
  });
  await as('tapline_app', database, (client) =>
    client.query('insert into of_the_owner default values'),
  );
}

test('the service migrates as one role and serves as another, none a superuser', async () => {
  await as(SUPERUSER, 'postgres', (client) => client.query('create database fresh'));
  await giveRoles('fresh');
  await migrateAs('tapline_owner', PASSWORDS.owner_password, 'fresh');
  await requireRoles('fresh');
});

test('a database made by a superuser is handed to the owner, repeatedly', async () => {
  await as(SUPERUSER, 'postgres', (client) => client.query('create database older'));
  await migrateAs(SUPERUSER, superuser, 'older');
  await giveRoles('older');
  await giveRoles('older');
  await requireRoles('older');
});

/** Starts the API as `tapline_app`, in its own process. */
function startApi(database: string, name: string) {
  const { child, logs } = spawnMain({
    dataDir: path.join(root, name),
    args: ['--roles', 'api'],
    env: { DATABASE_URL: urlOf('tapline_app', PASSWORDS.app_password, database) },
  });
  const ended = once(child, 'close');
  const writes = async (line: RegExp) => {
    const isThere = () => line.test(logs()) || child.exitCode !== null;
    await waitUntil(isThere, START_MS);
    assert.equal(child.exitCode, null, logs());
    assert.match(logs(), line);
  };
  const stop = async () => {
    const began = performance.now();
    child.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null], logs());
    return performance.now() - began;
  };
  return { writes, isAlive: () => child.exitCode === null, logs, stop };
}

/** A sandbox's API creates the demo account and then waits for a worker. */
const hasAccounts = (database: string) =>
  as('tapline_owner', database, async (client) => {
    const { rows } = await client.query('select from accounts');
    return rows.length > 0;
  });

test('an API waits for migrations and then for its grants, and ends while it waits', async () => {
  await as(SUPERUSER, 'postgres', (client) =>
    client.query('create database waits owner tapline_owner'),
  );
  const early = startApi('waits', 'early');
  try {
    await early.writes(/npm run migrate/);
    await migrateAs('tapline_owner', PASSWORDS.owner_password, 'waits');
    const late = startApi('waits', 'late');
    await late.writes(/waiting for the grants of this role/);
    const took = await late.stop();
    assert.ok(took < STOP_MS, `SIGTERM took ${Math.round(took)} ms`);
    // The operator runs the handbook's grants one at a time.
    const first = 'grant select, insert, update, delete on all tables in schema public';
    await as('tapline_owner', 'waits', (client) => client.query(`${first} to tapline_app`));
    await sleep(LOOKS_MS);
    assert.ok(early.isAlive(), early.logs());
    assert.equal(await hasAccounts('waits'), false, 'it waits for all of its grants');
    await giveRoles('waits');
    assert.ok(await waitUntil(() => hasAccounts('waits'), START_MS), early.logs());
  } finally {
    await early.stop();
  }
});

test('each service of compose.yaml connects as its role', async () => {
  const text = await readFile(path.join(CONTAINER, 'compose.yaml'), 'utf8');
  const superusers = text.match(/postgresql:\/\/tapline:/g) ?? [];
  assert.deepEqual(superusers, [], 'no service has the address of the superuser');
  const environmentOf = (service: string) =>
    new RegExp(`^ {2}${service}:\\n(?: {4}.*\\n)*? {4}environment: \\*(\\w+)`, 'm').exec(text)?.[1];
  assert.match(text, /x-api: &api\n(?: {2}.*\n)*? {2}environment: \*app/);
  assert.equal(environmentOf('worker'), 'owner');
  assert.equal(environmentOf('migrate'), 'owner');
  assert.equal(environmentOf('registrar'), 'app');
  assert.equal(environmentOf('watch'), 'settings');
  const settings = /x-settings: &settings\b.*\n((?: {2}.*\n)+)/.exec(text)?.[1] ?? '';
  assert.match(settings, /REDIS_URL/);
  assert.doesNotMatch(settings, /DATABASE_URL/, 'it would hide what watch.env names');
});
