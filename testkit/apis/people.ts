import assert from 'node:assert/strict';
import { Secret, TOTP } from 'otpauth';
import { createAccountWithOwner } from '#accounts/create-account.ts';
import { isRefusal } from '#core/answer.ts';
import type { Clock } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import { createOperator } from '#people/create-operator.ts';
import type { Mail } from '#people/mail-outbox.ts';
import { insertMembership } from '#people/membership-queries.ts';
import type { Role } from '#people/role-order.ts';
import type { StaffRole } from '#people/user-queries.ts';
import type { PeopleServer } from '#testkit/apis/people-server.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { accepted } from '#testkit/fixtures/core/accepted.ts';

export const PASSWORD = 'correct horse battery';
const actor = { type: 'system', name: 'test' } as const;

/** Adds a person, who owns a new account. */
export async function addOwner(
  server: { readonly db: Database; readonly clock: Clock },
  email: string,
): Promise<{ readonly accountId: string; readonly userId: string }> {
  const owner = { email, password: PASSWORD, name: 'Some One' };
  const input = { accountName: 'Some Shop', owner, actor, now: server.clock.now() };
  const made = await createAccountWithOwner(server.db, input);
  assert.ok(!isRefusal(made), JSON.stringify(made));
  return made;
}

/** Gives a person a role in another account. */
export async function addMember(
  server: { readonly db: Database; readonly clock: Clock },
  made: { readonly email: string; readonly accountId: string; readonly role: Role },
): Promise<string> {
  const { userId } = await addOwner(server, made.email);
  const { accountId, role } = made;
  const now = server.clock.now();
  await server.db.transaction((tx) => insertMembership(tx, { accountId, userId, role, now }));
  return userId;
}

export async function signInAs(server: PeopleServer, email: string): Promise<PersonClient> {
  const client = new PersonClient(server.dashboard);
  const answer = await client.post('/session', { email, password: PASSWORD });
  assert.equal(answer.status, 200, answer.text);
  return client;
}

/** Sets up an authenticator app. The session has then just verified it. */
export async function addTotp(server: PeopleServer, client: PersonClient, password = PASSWORD) {
  const begun = await client.post('/me/totp', { current_password: password });
  assert.equal(begun.status, 200, begun.text);
  const totp = new TOTP({ secret: Secret.fromBase32(String(begun.body.secret)) });
  const code = () => totp.generate({ timestamp: server.clock.now().getTime() });
  const confirmed = await client.post('/me/totp/confirm', { code: code() });
  assert.equal(confirmed.status, 200, confirmed.text);
  const prove = async () => {
    server.clock.advance(30_000);
    const answer = await client.post('/session/second_factor', { code: code() });
    assert.equal(answer.status, 200, answer.text);
  };
  return { code, prove, recoveryCodes: confirmed.body.recovery_codes as string[] };
}

/** Adds a person to the network's staff, and signs in with a second factor. */
export async function addStaff(
  server: PeopleServer,
  email: string,
  { role = 'operator', hasFactor = true }: { readonly role?: StaffRole; hasFactor?: boolean } = {},
): Promise<{ readonly id: string; readonly client: PersonClient }> {
  const person = { email, password: PASSWORD, name: email };
  const now = server.clock.now();
  const made = accepted(await createOperator(server.db, { person, role, actor, now }));
  const client = new PersonClient(server.operator);
  const answer = await client.post('/session', { email, password: PASSWORD });
  assert.equal(answer.status, 200, answer.text);
  if (hasFactor) await addTotp(server, client);
  return { id: made.userId, client };
}

/** Returns the newest link of this kind that was mailed to an address. */
export async function mailedUrl(
  server: PeopleServer,
  to: string,
  pattern: RegExp,
): Promise<string> {
  await server.sendMails();
  const texts = server.mails.filter((mail) => mail.to === to).map((mail) => mail.text);
  const result = texts.findLast((text) => pattern.test(text));
  assert.ok(result, `a mail to ${to} with ${pattern}`);
  return pattern.exec(result)?.[0] ?? '';
}

/** Returns the mails to this address that have a link to stop what they report, oldest first. */
export async function stoppableMails(server: PeopleServer, to: string): Promise<readonly Mail[]> {
  await server.sendMails();
  return server.mails.filter((mail) => mail.to === to && mail.text.includes('/by-mail/'));
}

/** Returns the first lines of the mails that {@link stoppableMails} returns. */
export async function stoppableNews(server: PeopleServer, to: string): Promise<readonly string[]> {
  return (await stoppableMails(server, to)).map(({ text }) => text.split('\n')[0] ?? '');
}

/**
 * Sets up the factor as {@link addTotp} does, but on a service that uses the real clock.
 * @returns the authenticator app's secret
 */
export async function addFactorNow(client: PersonClient, password: string): Promise<string> {
  const begun = await client.post('/me/totp', { current_password: password });
  const secret = String(begun.body.secret);
  const confirmed = await client.post('/me/totp/confirm', { code: totpCode(secret) });
  assert.equal(confirmed.status, 200, `${begun.text} ${confirmed.text}`);
  return secret;
}

export function totpCode(secret: string): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate();
}
