import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { decrypt, encrypt, withPrevious } from '#core/bearer-secrets.ts';
import { openIdKey } from '#db/id-key.ts';
import { reseal, SEALED_COLUMNS } from '#ops/reseal.ts';
import { readConfig } from '#settings/config.ts';
import { addOwner, addTotp, PASSWORD, signInAs } from '#testkit/apis/people.ts';
import { type PeopleServer, startPeopleServer } from '#testkit/apis/people-server.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';

/** Rotates the encryption secret while processes serve. */

/**
 * Columns that hold no encrypted data: hashes, public keys, chain data, a shop's logo. Add new ones
 * here.
 */
const NOT_SEALED = [
  'agent_tokens.hash',
  'api_keys.hash',
  'audit_anchors.hash',
  'audit_log.hash',
  'audit_log.previous_hash',
  'brand_logos.content',
  'chain_attempts.raw',
  'chain_batches.block_hash',
  'chain_batches.node',
  'chain_batches.root',
  'chain_transactions.input',
  'chain_transfers.reference',
  'device_keys.hash',
  'email_tokens.hash',
  'idempotency_keys.fingerprint',
  'invitations.hash',
  'known_devices.hash',
  'manager_codes.hash',
  'pairing_codes.hash',
  'pass_codes.hash',
  'passes.hash',
  'passkey_challenges.hash',
  'passkeys.public_key',
  'payer_nonces.hash',
  'payer_pushes.session_hash',
  'payer_sessions.hash',
  'payout_hold_links.hash',
  'person_links.hash',
  'phone_passes.hash',
  'phone_taps.hash',
  'phone_taps.phone_pass',
  'recovery_codes.hash',
  'refunds.reference',
  'scheduled_exports.token_hash',
  'sessions.hash',
  'sessions.previous_hash',
  'visiting_passes.presented',
  'visits.presented',
];

const OLD = randomBytes(32);
const NEW = randomBytes(32);
const EMAIL = 'owner@rotation.test';

let database: TestDatabase;
let server: PeopleServer;

before(async () => {
  database = await testDatabase();
  server = await startPeopleServer(undefined, database, { key: OLD });
});

after(() => server.close());

test('every column of bytes is listed as sealed or as not sealed', async () => {
  const rows = await database.db.query<{ name: string }>(
    `select c.table_name || '.' || c.column_name as name from information_schema.columns c
     join pg_class t on t.relname = c.table_name and t.relnamespace = 'public'::regnamespace
     where c.table_schema = 'public' and c.data_type = 'bytea' and not t.relispartition
     order by 1`,
  );
  const sealed = SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`);
  assert.ok(rows.length > 20);
  assert.deepEqual(
    rows.map(({ name }) => name).filter((name) => !sealed.includes(name)),
    NOT_SEALED,
  );
  for (const name of sealed)
    assert.ok(
      rows.some((row) => row.name === name),
      name,
    );
});

test('sessions stay, and sealed data can be read, during the whole change', async () => {
  await addOwner(server, EMAIL);
  const client = await signInAs(server, EMAIL);
  const { code } = await addTotp(server, client);
  const idKey = await openIdKey(database.db, OLD);
  const both = withPrevious(NEW, OLD);
  const second = await startPeopleServer(
    undefined,
    { ...database, close: async () => {} },
    { key: both },
  );
  second.clock.advance(server.clock.now().getTime() - second.clock.now().getTime());
  const moved = new PersonClient(second.dashboard);
  for (const [name, value] of client.cookies) moved.cookies.set(name, value);
  moved.csrfToken = client.csrfToken;
  assert.equal((await moved.patch('/me', { name: 'Moved' })).status, 200, 'the old CSRF token');

  let stop = false;
  let served = 0;
  const serving = (async () => {
    while (!stop) {
      second.clock.advance(30_000);
      const timestamp = second.clock.now();
      server.clock.advance(timestamp.getTime() - server.clock.now().getTime());
      const proof = await moved.post('/session/second_factor', { code: code() });
      assert.equal(proof.status, 200, proof.text);
      served++;
    }
  })();
  await new PersonClient(second.dashboard).post('/password_reset', { email: EMAIL });
  const keys = { people: both, webhooks: both, cards: both, ids: both };
  const reports = await reseal(database.db, keys);
  stop = true;
  await serving;
  assert.ok(served > 0);
  const reportOn = (column: string) => reports.find((report) => report.column === column);
  assert.equal(reportOn('users.totp_secret')?.resealed, 1);
  assert.equal(reportOn('service_keys.sealed')?.resealed, 1);
  assert.ok(
    reports.every(({ lost }) => lost === 0),
    JSON.stringify(reports),
  );
  const again = await reseal(database.db, keys);
  assert.ok(
    again.every(({ resealed }) => resealed === 0),
    'the second time there is nothing',
  );
  await second.close();

  assert.deepEqual(await openIdKey(database.db, NEW), idKey, 'ids are what they were');
  const third = await startPeopleServer(
    undefined,
    { ...database, close: async () => {} },
    { key: NEW },
  );
  third.clock.advance(server.clock.now().getTime() + 30_000 - third.clock.now().getTime());
  server.clock.advance(30_000);
  assert.ok((await third.mailedToken(EMAIL)).length > 0, 'the waiting mail');
  const fresh = new PersonClient(third.dashboard);
  await fresh.post('/session', { email: EMAIL, password: PASSWORD });
  assert.equal((await fresh.post('/session/second_factor', { code: code() })).status, 200);
  await third.close();
});

test('data that neither secret opens is counted, not changed', async () => {
  const stranger = randomBytes(32);
  const sealed = encrypt(stranger, 'x', 'a context');
  await database.db.query(
    'insert into mail_outbox (context, sealed, created, due_at) values ($1, $2, now(), now())',
    ['a context', sealed],
  );
  const both = withPrevious(NEW, OLD);
  const reports = await reseal(database.db, {
    people: both,
    webhooks: both,
    cards: both,
    ids: both,
  });
  assert.equal(reports.find(({ column }) => column === 'mail_outbox.sealed')?.lost, 1);
  const rows = await database.db.query<{ sealed: Buffer }>(
    "select sealed from mail_outbox where context = 'a context'",
  );
  assert.equal(decrypt(stranger, rows[0]?.sealed ?? Buffer.alloc(0), 'a context'), 'x');
});

test('both settings are random bytes, and the previous secret requires the current one', () => {
  const hex = (bytes: Buffer) => bytes.toString('hex');
  const env = { TAPLINE_SECRET: hex(NEW), TAPLINE_SECRET_PREVIOUS: hex(OLD) };
  const { secret } = readConfig(env, []);
  assert.deepEqual([secret?.equals(NEW), secret?.previous?.equals(OLD)], [true, true]);
  assert.throws(
    () => readConfig({ TAPLINE_SECRET_PREVIOUS: hex(OLD) }, []),
    /needs TAPLINE_SECRET/,
  );
  const wrong = { ...env, TAPLINE_SECRET_PREVIOUS: 'short' };
  assert.throws(() => readConfig(wrong, []), /TAPLINE_SECRET_PREVIOUS must be 32 random bytes/);
});
