import type { Actor } from '#audit/audit.ts';
import { recordEntry } from '#audit/audit.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { hashSecret } from '#core/bearer-secrets.ts';
import type { Tx } from '#db/database.ts';
import { Abandon } from '#db/database.ts';
import { accountInMail } from '#people/account-name-in-mail.ts';
import { addUser, readPerson } from '#people/add-user.ts';
import { linkRefused } from '#people/email-links.ts';
import { noteOwnerChange } from '#people/hold-after-owner-change.ts';
import { type NamedInvitation, takeInvitation } from '#people/invitation-queries.ts';
import { insertMembership, isLive, selectOwnerEmails } from '#people/membership-queries.ts';
import { joinOrganization, type OrganizationRef } from '#people/organizations.ts';
import type { PeopleDeps, Visit } from '#people/people-context.ts';
import { mailChange } from '#people/person-links.ts';
import { readInvitation } from '#people/read-invitation.ts';
import { type OpenedSession, openSession } from '#people/sessions.ts';
import { selectUser, type UserRow } from '#people/user-queries.ts';

export interface Accepted {
  readonly invitation: NamedInvitation;
  readonly user: UserRow;
  readonly session: OpenedSession | null;
}

function signInFirst(): Refusal {
  return refuse('session_missing', 'Sign in with the invited address first.');
}

async function joinAsKnown(
  deps: PeopleDeps,
  input: Acceptance,
  userId: string,
): Promise<Accepted | Refusal> {
  const { now } = input.visit;
  return deps.db.transaction<Accepted | Refusal>(async (tx) => {
    const invitation = await takeInvitation(tx, { hash: hashSecret(input.token), now });
    if (invitation === undefined) return linkRefused();
    await join(tx, deps, { invitation, userId, input });
    return { invitation, user: present(await selectUser(tx, userId), 'user'), session: null };
  });
}

async function joinAsNew(
  deps: PeopleDeps,
  input: Acceptance,
  email: string,
): Promise<Accepted | Refusal> {
  const { name, password, visit } = input;
  if (name === null || password === null) {
    const missing = name === null ? 'name' : 'password';
    return refuse('parameter_missing', `${missing} is required.`, missing);
  }
  const person = await readPerson({ email, name, password }, 'link');
  if (isRefusal(person)) return person;
  const { now } = visit;
  return deps.db.transaction<Accepted | Refusal>(async (tx) => {
    const invitation = await takeInvitation(tx, { hash: hashSecret(input.token), now });
    if (invitation === undefined) return linkRefused();
    const at = { realm: 'merchant', now } as const;
    const userId = await addUser(tx, { ...person, email: invitation.email }, at);
    // A user with this address was created after the look-up. The link stays valid for that user.
    if (isRefusal(userId)) return new Abandon<Accepted | Refusal>(signInFirst());
    await join(tx, deps, { invitation, userId, input });
    const opening = {
      userId,
      realm: 'merchant',
      level: 'full',
      secondFactorAt: null,
      visit,
    } as const;
    const session = await openSession(tx, opening);
    return { invitation, user: present(await selectUser(tx, userId), 'user'), session };
  });
}

/**
 * Adds an invited person to the team. A person who already has a user must be signed in as that
 * user; for others, the link verifies the address, and the name and password create the user. The
 * link is checked before any slow work, such as hashing the password.
 */
export async function acceptInvitation(
  deps: PeopleDeps,
  input: Acceptance,
): Promise<Accepted | Refusal> {
  const invitation = await readInvitation(deps, input.token, input.visit);
  if (isRefusal(invitation)) return invitation;
  const { user } = invitation;
  if (user !== undefined && user.id !== input.signedInAs) return signInFirst();
  const joined =
    user === undefined
      ? await joinAsNew(deps, input, invitation.invitation.email)
      : await joinAsKnown(deps, input, user.id);
  return joined;
}

interface Acceptance {
  readonly token: string;
  /** The signed-in user, if any. */
  readonly signedInAs: string | null;
  /** The name of a person who has no user yet. */
  readonly name: string | null;
  readonly password: string | null;
  readonly requestId: string;
  readonly visit: Visit;
}

async function join(
  tx: Tx,
  people: PeopleDeps,
  joining: {
    readonly invitation: NamedInvitation;
    readonly userId: string;
    readonly input: Acceptance;
  },
): Promise<void> {
  const { invitation, userId, input } = joining;
  const { now, address } = input.visit;
  const { account_id: accountId, organization_id: organizationId, email } = invitation;
  const actor: Actor = { type: 'user', userId, email, requestId: input.requestId, address };
  if (organizationId !== null) {
    const mail = mailJoined(people, { userId, email, now });
    const ref = { organizationId, actor, people, now, factorIsFresh: true, mailChange: mail };
    await joinOrganization(tx, ref, { userId, email, role: invitation.role });
  }
  if (accountId === null) return;
  const added = await insertMembership(tx, { accountId, userId, role: invitation.role, now });
  if (!added) return;
  if (invitation.role === 'owner') {
    const owners = await selectOwnerEmails(tx, accountId);
    const change = {
      accountId,
      accountName: invitation.account_name,
      kind: 'joined',
      email,
    } as const;
    await noteOwnerChange(tx, people, { ...change, owners, actor, now });
  }
  await recordEntry(tx, {
    auditLog: accountId,
    actor,
    action: 'member.joined',
    objectId: userId,
    livemode: null,
    before: null,
    after: { email, role: invitation.role, invited_by: invitation.invited_by },
    now,
  });
}

/**
 * Returns a function that mails a live account's owners about a person who joins by an invitation
 * to the organization. The account may have joined, or gone live, after the invitation was sent.
 */
function mailJoined(
  people: PeopleDeps,
  joining: { readonly userId: string; readonly email: string; readonly now: Date },
): OrganizationRef['mailChange'] {
  const { userId, email, now } = joining;
  return async (tx, { id: accountId, name }, detail) => {
    if (!(await isLive(tx, accountId))) return;
    await mailChange(tx, people, {
      ...{ userId, accountId, now },
      what: `${email} joined the organization of ${accountInMail(name)}. ${detail}`,
      subject: 'Access to your Tapline account changed',
      to: await selectOwnerEmails(tx, accountId),
    });
  };
}
