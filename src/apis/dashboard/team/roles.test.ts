import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { PersonRoute } from '#apis/dashboard/person-route.ts';
import { operatorRoutes } from '#apis/operator/operator-routes.ts';
import { newId } from '#core/ids.ts';
import { insertMembership } from '#people/membership-queries.ts';
import { organizationMembers, organizations } from '#people/organization-queries.ts';
import { hasRole, ROLES, type Role } from '#people/role-order.ts';
import { type DashboardServer, startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addOwner, addStaff, addTotp, signInAs } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { callRoute, pathOf } from '#testkit/apis/person-routes.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';

let network: TestNetwork;
let server: DashboardServer;
let account = '';
const people = new Map<Role | 'foreign', PersonClient>();
const userIds = new Map<Role, string>();

/** The people have the same roles in another organization, to which the account does not belong. */
const organization = newId('organization', new Date());

async function joinOrganization(role: Role): Promise<void> {
  const row = { organization_id: organization, user_id: userIds.get(role) ?? '', role };
  await server.db.transaction((tx) =>
    organizationMembers.insert(tx, { ...row, created: server.clock.now() }),
  );
}

async function join(role: Role): Promise<void> {
  const userId = userIds.get(role) ?? '';
  const membership = { accountId: account, userId, role, now: server.clock.now() };
  await server.db.transaction((tx) => insertMembership(tx, membership));
}

before(async () => {
  network = await startTestNetwork();
  server = await startDashboardServer([network.chain], { operatorRoutes });
  const owner = await addOwner(server, 'owner@roles.test');
  account = owner.accountId;
  userIds.set('owner', owner.userId);
  const made = { id: organization, name: 'Roles', created: server.clock.now() };
  await server.db.transaction((tx) => organizations.insert(tx, made));
  await joinOrganization('owner');
  for (const role of ['admin', 'member', 'viewer', 'cashier'] as const) {
    userIds.set(role, (await addOwner(server, `${role}@roles.test`)).userId);
    await join(role);
    await joinOrganization(role);
  }
  await addOwner(server, 'foreign@roles.test');
  for (const name of [...ROLES, 'foreign'] as const) {
    people.set(name, await signInAs(server, `${name}@roles.test`));
  }
});

after(async () => {
  await server.close();
  await network.stop();
});

function send(client: PersonClient, route: PersonRoute) {
  const values = { account, org: organization, mode: 'test' };
  return callRoute(client, route, pathOf(route, values, server.clock.now()));
}

const inAccount = () =>
  server.dashboardRoutes.filter((route) => route.path.startsWith('/accounts/{account}'));
const inOrganization = () =>
  server.dashboardRoutes.filter((route) => route.path.startsWith('/organizations/{org}'));

test('every route of an account declares who may use it', () => {
  assert.ok(inAccount().length > 60, `${inAccount().length} routes`);
  for (const route of [...server.dashboardRoutes, ...server.operatorRoutes]) {
    assert.ok(route.access, route.operationId);
  }
  const ids = server.dashboardRoutes.map((route) => route.operationId);
  assert.equal(new Set(ids).size, ids.length);
});

test('each route × each role: allowed from its role on, refused below', async () => {
  assert.ok(inOrganization().length > 7, `${inOrganization().length} routes`);
  for (const route of [...inAccount(), ...inOrganization()]) {
    for (const role of ROLES) {
      const client = people.get(role);
      assert.ok(client);
      const answer = await send(client, route);
      const what = `${role} ${route.method} ${route.path}: ${answer.text.slice(0, 300)}`;
      assert.ok(answer.status < 500, what);
      const code = answer.body.error?.code;
      if (hasRole(role, route.access as Role)) {
        assert.notEqual(code, 'role_missing', what);
        assert.notEqual(code, 'session_missing', what);
        const { param } = answer.body.error ?? {};
        assert.ok(answer.status !== 404 || (param !== 'account' && param !== 'org'), what);
      } else {
        assert.equal(code, 'role_missing', what);
      }
      if (route.operationId === 'leaveTeam' && answer.status === 200) await join(role);
      if (route.operationId === 'leaveOrganization' && answer.status === 200) {
        await joinOrganization(role);
      }
    }
  }
});

test('every route is closed to a foreign owner and to the signed-out', async () => {
  const foreign = people.get('foreign');
  assert.ok(foreign);
  for (const route of [...inAccount(), ...inOrganization()]) {
    const answer = await send(foreign, route);
    assert.equal(answer.status, 404, `${route.path} ${answer.text}`);
    const param = route.path.startsWith('/accounts') ? 'account' : 'org';
    assert.equal(answer.body.error?.param, param, route.path);
    const nobody = await send(new PersonClient(server.dashboard), route);
    assert.equal(nobody.body.error?.code, 'session_missing', route.path);
  }
});

test('the routes of a person are closed to the signed-out', async () => {
  const own = server.dashboardRoutes.filter((route) =>
    ['signed_in', 'half_signed_in'].includes(route.access ?? ''),
  );
  assert.ok(own.length > 10);
  for (const route of own) {
    const answer = await send(new PersonClient(server.dashboard), route);
    assert.equal(answer.body.error?.code, 'session_missing', route.path);
  }
});

test('the roles match the documented decisions: reads for viewers, money for owners', () => {
  const access = (id: string) =>
    server.dashboardRoutes.find((route) => route.operationId === id)?.access;
  const expected: Record<string, Role> = {
    dashboardListPayments: 'viewer',
    dashboardListWebhookDeliveries: 'viewer',
    createDashboardRefund: 'member',
    updateTerminal: 'member',
    createTerminal: 'admin',
    createApiKey: 'admin',
    dashboardCreateWebhookEndpoint: 'admin',
    dashboardReplayWebhookEvents: 'admin',
    goLive: 'admin',
    saveRiskSettings: 'admin',
    inviteMember: 'owner',
    changeRole: 'owner',
    setPin: 'admin',
    readAccount: 'cashier',
    createWithdrawal: 'owner',
  };
  for (const [id, role] of Object.entries(expected)) assert.equal(access(id), role, id);
  for (const route of inAccount().filter((one) => one.access === 'viewer')) {
    assert.ok(route.method === 'GET' || route.operationId === 'leaveTeam', route.path);
  }
});

test('a cashier reads the session, who they are, and what the account is called', async () => {
  const open = inAccount().filter((route) => route.access === 'cashier');
  assert.deepEqual(
    open.map(({ operationId }) => operationId),
    ['readAccount'],
  );
  const cashier = people.get('cashier');
  const { body } = (await cashier?.get(`/accounts/${account}`)) ?? {};
  const shop = { id: account, object: 'account', name: 'Some Shop', time_zone: 'UTC' };
  assert.deepEqual(body, shop);
  assert.equal((await cashier?.get('/session'))?.status, 200);
  const me = await cashier?.get('/me');
  assert.deepEqual([me?.status, me?.body.email], [200, 'cashier@roles.test']);
  const owner = await people.get('owner')?.get(`/accounts/${account}`);
  assert.equal(owner?.body.refund_window_days, 180);
});

test('a mode that is neither test nor live does not exist', async () => {
  const owner = people.get('owner');
  for (const mode of ['foo', 'Test', 'li%76e', 'team']) {
    const answer = await owner?.get(`/accounts/${account}/${mode}/payments`);
    assert.equal(answer?.status, 404, mode);
  }
});

test('a disabled account can be read and not changed', async () => {
  const owner = people.get('owner');
  await server.db.query("update accounts set status = 'disabled' where id = $1", [account]);
  const read = await owner?.get(`/accounts/${account}`);
  assert.equal(read?.status, 200);
  const change = await owner?.patch(`/accounts/${account}`, { version: 1, name: 'New' });
  assert.equal(change?.body.error?.code, 'account_disabled');
  await server.db.query("update accounts set status = 'active' where id = $1", [account]);
});

describe('operators', () => {
  const staffRoutes = () => server.operatorRoutes.filter((route) => route.access === 'operator');
  let staff: PersonClient;

  before(async () => {
    ({ client: staff } = await addStaff(server, 'staff@roles.test', { hasFactor: false }));
  });

  test('nothing opens without a second factor, and nothing to merchants', async () => {
    assert.ok(staffRoutes().length > 15);
    const owner = new PersonClient(server.operator);
    for (const [name, value] of people.get('owner')?.cookies ?? []) {
      owner.cookies.set(name.replace('tapline_', 'tapline_operator_'), value);
    }
    for (const route of staffRoutes()) {
      assert.equal((await send(staff, route)).body.error?.code, 'second_factor_required');
      assert.equal((await send(owner, route)).body.error?.code, 'session_missing');
    }
  });

  test('every route opens with one', async () => {
    await addTotp(server, staff);
    for (const route of staffRoutes()) {
      const answer = await send(staff, route);
      const what = `${route.method} ${route.path}: ${answer.text.slice(0, 300)}`;
      assert.ok(answer.status < 500 && answer.status !== 401 && answer.status !== 403, what);
    }
    assert.equal(
      (await staff.delete('/me/totp')).status,
      409,
      'staff cannot remove their last factor',
    );
  });

  test('spending policy defaults are validated, versioned and in the log', async () => {
    const path = '/spending_policy_defaults/live';
    const { version, ...fields } = (await staff.get(path)).body;
    assert.equal(version, 0);
    const save = (change: object) => staff.send('PUT', path, { ...fields, version, ...change });
    const wrong = await save({ per_payment: 2_000_000, per_period: 1_000_000 });
    assert.equal(wrong.body.error?.param, 'per_period');
    assert.equal((await save({ max_fee_rate: 301 })).body.error?.param, 'max_fee_rate');
    const races = await Promise.all([save({ valid_days: 30 }), save({ valid_days: 60 })]);
    assert.deepEqual(races.map((answer) => answer.status).sort(), [200, 409]);
    assert.equal((await staff.get('/spending_policy_defaults/other')).status, 404);
    const [entry] = await staff.list<{ action: string }>('/audit_log?limit=1');
    assert.equal(entry?.action, 'spending_policy_defaults.changed');
  });
});

test('every route with a password declares that password hashing can be overloaded', () => {
  const hashing = [...server.dashboardRoutes, ...server.operatorRoutes].filter((route) => {
    const { properties = {} } = (route.body ?? {}) as { properties?: object };
    return 'password' in properties || 'current_password' in properties;
  });
  assert.ok(hashing.length >= 14, `${hashing.length} routes`);
  for (const { operationId, errors } of hashing) {
    assert.ok(errors.includes('service_unavailable'), operationId);
  }
});
