import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openShift, selectShift } from '#accounts/shift-rows.ts';
import { endCredentials } from '#recovery/end-credentials.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { addPayer, openStore } from '#testkit/fixtures/payments/store.ts';

const LOSS = new Date('2030-06-01T12:00:00Z');
const EARLIER = new Date('2030-06-01T11:00:00Z');
const LATER = new Date('2030-06-01T12:00:01Z');
const FAR = new Date('2031-01-01T00:00:00Z');
/**
 * The time step after the loss. Authenticator apps use steps of 30 seconds, and the next step's
 * codes are accepted, too.
 */
const STEP_AHEAD = Math.floor(LOSS.getTime() / 30_000) + 1;

const store = openForTests(openStore);

async function addPerson(created: Date, name: string): Promise<void> {
  const { db, merchant } = store;
  const { accountId } = merchant.tenant;
  await db.query(
    `insert into users (id, realm, email, name, password_hash, created, totp_secret,
       totp_confirmed_at, totp_last_step, recovery_codes_saved_at)
     values ($1, 'merchant', $1, $1, 'hash', $2, '', $2, 1, $2)`,
    [name, created],
  );
  await db.query('insert into recovery_codes (user_id, hash, created) values ($1, $2, $3)', [
    name,
    Buffer.from(name),
    created,
  ]);
  await db.query(
    `insert into sessions (id, user_id, hash, rotated_at, level, address, user_agent, created,
       last_seen_at, expires_at)
     values ($1, $1, $2, $3, 'full', '', '', $3, $3, $4)`,
    [name, Buffer.from(name), created, FAR],
  );
  await db.query(
    `insert into known_devices (hash, user_id, user_agent, address, created, last_used_at,
       expires_at)
     values ($1, $2, '', '', $3, $3, $4)`,
    [Buffer.from(name), name, created, FAR],
  );
  await db.query(
    `insert into email_tokens (hash, purpose, realm, email, created, expires_at)
     values ($1, 'password_reset', 'merchant', $2, $3, $4)`,
    [Buffer.from(name), name, created, FAR],
  );
  await db.query(
    `insert into invitations (id, account_id, email, role, hash, invited_by, created, expires_at)
     values ($1, $2, $1, 'admin', $3, 'somebody', $4, $5)`,
    [name, accountId, Buffer.from(name), created, FAR],
  );
}

const end = () =>
  store.db.transaction((tx) => endCredentials(tx, { livemode: false, before: LOSS, now: LATER }));

const left = async (table: string, condition: string) => {
  const rows = await store.db.query<{ name: string }>(
    `select name from (select convert_from(hash, 'UTF8') as name, t.* from ${table} t) named
     where ${condition} order by name`,
  );
  return rows.map(({ name }) => name);
};

test('after a loss, credentials of the lost time end, and newer ones stay', async () => {
  await addPerson(EARLIER, 'early');
  await addPerson(LATER, 'late');
  assert.deepEqual(await end(), {
    'sessions of people': 1,
    'devices known from a sign-in': 1,
    'links in mails': 1,
    invitations: 1,
    'recovery codes': 1,
  });
  assert.deepEqual(await left('sessions', 'true'), ['late']);
  assert.deepEqual(await left('known_devices', 'true'), ['late']);
  assert.deepEqual(await left('email_tokens', 'used_at is null'), ['late']);
  assert.deepEqual(await left('invitations', 'revoked_at is null'), ['late']);
  assert.deepEqual(await left('recovery_codes', 'used_at is null'), ['late']);
  const people = await store.db.query(
    `select id, totp_last_step::int as step, recovery_codes_saved_at is null as asked
     from users order by id`,
  );
  assert.deepEqual(people, [
    { id: 'early', step: STEP_AHEAD, asked: true },
    { id: 'late', step: STEP_AHEAD, asked: false },
  ]);
  assert.deepEqual(await end(), {});
});

test('codes of a pass from before a loss no longer pay, on this network only', async () => {
  const { passId } = await addPayer(store);
  const other = await addPayer(store, { livemode: true });
  await store.db.query(
    'insert into pass_codes (hash, pass_id, created, expires_at) values ($1, $2, $3, $4)',
    [Buffer.from('live'), other.passId, EARLIER, FAR],
  );
  for (const [name, created] of [
    ['old', EARLIER],
    ['new', LATER],
  ] as const) {
    await store.db.query(
      'insert into pass_codes (hash, pass_id, created, expires_at) values ($1, $2, $3, $4)',
      [Buffer.from(name), passId, created, FAR],
    );
  }
  assert.deepEqual(await end(), { 'codes of passes': 1 });
  const open = await left('pass_codes', `expires_at > '${LATER.toISOString()}'`);
  assert.deepEqual(open, ['live', 'new']);
});

test('all phone passes are sent to their wallets again after a loss', async () => {
  const passes = await Promise.all([addPayer(store), addPayer(store, { livemode: true })]);
  const [here, elsewhere] = passes.map(({ passId }) => passId);
  for (const passId of [here, elsewhere]) {
    await store.db.query(
      `insert into pass_copies
         (pass_id, wallet, created, changed_at, version, copied_version, next_try_at)
       values ($1, 'google', $2, $2, 1, 1, $2)`,
      [passId, EARLIER],
    );
  }
  await end();
  const due = await store.db.query(
    `select pass_id, changed_at from pass_copies
     where copied_version < version and next_try_at <= $1`,
    [LATER],
  );
  assert.deepEqual(due, [{ pass_id: here, changed_at: LATER }]);
});

test('after a loss, cashiers sign in at tills again, and their shifts continue', async () => {
  const { db, merchant, terminalId } = store;
  const { accountId } = merchant.tenant;
  await addPerson(EARLIER, 'cashier');
  await db.query(
    `insert into memberships (account_id, user_id, role, created, pin_hash, pin_id, refund_limit)
     values ($1, 'cashier', 'cashier', $2, 'hash', gen_random_uuid(), 5)`,
    [accountId, EARLIER],
  );
  const [{ pin_id } = {}] = await db.query<{ pin_id: string }>(
    "select pin_id from memberships where user_id = 'cashier'",
  );
  const open = (now: Date) =>
    db.transaction((tx) =>
      openShift(tx, { terminalId, accountId, personId: 'cashier', pinId: pin_id ?? '', now }),
    );
  const { id } = await open(EARLIER);
  assert.equal((await selectShift(db, terminalId))?.limit?.atoms, 5n);
  assert.equal((await end())['shifts of tills'], 1);
  const interrupted = await selectShift(db, terminalId);
  assert.deepEqual(
    [interrupted?.id, interrupted?.cashier_id, interrupted?.limit?.atoms],
    [id, null, 0n],
  );
  assert.equal((await open(LATER)).id, id);
  assert.equal((await selectShift(db, terminalId))?.cashier_id, 'cashier');
});
