import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { declaredRoutes } from '#app/declared-routes.ts';
import { surfaceDocuments } from '#app/surface-documents.ts';
import { createOperator } from '#people/create-operator.ts';
import { insertMembership } from '#people/membership-queries.ts';
import { createTestIntent, startTestApi, type TestApi } from '#testing/api.ts';
import { addTestPayment, keepRefunding, LOCAL_WEBHOOKS } from '#testing/api-objects.ts';
import type { KnownIds } from '#testing/fuzz.ts';
import { assertReached, runFuzz } from '#testing/fuzz-run.ts';
import { addOwner, PASSWORD } from '#testing/people.ts';
import { PersonClient } from '#testing/person-client.ts';

/** Passwords are hashed for many of these requests: they take a minute. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 2_000);
const DOCUMENTS = surfaceDocuments(declaredRoutes());

let api: TestApi;
let refunding: { stop(): Promise<void> };

before(async () => {
  api = await startTestApi({ env: LOCAL_WEBHOOKS });
  refunding = keepRefunding(api);
});

after(async () => {
  await refunding.stop();
  await api.close();
});

/** Objects of the merchant, which every surface sees in its own way. */
async function knownObjects(): Promise<KnownIds> {
  const intents = [];
  for (let i = 0; i < 30; i++) intents.push((await createTestIntent(api)).id);
  const payments = [];
  for (let i = 0; i < 10; i++) {
    payments.push((await addTestPayment(api.db, api.merchant.test)).id);
  }
  return {
    // Most routes of the dashboard are below it.
    acct_: Array(4).fill(api.merchant.accountId),
    key_: [api.merchant.test.keyId],
    pi_: intents,
    pay_: payments,
    tml_: [api.merchant.test.terminal],
  };
}

async function signIn(surface: 'dashboard' | 'operator', email: string): Promise<PersonClient> {
  const person = new PersonClient(`${api.url}/api/${surface}/v1`);
  const answer = await person.post('/session', { email, password: PASSWORD });
  assert.equal(answer.status, 200, answer.text);
  return person;
}

/** An owner of the merchant. */
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
  const begun = await staff.post('/me/totp', { current_password: PASSWORD });
  const totp = new TOTP({ secret: Secret.fromBase32(String(begun.body.secret)) });
  const confirmed = await staff.post('/me/totp/confirm', { code: totp.generate() });
  assert.equal(confirmed.status, 200, confirmed.text);
  return staff;
}

function documentOf(surface: string) {
  const document = DOCUMENTS[`openapi/${surface}.json`];
  assert.ok(document);
  return document;
}

/** Ends the session of the person who fuzzes: another person tries these. */
const ENDS_SESSIONS = [
  'SignOut',
  'SignOutEverywhere',
  'EndSession',
  'ChangePassword',
  'EraseMyData',
];

test(`the dashboard: ${REQUESTS} wrong requests, answered as documented`, async () => {
  const owner = await addTestOwner('owner@fuzz.test');
  const run = {
    url: api.url,
    document: documentOf('dashboard'),
    known: { ...(await knownObjects()), '{day}': ['2026-09-01', '2026-02-30'] },
  };
  const leaveOut = [...ENDS_SESSIONS.map((name) => `merchant${name}`), 'leaveTeam'];
  const headersOf = () => owner.headers();
  assertReached(await runFuzz({ ...run, requests: REQUESTS, headersOf, leaveOut }), 0.4);
  const ending = await addTestOwner('ending@fuzz.test');
  await runFuzz({ ...run, requests: REQUESTS / 10, headersOf: () => ending.headers() });
});

test(`operators: ${REQUESTS} wrong requests, answered as documented`, async () => {
  const staff = await addStaff('staff@fuzz.test');
  const run = { url: api.url, document: documentOf('operator'), known: await knownObjects() };
  const leaveOut = ENDS_SESSIONS.map((name) => `operator${name}`);
  const headersOf = () => staff.headers();
  assertReached(await runFuzz({ ...run, requests: REQUESTS, headersOf, leaveOut }), 0.4);
  const ending = await addStaff('ending-staff@fuzz.test');
  await runFuzz({ ...run, requests: REQUESTS / 10, headersOf: () => ending.headers() });
});
