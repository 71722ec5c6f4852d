import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyAuthenticator } from '#accounts/authenticate-api-key.ts';
import { editApiKey, revokeApiKey, rotateApiKey } from '#accounts/change-api-key.ts';
import { createAccountWithOwner } from '#accounts/create-account.ts';
import { type ApiKeyInput, createApiKey } from '#accounts/create-api-key.ts';
import type { Actor } from '#audit/audit.ts';
import { isRefusal, type Refusal } from '#core/answer.ts';
import { addSeconds } from '#core/clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';

const NOW = new Date('2026-10-01T12:00:00.000Z');
const actor: Actor = { type: 'system', name: 'test' };
const person = { email: 'Owner@Demo.test', password: 'correct horse battery', name: 'Olga Owner' };

let input: ApiKeyInput;

function done<T>(result: T | Refusal): T {
  assert.ok(!isRefusal(result), isRefusal(result) ? result.message : '');
  return result;
}

const database = openForTests(testDatabase, async () => {
  const account = { accountName: 'Demo Store', owner: person, actor, now: NOW };
  const { accountId } = done(await createAccountWithOwner(database.db, account));
  const tenant = { accountId, livemode: false };
  const rest = {
    scopes: ['payments:read'] as const,
    ipAllowlist: [],
    expiresAt: null,
    actor,
    now: NOW,
  };
  input = { tenant, name: 'till', ...rest };
});

const create = (change: Partial<ApiKeyInput> = {}) =>
  database.db.transaction((tx) => createApiKey(tx, { ...input, ...change }));

const authenticate = (secret: string, now: Date) =>
  createKeyAuthenticator(database.db)({
    authorization: `Bearer ${secret}`,
    address: '203.0.113.9',
    now,
    mustStand: false,
  });

test('a new key works for the account and mode that it was made for', async () => {
  const { row, secret } = done(await create());
  assert.match(secret, /^tlsk_test_/);
  assert.equal(row.hint, `tlsk_test_…${secret.slice(-4)}`);
  const caller = done(await authenticate(secret, NOW));
  assert.deepEqual(caller.tenant, input.tenant);
  assert.deepEqual(caller.scopes, ['payments:read']);
});

test('a live key is refused until the business is verified', async () => {
  const live = { tenant: { ...input.tenant, livemode: true } };
  const refused = await create(live);
  assert.ok(isRefusal(refused) && refused.code === 'kyb_required');
  await database.db.query("update accounts set kyb_status = 'approved'");
  assert.match(done(await create(live)).secret, /^tlsk_live_/);
});

test('an allowlist is stored in one notation, and all entries must be addresses', async () => {
  const allowed = done(
    await create({ ipAllowlist: ['10.0.0.0/8', '2001:DB8:0::1', '10.0.0.0/8'] }),
  );
  assert.deepEqual(allowed.row.ip_allowlist, ['10.0.0.0/8', '2001:db8::1']);
  for (const entry of ['10.0.0.0/33', '0x7f.1', '10.1', '10/8', '300.1.1.1', 'x.com', '']) {
    const refused = await create({ ipAllowlist: [entry] });
    assert.ok(isRefusal(refused) && refused.param === 'ip_allowlist.0', entry);
  }
});

test('rotation gives the same rights, and the old key ends after the overlap', async () => {
  const first = done(await create({ name: 'rotating' }));
  const ref = { tenant: input.tenant, id: first.row.id, actor, now: NOW };
  const next = done(await database.db.transaction((tx) => rotateApiKey(tx, ref, 3600)));
  assert.deepEqual(next.row.scopes, first.row.scopes);
  assert.equal(next.row.rotated_from, first.row.id);
  done(await authenticate(first.secret, addSeconds(NOW, 3599)));
  const late = await authenticate(first.secret, addSeconds(NOW, 3600));
  assert.ok(isRefusal(late) && late.code === 'api_key_expired');
  done(await authenticate(next.secret, addSeconds(NOW, 3600)));
});

test('a revoked key stops working', async () => {
  const { row, secret } = done(await create());
  const ref = { tenant: input.tenant, id: row.id, actor, now: NOW };
  done(await database.db.transaction((tx) => revokeApiKey(tx, ref)));
  const refused = await authenticate(secret, NOW);
  assert.ok(isRefusal(refused) && refused.code === 'api_key_revoked');
});

test("another account's key cannot be changed, and a stale edit is refused", async () => {
  const { row } = done(await create());
  const ref = { tenant: input.tenant, id: row.id, actor, now: NOW };
  const foreign = { ...ref, tenant: { accountId: 'acct_other', livemode: false } };
  const missing = await database.db.transaction((tx) => revokeApiKey(tx, foreign));
  assert.ok(isRefusal(missing) && missing.code === 'resource_missing');
  const edit = (name: string) =>
    database.db.transaction((tx) => editApiKey(tx, ref, { version: 1, name }));
  const results = await Promise.all([edit('one'), edit('two')]);
  const refusals = results.filter(isRefusal);
  assert.equal(refusals.length, 1);
  assert.equal(refusals[0]?.code, 'version_conflict');
});
