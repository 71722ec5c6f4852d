import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newSecret, SECRET_PREFIXES, type SecretKind } from '#core/bearer-secrets.ts';
import { migrate } from '#db/migrate.ts';
import { type Body, type Caller, caller } from '#testing/api-client.ts';
import { type TestDatabase, testDatabase } from '#testing/database.ts';
import { type EarlierRelease, earlierRelease } from '#testing/earlier-release.ts';
import { spawnNetwork, temporaryDataDir } from '#testing/spawn-network.ts';

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

/** Starts a network of the previous release on a database with the next release's schema. */
async function startPrevious(root: string) {
  const database = await testDatabase();
  undo.push(database.close);
  await migrateToNext(database);
  const folder = await temporaryDataDir();
  undo.push(folder.remove);
  const env = { DATABASE_URL: database.url };
  const network = await spawnNetwork({ dataDir: folder.path, env, root });
  undo.push(network.stop);
  return { database, network };
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
  const { database, network } = await startPrevious(release.root);
  const { base_url, test: mode } = network.sandbox;
  const merchant = caller(`${base_url}/v1`, mode.secret_key, ELSEWHERE);
  const terminal = caller(`${base_url}/device/v1`, mode.device_key, ELSEWHERE);

  const sale = { amount: 2_500_000, terminal: mode.terminal, order_id: 'TWO-REL' };
  const created = await merchant.post('/payment_intents', sale);
  assert.equal(created.status, 201, JSON.stringify(created.body));
  // Repeats the order ID, so that the create takes its other path, which locks rows.
  assert.equal((await merchant.post('/payment_intents', sale)).status, 409);
  const path = `/payment_intents/${created.body.id}`;
  const credential = { type: 'nfc_id', value: mode.passes.ok };
  const tapped = await terminal.post(`${path}/tap`, { credential });
  assert.equal(tapped.status, 200, JSON.stringify(tapped.body));
  const paid = await until(merchant, path, 'succeeded');

  const refund = await merchant.post('/refunds', { payment: paid.payment, amount: 1_000_000 });
  assert.equal(refund.status, 201, JSON.stringify(refund.body));
  await until(merchant, `/refunds/${refund.body.id}`, 'succeeded');
  const canceled = (await merchant.post('/payment_intents', { ...sale, order_id: 'OTHER' })).body;
  assert.equal((await merchant.post(`/payment_intents/${canceled.id}/cancel`)).status, 200);

  const rows = await database.db.query<{ refunded: bigint }>(
    'select amount_refunded as refunded from payments where id = $1',
    [paid.payment],
  );
  assert.deepEqual(rows, [{ refunded: 1_000_000n }]);
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
