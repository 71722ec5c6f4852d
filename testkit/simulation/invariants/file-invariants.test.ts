import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Database } from '#db/database.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { caller } from '#testkit/apis/api-client.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import { type OwnNetwork, startOwnNetwork } from '#testkit/network/spawn-network.ts';
import { enrolOwner } from '#testkit/simulation/chaos/chaos-owner.ts';
import { FILE_INVARIANTS, type Files } from '#testkit/simulation/invariants/file-invariants.ts';
import { violationsOf } from '#testkit/simulation/invariants/invariant.ts';

/**
 * Each test breaks one rule about files in a healthy network and expects the checker to report it.
 */

const ENDED_MS = 60_000;
const DAY_SECONDS = 86_400;

let database: TestDatabase;
let db: Database;
let network: OwnNetwork;
let files: Files;

before(async () => {
  database = await testDatabase();
  db = database.db;
  network = await startOwnNetwork({ env: { DATABASE_URL: database.url } });
  const { base_url, account, dashboard, test: mode } = network.sandbox;
  const { client } = await enrolOwner(base_url, dashboard);
  const { version } = (await client.get(`/accounts/${account}`)).body;
  const edited = await client.patch(`/accounts/${account}`, {
    ...{ version, export_schedule: { every: 'day', format: 'csv' } },
  });
  assert.equal(edited.status, 200, edited.text);
  const merchant = caller(`${base_url}/v1`, mode.secret_key);
  const till = caller(`${base_url}/device/v1`, mode.device_key);
  const { terminal } = mode;
  const { body } = await merchant.post('/payment_intents', { amount: 1_234_567, terminal });
  const credential = { type: 'nfc_id', value: mode.passes.ok };
  await till.post(`/payment_intents/${body.id}/tap`, { credential });
  assert.ok(
    await waitUntil(async () => {
      const intent = (await merchant.get(`/payment_intents/${body.id}`)).body;
      return intent.status === 'succeeded';
    }, ENDED_MS),
  );
  await merchant.post('/test_helpers/clock/advance', { seconds: DAY_SECONDS });
  const isReady = `select from events where type = 'export.ready'`;
  assert.ok(await waitUntil(async () => (await db.query(isReady)).length > 0, ENDED_MS));
  files = {
    ...{ db, accountId: account, people: [client], folders: [network.dataDir] },
    chains: [
      { network: 'testnet', livemode: false, rpcUrls: [mode.rpc_url] },
      { network: 'mainnet', livemode: true, rpcUrls: [network.sandbox.live.rpc_url] },
    ],
  };
});

after(async () => {
  await network?.close();
  await database?.close();
});

/** Returns the invariants that this damaged source of files violates. */
async function brokenBy(source: Files): Promise<string[]> {
  const result = await violationsOf(FILE_INVARIANTS, source);
  return [...new Set(result.map(({ promise }) => promise))];
}

test('a healthy network keeps every rule', async () => {
  assert.deepEqual(await violationsOf(FILE_INVARIANTS, files), []);
});

/** Returns a source of files in which downloads lack the last line that contains this text. */
function shortened(text: string): Files {
  const [person] = files.people;
  assert.ok(person !== undefined);
  const other = new PersonClient(`${network.sandbox.base_url}/dashboard/v1`);
  other.get = async (position) => {
    const answer = await person.get(position);
    const lines = answer.text.split('\n');
    const last = lines.findLastIndex((line) => line.includes(text));
    return { ...answer, text: lines.filter((_, n) => n !== last).join('\n') };
  };
  return { ...files, people: [other] };
}

test('a statement without one of its entries is reported', async () => {
  const broken = await brokenBy(shortened('"object":"entry"'));
  assert.deepEqual(broken, ['a statement closes with the balance of the ledger, in every format']);
});

test('an export without one of its rows is reported', async () => {
  const broken = await brokenBy(shortened('"object":"payment_intent"'));
  assert.deepEqual(broken, ['an export contains every row once']);
});

/**
 * Returns the invariants that are violated between two statements: `damage` corrupts the database,
 * and `undo` repairs it.
 */
async function brokenWhile(damage: string, undo: string): Promise<string[]> {
  await db.query(damage);
  const broken = await brokenBy(files);
  await db.query(undo);
  return broken;
}

test('a link to the file of another day is reported', async () => {
  const days = (n: number) =>
    `update scheduled_exports set from_day = (from_day::date + ${n})::text,
       to_day = (to_day::date + ${n})::text where token_hash is not null`;
  assert.deepEqual(await brokenWhile(days(-100), days(100)), [
    'the link of a scheduled export opens the statement of its days',
  ]);
});

test('a receipt with another fee than the chain has is reported', async () => {
  const fee = (n: number) => `update payments set fee_acquirer = fee_acquirer + ${n}`;
  assert.deepEqual(await brokenWhile(fee(1), fee(-1)), ['a receipt matches the chain']);
});

test('a changed entry of an audit log is reported', async () => {
  const [entry] = await db.query<{ chain: string; action: string }>(
    'select chain, action from audit_log where sequence = 1 limit 1',
  );
  assert.ok(entry !== undefined);
  await db.query('alter table audit_log disable trigger audit_log_no_change');
  const action = (text: string) =>
    `update audit_log set action = '${text}' where sequence = 1 and chain = '${entry.chain}'`;
  assert.deepEqual(await brokenWhile(action('nothing'), action(entry.action)), [
    'every audit log is unbroken',
  ]);
});

test('an incomplete file, and one that other users can read, are reported', async () => {
  const rule = ['the files of a process are complete and its own'];
  const file = path.join(network.dataDir, 'half.json');
  await writeFile(file, '{"half":', { mode: 0o600 });
  assert.deepEqual(await brokenBy(files), rule);
  await writeFile(path.join(network.dataDir, 'open.txt'), 'all', { mode: 0o644 });
  await writeFile(file, '{}');
  assert.deepEqual(await brokenBy(files), rule);
});
