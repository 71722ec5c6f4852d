import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consentOf } from '#apis/dashboard/sessions/require-second-factor.ts';
import { declaredRoutes } from '#app/declared-routes.ts';
import { present } from '#core/assert.ts';
import type { DeclaredRoute } from '#http/route-errors.ts';
import { createOperator } from '#people/create-operator.ts';
import { insertMembership } from '#people/membership-queries.ts';
import { hasRole, ROLES, type Role } from '#people/role-order.ts';
import { addFactorNow, addOwner, PASSWORD } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import type { FuzzRequest, KnownIds } from '#testkit/simulation/fuzz.ts';
import {
  documentOf,
  type FuzzAnswer,
  knownObjects,
  runFuzz,
  startFuzzedApi,
} from '#testkit/simulation/fuzz-run.ts';

/** Many of these requests hash a password, so they take a minute. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 2_000);
const FILE = 'long/fuzz-people';

/** Ids of objects, created before the operators disable the account. */
let known: KnownIds;

const api = openForTests(startFuzzedApi, async () => {
  known = await knownObjects(api);
});

async function signIn(surface: 'dashboard' | 'operator', email: string): Promise<PersonClient> {
  const person = new PersonClient(`${api.url}/api/${surface}/v1`);
  const answer = await person.post('/session', { email, password: PASSWORD });
  assert.equal(answer.status, 200, answer.text);
  return person;
}

async function addTestOwner(email: string): Promise<PersonClient> {
  const { userId } = await addOwner(api, email);
  const member = { accountId: api.merchant.accountId, userId, role: 'owner' as const };
  const now = api.clock.now();
  await api.db.transaction((tx) => insertMembership(tx, { ...member, now }));
  return signIn('dashboard', email);
}

async function addStaff(email: string): Promise<PersonClient> {
  const person = { email, password: PASSWORD, name: 'Stan Staff' };
  const actor = { type: 'system', name: 'test' } as const;
  await createOperator(api.db, { person, actor, now: api.clock.now() });
  const staff = await signIn('operator', email);
  await addFactorNow(staff, PASSWORD);
  return staff;
}

/** Routes that end the fuzzer's own session, so another user calls them. */
const ENDS_SESSIONS = [
  'SignOut',
  'SignOutEverywhere',
  'EndSession',
  'ChangePassword',
  'EraseMyData',
];

test(`the dashboard: ${REQUESTS} wrong requests, answered as documented`, async () => {
  const owner = await addTestOwner('owner@fuzz.test');
  const ending = await addTestOwner('ending@fuzz.test');
  const ends = [...ENDS_SESSIONS.map((name) => `merchant${name}`), 'leaveTeam'];
  await runFuzz(api, {
    ...{ document: documentOf('dashboard'), requests: REQUESTS, file: FILE },
    known: { ...known, '{day}': ['2026-09-01', '2026-02-30'] },
    unreached: 0.6,
    headersOf: ({ operationId }) => (ends.includes(operationId) ? ending : owner).headers(),
  });
});

test(`operators: ${REQUESTS} wrong requests, answered as documented`, async () => {
  const staff = await addStaff('staff@fuzz.test');
  const ending = await addStaff('ending-staff@fuzz.test');
  const ends = ENDS_SESSIONS.map((name) => `operator${name}`);
  await runFuzz(api, {
    ...{ document: documentOf('operator'), known, requests: REQUESTS, file: FILE },
    unreached: 0.6,
    headersOf: ({ operationId }) => (ends.includes(operationId) ? ending : staff).headers(),
  });
});

/**
 * States of the session's second factor: proven long ago, too new to count yet, or proven recently.
 */
const FACTORS = ['stale', 'young', 'fresh'] as const;
type Factor = (typeof FACTORS)[number];

async function putFactors(factor: Factor): Promise<void> {
  const now = api.clock.now().getTime();
  const before = new Date(now - 5 * 60_000);
  const provenAt = factor === 'stale' ? before : new Date(now);
  const trustedFrom = factor === 'young' ? new Date(now + 3_600_000) : null;
  // In a sandbox, a user who has no factor and just signed in is not asked for one.
  await api.db.query('update sessions set second_factor_at = $1, created = $2', [provenAt, before]);
  await api.db.query('update users set factor_trusted_from = $1', [trustedFrom]);
}

/** True if this route requires a fresher second factor for this path. */
function isAsked(route: DeclaredRoute, path: string, factor: Factor): boolean {
  const { asks } = consentOf(route);
  if (factor === 'fresh') return false;
  if (asks === 'fresh') return factor === 'stale';
  return asks === 'always' || (asks === 'live' && path.includes('/live/'));
}

async function addTeam(): Promise<Map<string, PersonClient>> {
  const people = new Map<string, PersonClient>();
  for (const role of ROLES) {
    const email = `${role}@consent-fuzz.test`;
    const { userId } = await addOwner(api, email);
    const member = { accountId: api.merchant.accountId, userId, role };
    const now = api.clock.now();
    await api.db.transaction((tx) => insertMembership(tx, { ...member, now }));
    people.set(role, await signIn('dashboard', email));
  }
  return people;
}

/** Returns changes that lack an audit log entry, or the email to owners. */
async function unrecorded(
  changes: ReadonlyMap<string, string>,
  mailed: readonly string[],
): Promise<unknown[]> {
  const rows = await api.db.query<{ id: string }>(
    `select id from unnest($1::text[]) as id
     where not exists (select from audit_log a where a.request_id = id
       and (id <> all($2::text[]) or exists (select from mail_outbox m where m.xmin = a.xmin)))`,
    [[...changes.keys()], mailed],
  );
  return rows.map(({ id }) => changes.get(id));
}

/** Results of one user's requests. */
interface Watched {
  refused: number;
  /** Number of changes that were made or already in effect. */
  done: number;
  /** Requests that the audit log must contain, by request id. */
  readonly changes: Map<string, string>;
  /** IDs of the requests of which owners must be notified by email. */
  readonly mailed: string[];
}

interface Asker {
  readonly role: string;
  readonly factor: Factor;
  readonly routes: ReadonlyMap<string, DeclaredRoute>;
}

/**
 * Routes that succeed without an audit log entry if the change is already in effect.
 * require-second-factor.test.ts (terminals, keys) and four-eyes.test.ts (payers) test the first
 * call of each.
 */
const REPEATABLE: ReadonlySet<string> = new Set([
  'enableAccount',
  'disableAccount',
  'disableOperator',
  'blockAnyPayer',
  'unblockAnyPayer',
  'activateTerminal',
  'deactivateTerminal',
  'revokeApiKey',
  'dashboardCancelPaymentIntent',
  'liftPayoutHold',
]);

function judge(
  watched: Watched,
  { role, factor, routes }: Asker,
  { request, answer }: { readonly request: FuzzRequest; readonly answer: FuzzAnswer },
): void {
  const route = routes.get(request.operationId);
  if (route === undefined) return;
  const { status, headers, text } = answer;
  const isDone = status < 300;
  const what = `${factor} ${role} ${request.method} ${request.path}: ${status} ${text}`;
  const ofTeam = ROLES.find((one) => one === route.access);
  assert.ok(!isDone || ofTeam === undefined || hasRole(role as Role, ofTeam), what);
  assert.ok(!isDone || !isAsked(route, request.path, factor), what);
  // Checks only this response's own code, because lists of requests contain codes of other users.
  const reply = status === 403 && /"second_factor_(required|too_new)"/.test(text ?? '');
  assert.ok(factor !== 'fresh' || !reply, what);
  watched.refused += reply ? 1 : 0;
  const { isRecorded, mails } = consentOf(route);
  if (!isDone || !isRecorded) return;
  watched.done += 1;
  if (REPEATABLE.has(route.operationId)) return;
  const id = headers['request-id'] ?? '';
  watched.changes.set(id, `${what.slice(0, 300)}`);
  if (mails && request.path.includes('/live/')) watched.mailed.push(id);
}

test('each route × role × factor asks, records and notifies as it declares', async () => {
  const people = await addTeam();
  people.set('operator', await addStaff('staff@consent-fuzz.test'));
  await addStaff('colleague@consent-fuzz.test');
  const declared = declaredRoutes();
  const watched: Watched = { refused: 0, done: 0, changes: new Map(), mailed: [] };
  const ends = ENDS_SESSIONS.flatMap((name) => [`merchant${name}`, `operator${name}`]);
  for (const factor of FACTORS) {
    await putFactors(factor);
    for (const surface of ['dashboard', 'operator'] as const) {
      const routes = new Map(declared[surface].map((route) => [route.operationId, route]));
      const roles = surface === 'operator' ? ['operator'] : [...ROLES];
      const askers = new Map<FuzzRequest, Asker>();
      await runFuzz(api, {
        ...{ document: documentOf(surface), known, requests: REQUESTS, file: FILE },
        leaveOut: ['leaveTeam', ...ends],
        headersOf: (request) => {
          const role = roles[askers.size % roles.length] ?? '';
          askers.set(request, { role, factor, routes });
          return people.get(role)?.headers() ?? {};
        },
        onAnswer: (request, answer) =>
          judge(watched, present(askers.get(request), 'asker'), { request, answer }),
      });
    }
  }
  const { refused, done, changes, mailed } = watched;
  assert.ok(refused > 20 && done > 10, `${refused} refused, ${done} done`);
  assert.deepEqual(await unrecorded(changes, mailed), []);
});
