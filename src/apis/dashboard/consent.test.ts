import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PersonRoute } from '#apis/dashboard/person-route.ts';
import { isRefusal } from '#core/answer.ts';
import { type IdKind, newId } from '#core/ids.ts';
import { asksOf } from '#http/moves.ts';
import { createOperator } from '#people/create-operator.ts';
import { FACTOR_AGE_MS } from '#people/factor-trust.ts';
import { hasRole, ROLES, type Role } from '#people/roles.ts';
import { type DashboardServer, startDashboardServer } from '#testing/dashboard-server.ts';
import { addMember, addOwner, PASSWORD, signInAs } from '#testing/people.ts';
import { PersonClient } from '#testing/person-client.ts';

/** How old the proof is, and whether the factor counts already. */
const FACTORS = ['stale', 'young', 'fresh'] as const;
type Factor = (typeof FACTORS)[number];

const REFUSED: Record<Exclude<Factor, 'fresh'>, string> = {
  stale: 'second_factor_required',
  young: 'second_factor_too_new',
};

let server: DashboardServer;
let account = '';
const clients = new Map<Role, PersonClient>();

before(async () => {
  server = await startDashboardServer([], { factorAgeMs: FACTOR_AGE_MS });
  account = (await addOwner(server, 'owner@consent.test')).accountId;
  for (const role of ['admin', 'member', 'viewer'] as const) {
    await addMember(server, { email: `${role}@consent.test`, accountId: account, role });
  }
  for (const role of ROLES) clients.set(role, await signInAs(server, `${role}@consent.test`));
});

after(() => server.close());

/** Puts every session into this state: proving a factor 300 times would take minutes. */
async function putFactors(factor: Factor): Promise<void> {
  const now = server.clock.now().getTime();
  const provenAt = new Date(factor === 'stale' ? now - 5 * 60_000 : now);
  const trustedFrom = factor === 'young' ? new Date(now + 60_000) : null;
  await server.db.query('update sessions set second_factor_at = $1', [provenAt]);
  await server.db.query('update users set factor_trusted_from = $1', [trustedFrom]);
}

function pathOf(route: PersonRoute, mode: string): string {
  return route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    if (name === 'account') return account;
    if (name === 'mode') return mode;
    const kind = route.params?.[name] ?? 'text';
    return kind === 'text' ? 'nothing' : newId(kind as IdKind, server.clock.now());
  });
}

function send(client: PersonClient, route: PersonRoute, mode: string) {
  const isUpload = route.upload !== undefined;
  const body = isUpload ? Buffer.from('%PDF-1.7') : route.method === 'GET' ? undefined : {};
  const type = isUpload ? { 'Content-Type': 'application/pdf' } : {};
  const headers = { 'Idempotency-Key': 'consent', ...type };
  return client.send(route.method, pathOf(route, mode), body, headers);
}

/** It would end the memberships of this test. */
const LEFT_OUT = ['leaveTeam'];

test('each route × role × mode × factor: asked for where the declaration says so', async () => {
  const routes = server.dashboardRoutes.filter(
    ({ path, operationId }) =>
      path.startsWith('/accounts/{account}') && !LEFT_OUT.includes(operationId),
  );
  let asked = 0;
  for (const factor of FACTORS) {
    await putFactors(factor);
    for (const route of routes) {
      const modes = route.path.includes('{mode}') ? ['test', 'live'] : ['live'];
      for (const [role, client] of clients) {
        for (const mode of modes) {
          const isAsked =
            asksOf(route) === 'always' ||
            (asksOf(route) === 'live' && mode === 'live' && route.path.includes('{mode}'));
          const { body, text } = await send(client, route, mode);
          const what = `${factor} ${role} ${mode} ${route.operationId}: ${text.slice(0, 200)}`;
          const code = body.error?.code ?? '';
          if (!hasRole(role, route.access as Role)) assert.equal(code, 'role_missing', what);
          else if (factor === 'fresh') assert.ok(!code.startsWith('second_factor'), what);
          else if (isAsked) assert.equal(code, REFUSED[factor], what);
          if (isAsked) asked += 1;
        }
      }
    }
  }
  assert.ok(asked > 100, `${asked} were asked`);
});

test('staff confirm every change with a fresh factor that counts', async () => {
  const person = { email: 'staff@consent.test', password: PASSWORD, name: 'Stan Staff' };
  const actor = { type: 'system', name: 'test' } as const;
  const made = await createOperator(server.db, { person, actor, now: server.clock.now() });
  assert.ok(!isRefusal(made));
  const staff = new PersonClient(server.operator);
  await staff.post('/session', { email: person.email, password: PASSWORD });
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

test('what says that it moves nothing writes no money, access or name', async () => {
  await server.db.query('create table moved (what text not null)');
  await server.db.query(
    `create function note_move() returns trigger language plpgsql as
       $$ begin insert into moved values (tg_table_name); return null; end $$`,
  );
  const tables = [
    ...['api_keys', 'device_keys', 'pairing_codes', 'terminals', 'memberships', 'invitations'],
    ...['passkeys', 'recovery_codes', 'payout_holds', 'withdrawals', 'refunds', 'accounts'],
    ...['kyb_submissions', 'webhook_endpoints', 'agent_tokens', 'passes', 'payments'],
  ];
  for (const table of tables) {
    await server.db.query(
      `create trigger note_move after insert or update or delete on ${table}
       for each statement execute function note_move()`,
    );
  }
  await putFactors('fresh');
  const [owner] = ROLES.toReversed().map((role) => clients.get(role));
  assert.ok(owner);
  const still = server.dashboardRoutes.filter(({ moves }) => moves === 'nothing');
  assert.ok(still.length > 40);
  for (const route of still) {
    await send(owner, route, 'test');
    const moved = await server.db.query('delete from moved returning what');
    assert.deepEqual(moved, [], route.operationId);
  }
  const key = { name: 'Server', scopes: ['payments:read'] };
  const made = await owner.post(`/accounts/${account}/test/api_keys`, key);
  assert.equal(made.status, 201, made.text);
  const noticed = await server.db.query('delete from moved returning what');
  assert.deepEqual(noticed, [{ what: 'api_keys' }], 'the triggers are on');
});

test('a live key is a mail to the owners that can stop it; so are limits of refunds', async () => {
  await putFactors('fresh');
  await server.db.query("update accounts set kyb_status = 'approved' where id = $1", [account]);
  const admin = clients.get('admin');
  const keys = `/accounts/${account}/live/api_keys`;
  const key = await admin?.post(keys, { name: 'Server', scopes: ['payments:read'] });
  assert.equal(key?.status, 201, key?.text);
  const mails = async () => {
    await server.sendMails();
    return server.mails.filter(
      ({ to, text }) => to === 'owner@consent.test' && /by-mail/.test(text),
    );
  };
  const [mail] = await mails();
  assert.match(mail?.text ?? '', /^admin@consent.test did this in the account “Some Shop”: /);
  const path = /\/by-mail\/\S+/g;
  const link = mail?.text.match(path)?.at(-1);
  assert.equal((await fetch(`${server.web}${link}`, { method: 'POST' })).status, 200);
  assert.equal((await admin?.get('/session'))?.status, 401, 'who did it is signed out');
  const owner = clients.get('owner');
  assert.equal((await owner?.get(`/accounts/${account}/payout_hold`))?.body.held, true);
  await putFactors('stale');
  const view = await owner?.get(`/accounts/${account}`);
  const version = view?.body.version;
  const limit = { version, refund_daily_limit: 5 };
  const asked = await owner?.patch(`/accounts/${account}`, limit);
  assert.equal(asked?.body.error?.code, 'second_factor_required', asked?.text);
  const zone = await owner?.patch(`/accounts/${account}`, { version, time_zone: 'Europe/Berlin' });
  assert.equal(zone?.status, 200, 'a time zone asks for nothing');
});
