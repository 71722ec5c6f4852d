import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { consentOf } from '#apis/dashboard/sessions/require-second-factor.ts';
import { operatorRoutes } from '#apis/operator/operator-routes.ts';
import { newId } from '#core/ids.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { timelockOf } from '#settlement/contract/timelock-calls.ts';
import { type DashboardServer, startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addOwner, addStaff } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';

/**
 * Tests that changes that move money need a second person, and that support staff can only read.
 */

const REASON = { reason: 'Stolen wallet.' };

let network: TestNetwork;
let server: DashboardServer;

before(async () => {
  network = await startTestNetwork();
  server = await startDashboardServer([network.chain], { operatorRoutes });
});

after(async () => {
  await server.close();
  await network.stop();
});

type Person = Awaited<ReturnType<typeof addStaff>>;
const staff = (name: string, more: Parameters<typeof addStaff>[2] = {}) =>
  addStaff(server, `${name}@eyes.test`, more);

async function addPayer(): Promise<string> {
  const id = newId('payer', server.clock.now());
  const address = `0x${id.slice(-8).padStart(40, '0')}`;
  await server.db.query(
    'insert into payers (id, livemode, address, created) values ($1, false, $2, $3)',
    [id, address, server.clock.now()],
  );
  return id;
}

async function isBlocked(payer: string): Promise<boolean> {
  const rows = await server.db.query<{ blocked_at: Date | null }>(
    'select blocked_at from payers where id = $1',
    [payer],
  );
  return rows[0]?.blocked_at != null;
}

async function lastActions(client: PersonClient, count: number): Promise<string[]> {
  const { body } = await client.get(`/audit_log?limit=${count}`);
  return (body.data as { action: string }[]).map(({ action }) => action);
}

let anna: Person;
let ben: Person;

/** Adds a business that has submitted its documents but is not verified. */
async function addPending(email: string): Promise<string> {
  const { accountId } = await addOwner(server, email);
  await server.db.query("update accounts set kyb_status = 'pending' where id = $1", [accountId]);
  return accountId;
}

async function statusOf(account: string) {
  const rows = await server.db.query<{ name: string; status: string; kyb_status: string }>(
    'select name, status, kyb_status from accounts where id = $1',
    [account],
  );
  return rows[0];
}

test('an operator without colleagues decides alone, and the log says so', async () => {
  anna = await staff('anna');
  const account = await addPending('alone@eyes.test');
  await staff('second', { hasFactor: false });
  const decision = { decision: 'approved' };
  const approved = await anna.client.post(`/accounts/${account}/kyb/decision`, decision);
  assert.deepEqual([approved.body.status, approved.body.proposal], ['approved', null]);
  const payer = await addPayer();
  const done = await anna.client.post(`/payers/${payer}/block`, REASON);
  assert.deepEqual([done.status, done.body.status], [200, 'approved'], done.text);
  assert.equal(done.body.decided_by, null);
  assert.ok(await isBlocked(payer));
  assert.deepEqual(await lastActions(anna.client, 1), ['payer.blocked']);
});

test("with a colleague, blocking a payer needs the colleague's approval", async () => {
  ben = await staff('ben');
  const payer = await addPayer();
  const reply = await anna.client.post(`/payers/${payer}/block`, REASON);
  assert.equal(reply.body.status, 'open', reply.text);
  assert.ok(!(await isBlocked(payer)), 'nothing has changed yet');
  const again = await ben.client.post(`/payers/${payer}/block`, REASON);
  assert.equal(again.body.error?.code, 'already_exists');
  const own = await anna.client.post(`/proposals/${reply.body.id}/approve`, REASON);
  assert.equal(own.body.error?.code, 'unexpected_state');
  const agreed = await ben.client.post(`/proposals/${reply.body.id}/approve`, REASON);
  assert.deepEqual([agreed.status, agreed.body.decided_by], [200, 'ben@eyes.test'], agreed.text);
  assert.ok(await isBlocked(payer));
  const late = await ben.client.post(`/proposals/${reply.body.id}/reject`, REASON);
  assert.equal(late.body.error?.code, 'unexpected_state');
  assert.deepEqual(await lastActions(anna.client, 2), ['payer.blocked', 'proposal.created']);
});

test('with a colleague, one person cannot verify, stop or rename a business', async () => {
  const account = await addPending('two@eyes.test');
  const path = `/accounts/${account}`;
  await server.db.query(
    `insert into account_name_requests (account_id, name, requested_by, created)
     values ($1, 'Another Shop', 'usr_someone', $2)`,
    [account, server.clock.now()],
  );
  const wishes = [
    { at: `${path}/kyb/decision`, body: { decision: 'approved' } },
    { at: `${path}/name_request/decision`, body: { decision: 'approved', ...REASON } },
    { at: `${path}/disable`, body: REASON },
  ];
  for (const { at, body } of wishes) {
    const reply = await anna.client.post(at, body);
    assert.match(String(reply.body.proposal), /^prop_/, reply.text);
    const again = await anna.client.post(at, body);
    assert.equal(again.body.error?.code, 'already_exists', 'the same person twice is one person');
  }
  const still = { name: 'Some Shop', status: 'active', kyb_status: 'pending' };
  assert.deepEqual(await statusOf(account), still);
  const seen = await ben.client.get(`${path}/kyb`);
  assert.equal(seen.body.asked_by, 'anna@eyes.test');
  for (const { at, body } of wishes) {
    const agreed = await ben.client.post(at, body);
    assert.deepEqual([agreed.status, agreed.body.proposal], [200, null], agreed.text);
  }
  const done = { name: 'Another Shop', status: 'disabled', kyb_status: 'approved' };
  assert.deepEqual(await statusOf(account), done);
});

test('one operator alone cannot give another the right to make changes', async () => {
  const tim = await staff('tim', { role: 'support' });
  const role = { ...REASON, role: 'operator' };
  const reply = await anna.client.post(`/operators/${tim.id}/role`, role);
  assert.equal(reply.body.role, 'support', reply.text);
  const path = `/proposals/${reply.body.proposal}`;
  assert.equal((await ben.client.post(`${path}/reject`, REASON)).status, 200);
  const view = await server.db.query('select staff_role from users where id = $1', [tim.id]);
  assert.deepEqual(view, [{ staff_role: 'support' }]);
});

test('the tests in this file try each staff change that needs two people', () => {
  const two = server.operatorRoutes.filter((route) => consentOf(route).fourEyes);
  const tried = [
    ...['decideVerification', 'decideName', 'disableAccount', 'enableAccount'],
    ...['changeOperatorRole', 'blockAnyPayer', 'unblockAnyPayer', 'proposeContractChange'],
    ...['approveProposal', 'rejectProposal'],
  ];
  assert.deepEqual(two.map(({ operationId }) => operationId).sort(), tried.sort());
});

test('reading documents, or searching for a payer, is in the audit log', async () => {
  const account = await addPending('read@eyes.test');
  await anna.client.get(`/accounts/${account}/kyb`);
  await anna.client.get('/payers?text=pyr_nobody');
  assert.deepEqual(await lastActions(anna.client, 2), ['payers.searched', 'kyb.read']);
});

test('one person cannot make a hundred changes in a minute', async () => {
  const body = { decision: 'approved', ...REASON };
  const path = `/accounts/${newId('account', server.clock.now())}/kyb/decision`;
  const refused = await ben.client.post(path, body);
  assert.equal(refused.status, 404, 'refused changes do not count');
  await server.db.query(
    `update sign_in_attempts set attempts = 60 where bucket = 'staff changes ${ben.id}'`,
  );
  const tooMany = await ben.client.post(path, body);
  assert.equal(tooMany.status, 429, tooMany.text);
  assert.equal((await ben.client.get('/accounts')).status, 200, 'reading still works');
  await server.db.query(
    `update sign_in_attempts set attempts = 0 where bucket = 'staff changes ${ben.id}'`,
  );
});

test('of two concurrent approvals one counts, and a rejection changes nothing', async () => {
  const payer = await addPayer();
  const reply = await anna.client.post(`/payers/${payer}/block`, REASON);
  const path = `/proposals/${reply.body.id}`;
  const both = await Promise.all([
    ben.client.post(`${path}/approve`, REASON),
    ben.client.post(`${path}/approve`, REASON),
  ]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
  const undo = await anna.client.post(`/payers/${payer}/unblock`, REASON);
  assert.equal((await ben.client.post(`/proposals/${undo.body.id}/reject`, REASON)).status, 200);
  assert.ok(await isBlocked(payer));
});

test('a proposal of days ago can no longer be approved', async () => {
  const payer = await addPayer();
  const reply = await anna.client.post(`/payers/${payer}/block`, REASON);
  await server.db.query('update operator_proposals set expires_at = $2 where id = $1', [
    reply.body.id,
    server.clock.now(),
  ]);
  const late = await ben.client.post(`/proposals/${reply.body.id}/approve`, REASON);
  assert.equal(late.body.error?.code, 'unexpected_state');
  const anew = await ben.client.post(`/payers/${payer}/block`, REASON);
  assert.equal(anew.body.status, 'open', 'it can be proposed again');
  const { body } = await anna.client.get('/proposals?open=true');
  const open = (body.data as { id: string }[]).map(({ id }) => id);
  assert.deepEqual(open, [anew.body.id]);
});

test('the calldata of a pause and of rates is shown after two people agreed', async () => {
  const wish = { kind: 'change_rates', network: 'testnet', ...REASON };
  const without = await anna.client.post('/proposals', wish);
  assert.equal(without.body.error?.param, 'rates');
  const rates = { acquirer: 40, protocol: 20, cashback: 5 };
  for (const [body, count] of [
    [{ ...wish, rates }, 1],
    [{ kind: 'pause', network: 'testnet', ...REASON }, 2],
  ] as const) {
    const reply = await anna.client.post('/proposals', body);
    assert.equal(reply.status, 201, reply.text);
    const path = `/proposals/${reply.body.id}`;
    const early = await ben.client.get(`${path}/transactions`);
    assert.equal(early.body.error?.code, 'unexpected_state');
    assert.equal((await ben.client.post(`${path}/approve`, REASON)).status, 200);
    const { body: told } = await ben.client.get(`${path}/transactions`);
    const calls = told.data as { to: Hex; data: Hex; by: 'proposer' | 'guardian' | 'steward' }[];
    assert.equal(calls.length, count);
    for (const { to, data, by } of calls) {
      const { settlement } = network.config;
      assert.equal(to, by === 'proposer' ? timelockOf(settlement) : settlement);
      // Simulates the call: the contract accepts this calldata from a holder of the role.
      const from = network[by === 'guardian' ? 'guardian' : 'admin'].address;
      const [answer] = await network.chain.calls([{ from, to, data, words: 'any' }]);
      assert.ok(answer?.ok, JSON.stringify(answer));
    }
  }
});

test('support staff see everything and change nothing', async () => {
  const sue = await staff('sue', { role: 'support' });
  const session = await sue.client.get('/session');
  assert.equal(session.body.staff_role, 'support');
  const payer = await addPayer();
  for (const route of server.operatorRoutes.filter(({ access }) => access === 'operator')) {
    const path = route.path
      .replace('{mode}', 'test')
      .replace('{account}', newId('account', server.clock.now()))
      .replace('{id}', route.path.startsWith('/payers') ? payer : '1');
    const isRead = route.method === 'GET';
    const answer = await sue.client.send(route.method, path, isRead ? undefined : REASON);
    const refused = answer.body.error?.code === 'role_missing';
    assert.equal(refused, !isRead, `${route.method} ${route.path}: ${answer.text}`);
  }
});

test('an operator cannot become the only one by removing colleagues', async () => {
  const gone = await anna.client.post(`/operators/${ben.id}/disable`, REASON);
  assert.equal(gone.status, 200, gone.text);
  const payer = await addPayer();
  const reply = await anna.client.post(`/payers/${payer}/block`, REASON);
  assert.equal(reply.body.status, 'open');
  assert.ok(!(await isBlocked(payer)));
});

test('a role is changed by a colleague, and applies from the next request on', async () => {
  const cora = await staff('cora');
  const own = await cora.client.post(`/operators/${cora.id}/role`, { ...REASON, role: 'support' });
  assert.equal(own.body.error?.code, 'unexpected_state');
  const changed = await anna.client.post(`/operators/${cora.id}/role`, {
    ...REASON,
    role: 'support',
  });
  assert.equal(changed.status, 200, changed.text);
  const refused = await cora.client.post('/proposals', {
    ...{ kind: 'pause', network: 'testnet' },
    ...REASON,
  });
  assert.equal(refused.body.error?.code, 'role_missing');
});

test('an account gets its own ceiling share, and the log says who gave it', async () => {
  const id = newId('account', server.clock.now());
  await server.db.query(`insert into accounts (id, name, created) values ($1, 'Busy', $2)`, [
    id,
    server.clock.now(),
  ]);
  const path = `/accounts/${id}/ceiling_share`;
  const set = (share: unknown) => anna.client.post(path, { ...REASON, share });
  for (const share of [0, 101, 12.5, '20']) {
    const refused = await set(share);
    assert.equal(refused.body.error?.code, 'parameter_invalid', refused.text);
  }
  assert.equal((await anna.client.post(path, { share: 20 })).status, 400, 'it needs a reason');
  const holds = async () => (await anna.client.get(`/accounts/${id}`)).body.ceiling_share;
  assert.equal(await holds(), null);
  for (const share of [20, 100, null]) {
    const done = await set(share);
    assert.deepEqual([done.status, done.body], [200, { id, ceiling_share: share }], done.text);
    assert.equal(await holds(), share);
  }
  const entries = await server.db.query<{ change: string }>(
    `select concat_ws(' ', before ->> 'share', '>', after ->> 'share', after ->> 'reason') as change
     from audit_log where object_id = $1 order by sequence`,
    [id],
  );
  assert.deepEqual(
    entries.map(({ change }) => change),
    ['> 20 Stolen wallet.', '20 > 100 Stolen wallet.', '100 > Stolen wallet.'],
  );
  const unknown = newId('account', server.clock.now());
  const nobody = await anna.client.post(`/accounts/${unknown}/ceiling_share`, {
    ...REASON,
    share: 20,
  });
  assert.equal(nobody.status, 404);
});

test('no alarm or difference is omitted: all are listed page by page', async () => {
  await server.db.query(
    `insert into chain_alarms (livemode, kind, subject, details, created)
     select false, 'nonce_ahead', 'sender ' || n, '{}', $1 from generate_series(1, 120) n`,
    [server.clock.now()],
  );
  await server.db.query(
    `insert into reconciliation_differences
       (livemode, kind, subject, details, first_seen, last_seen)
     select false, 'payment_differs', 'pi_' || n, '{}', $1, $1 from generate_series(1, 520) n`,
    [server.clock.now()],
  );
  for (const [path, list, count] of [
    ['/alarms', 'data', 120],
    ['/reconciliation', 'differences', 520],
  ] as const) {
    const ids = new Set<string>();
    for (let before = ''; ; ) {
      const { body, status, text } = await anna.client.get(`${path}?limit=100${before}`);
      assert.equal(status, 200, text);
      for (const { id } of body[list] as { id: string }[]) ids.add(id);
      if (body.has_more !== true) break;
      before = `&before=${body.next_cursor}`;
    }
    assert.equal(ids.size, count, path);
  }
});

test('a recovery shows its progress', async () => {
  await server.db.query(
    `update network_recoveries set status = 'recovering', reason = 'cluster',
       started = now(), compared_block = 1, read_to = 2, payments = 3 where not livemode`,
  );
  const { body, status, text } = await anna.client.get('/recoveries');
  assert.equal(status, 200, text);
  const [first] = body.data as Record<string, unknown>[];
  const { network, status: state, from_block, read_to, payments, head } = first ?? {};
  assert.deepEqual(
    [network, state, from_block, read_to, payments],
    ['testnet', 'recovering', '2', '2', 3],
  );
  assert.match(String(head), /^\d+$/);
});
