import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, beforeEach, test } from 'node:test';
import { recordEntry } from '#audit/audit.ts';
import {
  type Anchor,
  parseAnchor,
  reportAuditLog,
  verifyStretch,
} from '#audit/verify-audit-log.ts';
import { newSecret, SECRET_PREFIXES, type SecretKind } from '#core/bearer-secrets.ts';
import { openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';

const NOW = new Date('2026-10-01T12:00:00.000Z');
const actor = {
  type: 'user',
  userId: 'usr_1',
  email: 'olga@demo.test',
  requestId: 'req_1',
  address: '203.0.113.9',
} as const;

const open: TestDatabase[] = [];
let database: TestDatabase;

beforeEach(async () => {
  database = await testDatabase();
  open.push(database);
});

after(() => Promise.all(open.map((one) => one.close())));

async function record(auditLog: string, name: string, db = database.db): Promise<void> {
  await db.transaction((tx) =>
    recordEntry(tx, {
      auditLog,
      actor,
      action: 'api_key.created',
      objectId: 'key_1',
      livemode: true,
      before: null,
      after: { name, limit: 12, nested: { b: [1, 'ü', null], a: true } },
      now: NOW,
    }),
  );
}

async function verify(anchors: readonly Anchor[] = []) {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  return { code: await reportAuditLog(database.db, { anchors, print }), lines };
}

/** Tampers with the log, as anyone with the database owner's rights could. */
async function tamper(sql: string): Promise<void> {
  await database.db.query('alter table audit_log disable trigger all');
  await database.db.query(sql);
  await database.db.query('alter table audit_log enable trigger all');
}

test('no entry stores a secret that was typed, and the log stays valid', async () => {
  const secrets = Object.keys(SECRET_PREFIXES).map((kind) => newSecret(kind as SecretKind));
  for (const secret of secrets) await record('acct_1', `key ${secret}`);
  const rows = await database.db.query<{ row: string }>(
    'select to_jsonb(a)::text as row from audit_log a',
  );
  assert.equal(rows.length, secrets.length);
  for (const [n, secret] of secrets.entries()) assert.ok(!rows[n]?.row.includes(secret.slice(-20)));
  assert.equal((await verify()).code, 0);
});

test('forty concurrent changes make one unbroken log per account', async () => {
  const changes = Array.from({ length: 40 }, (_, i) => record(`acct_${i % 2}`, `key ${i}`));
  await Promise.all(changes);
  const { code, lines } = await verify();
  assert.equal(code, 0);
  assert.deepEqual(
    lines.map((line) => line.split(' ').slice(0, 2)),
    [
      ['acct_0', '20'],
      ['acct_1', '20'],
    ],
  );
});

test('a range continues where the previous one ended, and finds a mismatch', async () => {
  for (let i = 0; i < 1_003; i++) await record('acct_0', `key ${i}`);
  const from = (after: bigint) => verifyStretch(database.db, { auditLog: 'acct_0', after });
  const first = await from(0n);
  assert.deepEqual([first.head.sequence, first.hasMore], [1_000n, true]);
  const second = await from(first.head.sequence);
  assert.deepEqual([second.head.sequence, second.hasMore, second.broken], [1_003n, false, null]);
  await tamper(`update audit_log set action = 'nothing' where sequence = 1002`);
  const changed = await from(1_000n);
  assert.deepEqual(changed.broken, { at: 1_002n, reason: 'it was changed' });
  assert.equal(changed.head.sequence, 1_001n, 'valid entries are reported');
  assert.equal((await from(2_000n)).broken?.reason, 'it is missing');
  assert.deepEqual(
    (await verifyStretch(database.db, { auditLog: 'none', after: 0n })).broken,
    null,
  );
});

test('the log cannot be changed, cut or emptied by statements', async () => {
  await record('acct_0', 'first');
  for (const sql of [
    `update audit_log set action = 'nothing'`,
    'delete from audit_log',
    'truncate audit_log',
  ]) {
    await assert.rejects(database.db.query(sql), /append-only/);
  }
});

test('a changed, a removed and a moved entry are detected', async () => {
  for (let i = 0; i < 5; i++) await record('acct_0', `key ${i}`);
  await tamper(`update audit_log set after = '{"name":"innocent"}' where sequence = 3`);
  const changed = await verify();
  assert.equal(changed.code, 1);
  assert.match(changed.lines[0] ?? '', /BROKEN at entry 3: it was changed/);
  await tamper('delete from audit_log where sequence = 3');
  assert.match((await verify()).lines[0] ?? '', /BROKEN at entry 4: entry 3 is missing/);
});

test('entries that were cut off at the end show against a recorded head', async () => {
  for (let i = 0; i < 3; i++) await record('acct_0', `key ${i}`);
  const { lines } = await verify();
  const anchors = lines.map(parseAnchor).filter((anchor) => anchor !== null);
  assert.equal(anchors.length, 1);
  await record('acct_0', 'later');
  assert.equal((await verify(anchors)).code, 0, 'a longer log contains the anchor');
  await tamper('delete from audit_log where sequence >= 3');
  assert.equal((await verify()).code, 0, 'without the anchor it looks complete');
  assert.equal((await verify(anchors)).code, 1);
});

/** Creates the role, with the grants of docs/operate.md section 3. */
async function createAppRole(role: string, password: string): Promise<void> {
  for (const sql of [
    `create role ${role} login password '${password}'`,
    `grant usage on schema public to ${role}`,
    `grant select, insert, update, delete on all tables in schema public to ${role}`,
    `grant usage on all sequences in schema public to ${role}`,
    `revoke update, delete, truncate on audit_log from ${role}`,
  ]) {
    await database.db.query(sql);
  }
}

test("the application's own role can read and append to the log, but not change it", async () => {
  const role = `app_${randomBytes(4).toString('hex')}`;
  const url = new URL(database.url);
  url.username = role;
  url.password = randomBytes(8).toString('hex');
  await createAppRole(role, url.password);
  const app = openDatabase({ url: url.toString(), maxConnections: 2 });
  try {
    assert.deepEqual(await migrate(app), [], 'nothing to do');
    await record('acct_0', 'by the application', app);
    for (const sql of ['update audit_log set action = action', 'delete from audit_log']) {
      await assert.rejects(app.query(sql), /permission denied/);
    }
    await assert.rejects(app.query('alter table audit_log disable trigger all'), /must be owner/);
    assert.equal((await verify()).code, 0);
  } finally {
    await app.close();
    // A creator that is not a superuser must be a member of the role to clean up.
    await database.db.query(`grant ${role} to current_user`);
    await database.db.query(`drop owned by ${role}`);
    await database.db.query(`drop role ${role}`);
  }
});
