import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { Done } from '#apis/dashboard/person-schema.ts';
import { personSurface } from '#apis/dashboard/person-surface.ts';
import { consentOf } from '#apis/dashboard/sessions/require-second-factor.ts';
import { operatorRoutes } from '#apis/operator/operator-routes.ts';
import { answerWith } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { silentLog } from '#observability/log.ts';
import { checkMayGoLive } from '#payouts/may-go-live.ts';
import { createOperator } from '#people/create-operator.ts';
import { FACTOR_AGE_MS } from '#people/new-factor-delay.ts';
import { hasRole, ROLES, type Role } from '#people/role-order.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import {
  addMember,
  addOwner,
  addStaff,
  PASSWORD,
  signInAs,
  stoppableMails,
} from '#testkit/apis/people.ts';
import { type ServerContext, startPeopleServer } from '#testkit/apis/people-server.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { callRoute, pathOf } from '#testkit/apis/person-routes.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

/**
 * `stale`: verified too long ago. `young`: verified just now, but not trusted yet. `fresh`:
 * verified just now and trusted.
 */
const FACTORS = ['stale', 'young', 'fresh'] as const;
type Factor = (typeof FACTORS)[number];

const REFUSED: Record<Exclude<Factor, 'fresh'>, string> = {
  stale: 'second_factor_required',
  young: 'second_factor_too_new',
};

let account = '';
let staff: PersonClient;
const clients = new Map<Role, PersonClient>();

const server = openForTests(
  () => startDashboardServer([], { operatorRoutes, factorAgeMs: FACTOR_AGE_MS }),
  async () => {
    account = (await addOwner(server, 'owner@consent.test')).accountId;
    for (const role of ['admin', 'member', 'viewer', 'cashier'] as const) {
      await addMember(server, { email: `${role}@consent.test`, accountId: account, role });
    }
    for (const role of ROLES) clients.set(role, await signInAs(server, `${role}@consent.test`));
  },
);

/**
 * Puts every session into this state in the database: verifying a real factor 300 times would take
 * minutes.
 */
async function putFactors(factor: Factor): Promise<void> {
  const now = server.clock.now().getTime();
  const provenAt = new Date(factor === 'stale' ? now - 5 * 60_000 : now);
  const trustedFrom = factor === 'young' ? new Date(now + 60_000) : null;
  await server.db.query('update sessions set second_factor_at = $1', [provenAt]);
  await server.db.query('update users set factor_trusted_from = $1', [trustedFrom]);
}

const send = (client: PersonClient, route: PersonRoute, mode: string) =>
  callRoute(client, route, pathOf(route, { account, mode }, server.clock.now()));

/** Routes that are not called, because they would end the memberships that these tests need. */
const LEFT_OUT = ['leaveTeam'];

/**
 * Returns the lowest role that may use the route and the highest that may not. test/long tries all
 * roles.
 */
function rolesFor(route: PersonRoute): readonly Role[] {
  const may = ROLES.filter((role) => hasRole(role, route.access as Role));
  const mayNot = ROLES.filter((role) => !may.includes(role));
  return [may.at(0), mayNot.at(-1)].filter((role) => role !== undefined);
}

test('each route × mode × factor: a factor is required where the declaration says so', async () => {
  const routes = server.dashboardRoutes.filter(
    ({ path, operationId }) =>
      path.startsWith('/accounts/{account}') && !LEFT_OUT.includes(operationId),
  );
  let requests = 0;
  for (const factor of FACTORS) {
    await putFactors(factor);
    for (const route of routes) {
      const modes = route.path.includes('{mode}') ? ['test', 'live'] : ['live'];
      for (const role of rolesFor(route)) {
        const client = present(clients.get(role), role);
        for (const mode of modes) {
          const { asks } = consentOf(route);
          const isAsked =
            asks === 'always' ||
            (asks === 'live' && mode === 'live' && route.path.includes('{mode}'));
          const { body, text } = await send(client, route, mode);
          const what = `${factor} ${role} ${mode} ${route.operationId}: ${text.slice(0, 200)}`;
          const code = body.error?.code ?? '';
          if (!hasRole(role, route.access as Role)) assert.equal(code, 'role_missing', what);
          else if (factor === 'fresh') assert.ok(!code.startsWith('second_factor'), what);
          else if (isAsked) assert.equal(code, REFUSED[factor], what);
          if (isAsked) requests += 1;
        }
      }
    }
  }
  assert.ok(requests > 80, `${requests} were asked`);
});

test('staff confirm every change with a fresh, trusted factor', async () => {
  staff = (await addStaff(server, 'staff@consent.test', { hasFactor: false })).client;
  const routes = server.operatorRoutes.filter(({ access }) => access === 'operator');
  for (const factor of ['stale', 'young'] as const) {
    await putFactors(factor);
    for (const route of routes) {
      const { body, text } = await send(staff, route, 'live');
      const code = body.error?.code ?? '';
      const what = `${factor} ${route.operationId}: ${text.slice(0, 200)}`;
      if (route.method === 'GET') assert.ok(!code.startsWith('second_factor'), what);
      else assert.equal(code, REFUSED[factor], what);
    }
  }
});

test('outside a sandbox a colleague counts before the first sign-in', async () => {
  const person = { email: 'colleague@consent.test', password: PASSWORD, name: 'Cora Colleague' };
  const actor = { type: 'system', name: 'test' } as const;
  await createOperator(server.db, { person, actor, now: server.clock.now() });
  await putFactors('fresh');
  const reply = await staff.post(`/accounts/${account}/disable`, { reason: 'A complaint.' });
  assert.match(String(reply.body.proposal), /^prop_/, reply.text);
  assert.equal(reply.body.status, 'active');
});

test('routes declared to move nothing write no money, access or name', async () => {
  await putFactors('fresh');
  const owner = present(clients.get('owner'), 'owner');
  const still = server.dashboardRoutes.filter(({ moves }) => moves === 'nothing');
  assert.ok(still.length > 40);
  for (const route of still) {
    const { status, text } = await send(owner, route, 'test');
    assert.notEqual(status, 500, `${route.operationId}: ${text}`);
  }
});

test('a route with a false declaration fails in every test, and nothing is written', async () => {
  const liar = personRoute({
    method: 'POST',
    path: '/rename',
    operationId: 'renameQuietly',
    moves: 'nothing',
    tag: 'Me',
    summary: 'Changes a name without declaring it',
    access: 'public',
    response: Done,
    handle: async () => {
      await lying.db.transaction((tx) => tx.query("update accounts set name = 'Stolen'"));
      return answerWith(200, { status: 'renamed' });
    },
  });
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (_message: string, fields?: object) => errors.push(fields) };
  const surfaces = ({ merchant }: ServerContext) => [personSurface(merchant, [liar])];
  const lying = await startPeopleServer(surfaces, undefined, { log });
  await addOwner(lying, 'owner@quiet.test');
  // The generated client accepts only documented routes, so this request is sent without it.
  const answer = await fetch(`${lying.dashboard}/rename`, { method: 'POST' });
  const names = await lying.db.query('select name from accounts');
  await lying.close();
  assert.equal(answer.status, 500);
  assert.deepEqual(names, [{ name: 'Some Shop' }]);
  assert.match(inspect(errors), /says it moves nothing has written accounts/);
});

const enrol = (email: string) =>
  server.db.query(
    `update users set totp_secret = 'x', totp_begun_at = $2, totp_confirmed_at = $2
     where email = $1`,
    [email, server.clock.now()],
  );

test('no account goes live on mainnet while an owner or admin has a password only', async () => {
  const { accountId } = await addOwner(server, 'owner@mainnet.test');
  await addMember(server, { email: 'admin@mainnet.test', accountId, role: 'admin' });
  await addMember(server, { email: 'member@mainnet.test', accountId, role: 'member' });
  await server.db.query("update accounts set kyb_status = 'approved' where id = $1", [accountId]);
  const why = async (livemode: boolean) => {
    const refused = await server.db.transaction((tx) =>
      checkMayGoLive(tx, { accountId, livemode }, { contractVersion: 0, wallet: '0x' }),
    );
    return refused?.message.match(/\w+@mainnet.test/g)?.sort() ?? null;
  };
  assert.deepEqual(await why(true), ['admin@mainnet.test', 'owner@mainnet.test']);
  await enrol('owner@mainnet.test');
  assert.deepEqual(await why(true), ['admin@mainnet.test']);
  assert.equal(await why(false), null, 'the testnet needs no factor');
  await enrol('admin@mainnet.test');
  assert.equal(await why(true), null, 'members need none');
});

test('moving to another contract keeps the live wallet, and waits for all workers', async () => {
  const { accountId } = await addOwner(server, 'owner@moving.test');
  const [OWN, OTHERS] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`];
  await server.db.query("update accounts set kyb_status = 'approved' where id = $1", [accountId]);
  await enrol('owner@moving.test');
  await server.db.query(
    `update account_modes set merchant_number = 4711, live_at = now(), settlement_wallet = $2
     where account_id = $1`,
    [accountId, OWN],
  );
  const why = async (livemode: boolean, joining: { contractVersion: number; wallet: string }) => {
    const refused = await server.db.transaction((tx) =>
      checkMayGoLive(tx, { accountId, livemode }, joining),
    );
    return refused === null ? null : `${refused.code}: ${refused.message}`;
  };
  const next = { contractVersion: 1, wallet: OWN.toUpperCase().replace('0X', '0x') };
  assert.match((await why(true, { ...next, contractVersion: 0 })) ?? '', /already live/);
  assert.match((await why(true, { ...next, wallet: OTHERS })) ?? '', /keeps the settlement wallet/);
  assert.equal(await why(true, next), null);
  assert.equal(
    await why(false, { ...next, wallet: OTHERS }),
    null,
    'test money may go to any wallet',
  );
  const worker = `insert into relayer_workers (livemode, owner, seen_at, shares_senders, reasons,
      senders, funded_senders, contracts) values (true, $1, $2, false, '{}', 1, 1, $3)`;
  await server.db.query(worker, ['of before', new Date(Date.now() - 60_000), 1]);
  await server.db.query(worker, ['new', new Date(), 2]);
  assert.equal(await why(true, next), null, 'a stopped worker is not waited for');
  await server.db.query(worker, ['old', new Date(), 1]);
  assert.match((await why(true, next)) ?? '', /^service_unavailable/);
  await server.db.query('delete from relayer_workers');
});

test('key, entry and mail are one transaction, even with a kill between them', async () => {
  await putFactors('fresh');
  await server.db.query("update accounts set kyb_status = 'approved' where id = $1", [account]);
  const key = { name: 'Server', scopes: ['payments:read'] };
  const owner = present(clients.get('owner'), 'owner');
  const made = await owner.post(`/accounts/${account}/live/api_keys`, key);
  assert.equal(made.status, 201, made.text);
  const written = await server.db.query<{ xmins: number; mails: number }>(
    `select count(distinct x)::int as xmins,
       count(*) filter (where what = 'mail')::int as mails
     from (
       select k.xmin::text as x, 'key' as what from api_keys k where k.id = $1
       union all select xmin::text, 'entry' from audit_log where object_id = $1
       union all select xmin::text, 'mail' from mail_outbox where created >= $2
         and xmin = (select xmin from api_keys where id = $1)
     ) rows`,
    [made.body.id, server.clock.now()],
  );
  assert.deepEqual(written, [{ xmins: 1, mails: 1 }], 'one mail to the only owner');
});

test('a repeatable action leaves an entry the first time, and none after it', async () => {
  await putFactors('fresh');
  const owner = present(clients.get('owner'), 'owner');
  const base = `/accounts/${account}/test`;
  const terminal = await owner.post(`${base}/terminals`, { label: 'Counter' });
  const key = await owner.post(`${base}/api_keys`, { name: 'Server', scopes: ['payments:read'] });
  const entriesOf = async (path: string) => {
    const answer = await owner.post(path, {});
    assert.equal(answer.status, 200, answer.text);
    const rows = await server.db.query<{ action: string }>(
      'select action from audit_log where request_id = $1',
      [answer.headers.get('request-id')],
    );
    return rows.map(({ action }) => action);
  };
  for (const [path, action] of [
    [`${base}/terminals/${terminal.body.id}/deactivate`, 'terminal.updated'],
    [`${base}/terminals/${terminal.body.id}/activate`, 'terminal.updated'],
    [`${base}/api_keys/${key.body.id}/revoke`, 'api_key.revoked'],
  ] as const) {
    assert.deepEqual([await entriesOf(path), await entriesOf(path)], [[action], []]);
  }
});

test('a live key, or a refund limit, is mailed to the owners with a link to stop it', async () => {
  await putFactors('fresh');
  await server.db.query("update accounts set kyb_status = 'approved' where id = $1", [account]);
  const admin = clients.get('admin');
  const keys = `/accounts/${account}/live/api_keys`;
  const key = await admin?.post(keys, { name: 'Server', scopes: ['payments:read'] });
  assert.equal(key?.status, 201, key?.text);
  const did = /^admin@consent.test made a change in the account “Some Shop”: /;
  const mails = await stoppableMails(server, 'owner@consent.test');
  const mail = mails.find(({ text }) => did.test(text));
  assert.ok(mail !== undefined);
  const path = /\/by-mail\/\S+/g;
  const link = mail.text.match(path)?.at(-1);
  assert.equal((await fetch(`${server.web}${link}`, { method: 'POST' })).status, 200);
  assert.equal(
    (await admin?.get('/session'))?.status,
    401,
    'the person who made the change is signed out',
  );
  const owner = clients.get('owner');
  assert.equal((await owner?.get(`/accounts/${account}/payout_hold`))?.body.held, true);
  await putFactors('stale');
  const view = await owner?.get(`/accounts/${account}`);
  const version = view?.body.version;
  const limit = { version, refund_daily_limit: 5 };
  const reply = await owner?.patch(`/accounts/${account}`, limit);
  assert.equal(reply?.body.error?.code, 'second_factor_required', reply?.text);
  const zone = await owner?.patch(`/accounts/${account}`, { version, time_zone: 'Europe/Berlin' });
  assert.equal(zone?.status, 200, 'a time zone needs no factor');
});
