import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { ROLES, type Role } from '#people/role-order.ts';
import { type DashboardServer, startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addOwner, addTotp, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { pathOf } from '#testkit/apis/person-routes.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';

/**
 * Sends owners' changes that require a fresh second factor in random order, from each role, with a
 * fresh or a stale factor. Only an owner with a fresh factor may make them.
 */

const WALLET = `0x${'12'.repeat(20)}`;
const CONSENT = { wallet: WALLET, deadline: 1, signature: `0x${'00'.repeat(65)}` };

/** Owner changes that require a fresh factor, each with a body that is otherwise valid. */
const GUARDED: Readonly<Record<string, object | undefined>> = {
  createWithdrawal: { amount: 1 },
  confirmGoLive: { wallet: WALLET },
  changeSettlementWallet: CONSENT,
  liftPayoutHold: undefined,
  inviteMember: { email: 'thief@fuzz.test', role: 'owner' },
  changeRole: { role: 'viewer', version: 1 },
  removeMember: undefined,
};

/** Owner changes that revoke rights or stop something and so must never require a factor. */
const FREE = ['cancelWalletChange', 'revokeInvitation'];

/**
 * Requires a factor if the account's owners change with its organization. Tested in
 * `organizations.test.ts`.
 */
const BY_OWNERS = 'moveAccount';

let network: TestNetwork;
let server: DashboardServer;
let account = '';
let secondOwner = '';
const clients = new Map<string, PersonClient>();

before(async () => {
  network = await startTestNetwork();
  server = await startDashboardServer([network.chain]);
  account = (await addOwner(server, 'owner@fuzz.test')).accountId;
  secondOwner = await addMember(server, {
    email: 'second@fuzz.test',
    accountId: account,
    role: 'owner',
  });
  for (const role of ROLES) {
    const email = `${role}@fuzz.test`;
    if (role !== 'owner') await addMember(server, { email, accountId: account, role });
    clients.set(`${role} stale`, await signInAs(server, email));
    const fresh = await signInAs(server, email);
    // Sets up the factor in this session only; the user's other sessions have not proven it.
    if (role !== 'owner') await addTotp(server, fresh);
    clients.set(`${role} fresh`, fresh);
  }
});

after(async () => {
  await server.close();
  await network.stop();
});

function guarded() {
  return server.dashboardRoutes.filter((route) => route.operationId in GUARDED);
}

async function send(role: Role, freshness: 'stale' | 'fresh', operationId: string) {
  const route = guarded().find((one) => one.operationId === operationId);
  const client = clients.get(`${role} ${freshness}`);
  assert.ok(route && client);
  const path = pathOf(route, { account, mode: 'test', user: secondOwner }, server.clock.now());
  const headers = { 'Idempotency-Key': `fuzz ${Math.random()}` };
  return client.send(route.method, path, GUARDED[operationId], headers);
}

test('every change by an owner is listed: guarded, or one that only stops things', () => {
  // `organizations.test.ts` covers the routes of organizations.
  const owners = server.dashboardRoutes.filter(
    ({ access, method, path }) =>
      access === 'owner' && method !== 'GET' && path.startsWith('/accounts/{account}'),
  );
  assert.ok(owners.length >= 8, `${owners.length} routes`);
  for (const { operationId } of owners) {
    const isListed = operationId in GUARDED || FREE.includes(operationId);
    assert.ok(isListed || operationId === BY_OWNERS, operationId);
  }
  assert.equal(guarded().length, Object.keys(GUARDED).length);
});

test('no role and no stale factor gets through, in any order of requests', async () => {
  const tries = fc.record({
    role: fc.constantFrom(...ROLES),
    freshness: fc.constantFrom('stale' as const, 'fresh' as const),
    operationId: fc.constantFrom(...Object.keys(GUARDED)),
  });
  await fc.assert(
    fc.asyncProperty(tries, async ({ role, freshness, operationId }) => {
      // Other tests cover an owner with a fresh factor, whose calls would change the team here.
      if (role === 'owner' && freshness === 'fresh') return;
      const answer = await send(role, freshness, operationId);
      const expected = role === 'owner' ? 'second_factor_required' : 'role_missing';
      assert.equal(answer.body.error?.code, expected, `${role} ${operationId} ${answer.text}`);
    }),
    { numRuns: 150 },
  );
});

test('an admin only prepares the first wallet, and an owner needs the factor', async () => {
  const path = `/accounts/${account}/test/go_live`;
  const owner = await clients.get('owner stale')?.post(path, CONSENT);
  assert.equal(owner?.body.error?.code, 'second_factor_required');
  for (const role of ['member', 'viewer'] as const) {
    const answer = await clients.get(`${role} fresh`)?.post(path, CONSENT);
    assert.equal(answer?.body.error?.code, 'role_missing');
  }
});

test('a factor that was fresh is stale after five minutes', async () => {
  const owner = clients.get('owner fresh');
  assert.ok(owner);
  await addTotp(server, owner);
  const path = `/accounts/${account}/payout_hold`;
  assert.equal((await owner.delete(path)).status, 409, 'fresh: there is no hold');
  server.clock.advance(5 * 60_000);
  for (const operationId of Object.keys(GUARDED)) {
    const answer = await send('owner', 'fresh', operationId);
    assert.equal(answer.body.error?.code, 'second_factor_required', operationId);
  }
});
