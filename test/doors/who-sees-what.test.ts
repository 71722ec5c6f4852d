import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersonRoute } from '#apis/dashboard/person-route.ts';
import { present } from '#core/assert.ts';
import { dayIn } from '#core/calendar.ts';
import { addMs } from '#core/clock.ts';
import { ID_PREFIXES, type IdKind, newId } from '#core/ids.ts';
import { insertMembership } from '#people/membership-queries.ts';
import { organizationMembers } from '#people/organization-queries.ts';
import { hasRole, type Role } from '#people/role-order.ts';
import { addShiftReport } from '#testkit/apis/api-objects.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addOwner, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { pathOf } from '#testkit/apis/person-routes.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { addSales } from '#testkit/fixtures/payments/books.ts';

/**
 * Sends every GET request of the dashboard (lists, files, totals, search, receipts, request log,
 * deliveries) as every person, with the ids of every account, and looks for data that the person
 * may not see. New routes are covered automatically.
 */

/** Two accounts of one organization, and one of strangers. */
const SHOPS = ['cafe', 'bar', 'stranger'] as const;
type Shop = (typeof SHOPS)[number];

/** Sales of different amounts, so that a sum shows which account's sales are in it. */
const AMOUNTS: Record<Shop, number> = { cafe: 1_230_007, bar: 4_560_013, stranger: 7_890_017 };

interface Person {
  readonly client: PersonClient;
  readonly roles: Partial<Record<Shop, Role>>;
  readonly inOrganization: Role | null;
}

let organization = '';
const accounts = {} as Record<Shop, string>;
const ids = {} as Record<Shop, ReadonlyMap<IdKind, string>>;
const people = new Map<string, Person>();

const nameOf = (shop: Shop) => `Marker of ${shop}`;

async function seed(shop: Shop, owner: PersonClient): Promise<void> {
  const accountId = accounts[shop];
  const done = async (path: string, body: object) => {
    const answer = await owner.post(`/accounts/${accountId}${path}`, body);
    assert.equal(answer.status, 201, answer.text);
    return String(answer.body.id);
  };
  const url = `https://93.184.215.14/${shop}`;
  const removed = await done('/test/webhook_endpoints', { url, enabled_events: ['*'] });
  await done('/test/webhook_endpoints', { url: `${url}/2`, enabled_events: ['*'] });
  const terminal = await done('/test/terminals', { label: nameOf(shop) });
  await done('/test/api_keys', { name: nameOf(shop), scopes: ['payments:read'] });
  await done('/test/catalogue', { name: nameOf(shop), unit_amount: 1 });
  await done('/staff', { name: nameOf(shop), pin: '4927', role: 'cashier' });
  await done('/invitations', { email: `invited@${shop}.test`, role: 'viewer' });
  await owner.delete(`/accounts/${accountId}/test/webhook_endpoints/${removed}`);
  const at = addMs(server.clock.now(), -1_000);
  const tenant = { accountId, livemode: false };
  await addShiftReport(server.db, { tenant, terminal }, nameOf(shop));
  const sale = { at, amount: BigInt(AMOUNTS[shop]), description: nameOf(shop) };
  await addSales(server.db, tenant, [sale]);
  await server.db.query(
    `update payment_intents set tx_hash = '0x' || repeat('01', 32) where account_id = $1`,
    [accountId],
  );
}

/** Returns one id of each kind of object that the account has, from every table. */
async function idsOf(accountId: string): Promise<ReadonlyMap<IdKind, string>> {
  const tables = await server.db.query<{ name: string }>(
    `select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name in ('id', 'account_id') and data_type = 'text'
     group by table_name having count(*) = 2 order by table_name`,
  );
  const results = new Map<IdKind, string>();
  for (const { name } of tables) {
    const rows = await server.db.query<{ id: string }>(
      `select id from ${name} where account_id = $1 order by id desc limit 1`,
      [accountId],
    );
    const id = rows[0]?.id ?? '';
    const kind = Object.entries(ID_PREFIXES).find(([, prefix]) => id.startsWith(prefix));
    if (kind !== undefined) results.set(kind[0] as IdKind, id);
  }
  return results;
}

async function addPerson(name: string, given: Omit<Person, 'client'>): Promise<void> {
  const email = `${name.replaceAll(' ', '-')}@sees.test`;
  const { userId } = await addOwner(server, email);
  const now = server.clock.now();
  await server.db.transaction(async (tx) => {
    for (const [shop, role] of Object.entries(given.roles)) {
      await insertMembership(tx, { accountId: accounts[shop as Shop], userId, role, now });
    }
    if (given.inOrganization === null) return;
    const row = { organization_id: organization, user_id: userId, role: given.inOrganization };
    await organizationMembers.insert(tx, { ...row, created: now });
  });
  people.set(name, { client: await signInAs(server, email), ...given });
}

const server = openForTests(startDashboardServer, async () => {
  const owners = {} as Record<Shop, PersonClient>;
  for (const shop of SHOPS) {
    const email = `owner@${shop}.test`;
    accounts[shop] = (await addOwner(server, email)).accountId;
    owners[shop] = await signInAs(server, email);
    await server.db.query("update accounts set name = $2, currency = 'eur' where id = $1", [
      accounts[shop],
      nameOf(shop),
    ]);
    await seed(shop, owners[shop]);
  }
  organization = String((await owners.cafe.post('/organizations', { name: 'Both' })).body.id);
  await server.db.query('update accounts set organization_id = $1 where id = any($2)', [
    organization,
    [accounts.cafe, accounts.bar],
  ]);
  for (const shop of SHOPS) ids[shop] = await idsOf(accounts[shop]);
  for (const role of ['cashier', 'viewer', 'owner'] as const) {
    await addPerson(`cafe ${role}`, { roles: { cafe: role }, inOrganization: null });
    await addPerson(`organization ${role}`, { roles: {}, inOrganization: role });
  }
  await addPerson('cafe admin', { roles: { cafe: 'admin' }, inOrganization: null });
  await addPerson('bar viewer', { roles: { bar: 'viewer' }, inOrganization: null });
  await addPerson('stranger', { roles: { stranger: 'owner' }, inOrganization: null });
});

function shopsIn(text: string): Shop[] {
  return SHOPS.filter((shop) => {
    const marks = [nameOf(shop), String(AMOUNTS[shop]), `invited@${shop}.test`, `/${shop}/2`];
    return [...marks, ...ids[shop].values()].some((mark) => text.includes(mark));
  });
}

/** Queries without which some routes return nothing. */
function queriesOf({ operationId }: PersonRoute, shop: Shop): readonly string[] {
  const day = dayIn('UTC', server.clock.now());
  if (operationId === 'search') return [`?q=${ids[shop].get('payment')}`];
  if (operationId === 'export_statement') return [`?from=${day}&to=${day}&format=jsonl`];
  if (/SalesReport$/.test(operationId)) return [`?from=${day}&to=${day}&group_by=terminal`];
  if (/^export(Organization)?_/.test(operationId)) return ['?format=csv', '?format=jsonl'];
  return [''];
}

/** Returns the shops whose data the person may see by this route, with the account in the path. */
function mayShow(route: PersonRoute, person: Person, inPath: Shop): readonly Shop[] {
  const needed = route.access as Role;
  const allowed = (role: Role | null | undefined) => role != null && hasRole(role, needed);
  const both: readonly Shop[] = ['cafe', 'bar'];
  if (route.path.startsWith('/organizations/')) return allowed(person.inOrganization) ? both : [];
  const ofOrganization = both.includes(inPath) && allowed(person.inOrganization);
  return ofOrganization || allowed(person.roles[inPath]) ? [inPath] : [];
}

test('no person gets data of an account by any route unless the role there allows it', async () => {
  const routes = server.dashboardRoutes.filter(
    ({ method, path }) => method === 'GET' && /^\/(accounts|organizations)\/\{/.test(path),
  );
  let requests = 0;
  const shown = new Set<string>();
  const wrong: string[] = [];
  for (const route of routes) {
    for (const [name, person] of people) {
      for (const inPath of SHOPS) {
        for (const itsIds of SHOPS) {
          // Foreign ids matter only to a person who gets as far as the look-up.
          const looksUp =
            /\{id\}|\{item\}/.test(route.path) && mayShow(route, person, inPath).length > 0;
          if (itsIds !== inPath && !looksUp) continue;
          const kinds = Object.entries(route.params ?? {}).map(([key, kind]) => {
            const known = kind === 'text' ? undefined : ids[itsIds].get(kind as IdKind);
            return [key, known ?? newId('payment', server.clock.now())] as const;
          });
          const values = { ...Object.fromEntries(kinds), account: accounts[inPath] };
          const path = pathOf(route, { ...values, org: organization, mode: 'test' }, new Date());
          for (const query of queriesOf(route, itsIds)) {
            const { status, text } = await person.client.get(`${path}${query}`);
            requests += 1;
            const may = mayShow(route, person, inPath);
            // A refusal repeats the id of the request at most.
            const seen = status >= 400 ? [] : shopsIn(text);
            if (seen.length > 0) shown.add(route.operationId);
            const leaked = seen.filter((shop) => !may.includes(shop));
            const isRefused = may.length > 0 || status >= 400;
            if (leaked.length > 0 || !isRefused) {
              wrong.push(`${name} ${path}${query}: ${status} ${leaked.join()}`);
            }
          }
        }
      }
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(requests > 1_000, `${requests} requests`);
  assert.ok(shown.size > 20, `only ${[...shown].join()} show data`);
});

test('a cashier sees no more of the account than its name', async () => {
  const { client } = present(people.get('cafe cashier'), 'cashier');
  const { body } = await client.get(`/accounts/${accounts.cafe}`);
  assert.deepEqual(Object.keys(body).toSorted(), ['id', 'name', 'object', 'time_zone']);
});
