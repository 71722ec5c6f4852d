import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import { operatorRoutes } from '#apis/operator/operator-routes.ts';
import { newId } from '#core/ids.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addOwner, addStaff, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

const REASON = { reason: 'Readers for the market hall.' };
const COLLECTOR = { ...REASON, collector_id: 20_180_608 };

let staff: PersonClient;
let owner: PersonClient;
let account: string;

const server = openForTests(
  () => startDashboardServer([], { operatorRoutes }),
  async () => {
    ({ client: staff } = await addStaff(server, 'ops@tap.test'));
    account = (await addOwner(server, 'nina@tap.test')).accountId;
    owner = await signInAs(server, 'nina@tap.test');
  },
);

const statuses = async () => {
  const { body } = await staff.get('/smart_tap/keys');
  const keys = body.data as { readonly version: number; readonly status: string }[];
  return Object.fromEntries(keys.map(({ version, status }) => [version, status]));
};

const keyChange = (verb: 'use' | 'end', version: number, by = staff) =>
  by.post(`/smart_tap/keys/${verb}`, { ...REASON, version });

/**
 * Inserts a terminal directly, because a live account that is no longer verified cannot create one.
 */
async function addTerminal(mode: 'test' | 'live'): Promise<string> {
  const livemode = mode === 'live';
  const id = newId('terminal', server.clock.now());
  await server.db.query(
    `insert into terminals (id, account_id, livemode, position, created, label, name)
     select $1, $2, $3, 1 + count(*), $4, 'Bar', 'Bar' from terminals`,
    [id, account, livemode, server.clock.now()],
  );
  return id;
}

const turn = (by: PersonClient, mode: 'test' | 'live', id: string, enabled = true) =>
  by.post(`/accounts/${account}/${mode}/terminals/${id}/smart_tap`, { enabled });

test('without a key no terminal reads Google Wallet', async () => {
  const refused = await turn(owner, 'test', await addTerminal('test'));
  assert.deepEqual([refused.status, refused.body.error?.code], [409, 'not_configured']);
});

test('a key is shown once, encrypted, rotated with two valid versions, and ended', async () => {
  const made = await staff.post('/smart_tap/keys', COLLECTOR);
  assert.equal(made.status, 201, made.text);
  const privateKey = String(made.body.private_key);
  const half = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
  assert.equal(half, made.body.public_key);
  assert.ok(!(await staff.get('/smart_tap/keys')).text.includes('PRIVATE'));
  const [row] = await server.db.query<{ private_key: Buffer }>(
    'select private_key from collector_keys',
  );
  assert.ok(row?.private_key && !row.private_key.includes(privateKey.split('\n')[1] ?? ''));

  assert.deepEqual(await statuses(), { 1: 'ready' });
  assert.equal((await keyChange('use', 1)).body.status, 'in_use');
  server.clock.advance(1_000);
  assert.equal((await staff.post('/smart_tap/keys', COLLECTOR)).body.version, 2);
  assert.deepEqual(await statuses(), { 1: 'in_use', 2: 'ready' });
  const third = await staff.post('/smart_tap/keys', COLLECTOR);
  assert.match(third.body.error?.message ?? '', /Versions 2 and 1 are still valid/);
  assert.equal((await keyChange('use', 2)).status, 200);
  assert.deepEqual(await statuses(), { 1: 'replaced', 2: 'in_use' });
  assert.equal((await keyChange('end', 1)).body.status, 'ended');
  assert.equal((await keyChange('use', 1)).body.error?.code, 'unexpected_state');
  assert.equal((await keyChange('use', 9)).status, 404);
  const [ended] = await server.db.query('select private_key from collector_keys where version = 1');
  assert.deepEqual(ended, { private_key: null });

  const { body } = await staff.get('/audit_log?limit=50');
  const actions = (body.data as { readonly action: string }[])
    .map(({ action }) => action)
    .filter((action) => action.startsWith('collector_key.'));
  assert.deepEqual(actions, [
    'collector_key.ended',
    'collector_key.used',
    'collector_key.created',
    'collector_key.used',
    'collector_key.created',
  ]);
});

test('of two keys created at once, the second is refused since two are valid', async () => {
  const both = [1, 2].map(() => staff.post('/smart_tap/keys', COLLECTOR));
  const told = (await Promise.all(both)).map(({ status }) => status);
  assert.deepEqual(told.toSorted(), [201, 409]);
});

test('support sees the keys and cannot change them', async () => {
  const { client: support } = await addStaff(server, 'look@tap.test', { role: 'support' });
  assert.equal((await support.get('/smart_tap/keys')).status, 200);
  assert.equal((await support.post('/smart_tap/keys', COLLECTOR)).body.error?.code, 'role_missing');
  assert.equal((await keyChange('end', 2, support)).body.error?.code, 'role_missing');
});

test('an admin switches a terminal; the audit log of the account says who', async () => {
  const id = await addTerminal('test');
  const path = `/accounts/${account}/test/terminals/${id}`;
  assert.equal((await owner.get(path)).body.smart_tap, false);
  assert.equal((await turn(owner, 'test', id)).body.smart_tap, true);
  assert.equal(
    (await turn(owner, 'test', id)).body.smart_tap,
    true,
    'a repeated change changes nothing',
  );
  assert.equal((await turn(owner, 'test', id, false)).body.smart_tap, false);
  const { body } = await owner.get(`/accounts/${account}/audit_log?limit=50`);
  const entries = (body.data as { readonly action: string; readonly after: unknown }[]).filter(
    ({ action }) => action === 'terminal.smart_tap_switched',
  );
  assert.deepEqual(
    entries.map(({ after }) => after),
    [{ smart_tap: false }, { smart_tap: true }],
  );
  await addMember(server, { email: 'max@tap.test', accountId: account, role: 'member' });
  const member = await signInAs(server, 'max@tap.test');
  assert.equal((await turn(member, 'test', id)).body.error?.code, 'role_missing');
  assert.equal((await turn(owner, 'test', 'tml_0000000000000000000000')).status, 404);
});

test('in live mode it needs an approved verification, as keys and terminals do', async () => {
  const id = await addTerminal('live');
  const [tap, key] = [
    await turn(owner, 'live', id),
    await owner.post(`/accounts/${account}/live/terminals`, { label: 'Bar' }),
  ];
  assert.deepEqual([tap.status, tap.body.error?.code], [key.status, key.body.error?.code]);
  assert.equal(tap.body.error?.code, 'kyb_required');
  await server.db.query(`update accounts set kyb_status = 'approved' where id = $1`, [account]);
  assert.equal((await turn(owner, 'live', id)).body.smart_tap, true);
  await server.db.query(`update accounts set kyb_status = 'rejected' where id = $1`, [account]);
  assert.equal(
    (await turn(owner, 'live', id, false)).status,
    200,
    'switching off is always allowed',
  );
});
