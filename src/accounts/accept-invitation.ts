import { selectAccount } from '#accounts/account-queries.ts';
import type { Actor } from '#accounts/actor.ts';
import { recordChange } from '#accounts/audit.ts';
import { addUser } from '#accounts/create-account.ts';
import { linkRefused } from '#accounts/email-links.ts';
import { findByLink } from '#accounts/find-by-link.ts';
import {
  type InvitationRow,
  selectInvitationByHash,
  takeInvitation,
} from '#accounts/invitation-queries.ts';
import { insertMembership, selectOwnerEmails } from '#accounts/membership-queries.ts';
import { readName } from '#accounts/names.ts';
import { noteOwnerChange } from '#accounts/owner-changes.ts';
import { checkPassword, hashPassword } from '#accounts/passwords.ts';
import { MAIL_TOPIC, type PeopleDeps, type Visit } from '#accounts/people.ts';
import { type OpenedSession, openSession } from '#accounts/sessions.ts';
import { selectUser, selectUserByEmail, type UserRow } from '#accounts/user-queries.ts';
import { present } from '#core/assert.ts';
import { isRefusal, type Refusal, refuse } from '#core/refusal.ts';
import { hashSecret, isSecret } from '#core/secrets.ts';
import { Abandon, type Tx } from '#db/database.ts';

export interface Acceptance {
  readonly token: string;
  /** Who is signed in, if anybody. */
  readonly signedInAs: string | null;
  /** For a person who has no user yet. */
  readonly name: string | null;
  readonly password: string | null;
  readonly requestId: string;
  readonly visit: Visit;
}

export interface Accepted {
  readonly invitation: InvitationRow;
  readonly user: UserRow;
  /** null for somebody who was signed in already. */
  readonly session: OpenedSession | null;
}

/** What the link is about. Whoever has the link has the mailbox; tries are counted per address. */
export async function readInvitation(
  deps: PeopleDeps,
  token: string,
  visit: Pick<Visit, 'address' | 'now'>,
) {
  const row = await findByLink(deps.db, { visit, isLink: isSecret('invitation', token) }, () =>
    selectInvitationByHash(deps.db, { hash: hashSecret(token), now: visit.now }),
  );
  if (isRefusal(row)) return row;
  const user = await selectUserByEmail(deps.db, { realm: 'merchant', email: row.email });
  return { invitation: row, user };
}

async function join(
  tx: Tx,
  people: PeopleDeps,
  of: { readonly invitation: InvitationRow; readonly userId: string; readonly input: Acceptance },
): Promise<void> {
  const { invitation, userId, input } = of;
  const { now, address } = input.visit;
  const accountId = invitation.account_id;
  const added = await insertMembership(tx, { accountId, userId, role: invitation.role, now });
  if (!added) return;
  const { email } = invitation;
  const actor: Actor = { type: 'user', userId, email, requestId: input.requestId, address };
  if (invitation.role === 'owner') {
    const account = present(await selectAccount(tx, accountId), 'account');
    const owners = await selectOwnerEmails(tx, accountId);
    const change = { accountId, accountName: account.name, kind: 'joined', email } as const;
    await noteOwnerChange(tx, people, { ...change, owners, actor, now });
  }
  await recordChange(tx, {
    chain: accountId,
    actor,
    action: 'member.joined',
    objectId: userId,
    livemode: null,
    before: null,
    after: { email, role: invitation.role, invited_by: invitation.invited_by },
    now,
  });
}

interface Checked {
  readonly name: string;
  readonly passwordHash: string;
}

/** Name and password of a person without a user; null when none were sent. */
async function readNewPerson(input: Acceptance, email: string): Promise<Checked | null | Refusal> {
  if (input.name === null || input.password === null) return null;
  const name = readName(input.name, 'name');
  if (isRefusal(name)) return name;
  const weak = checkPassword(input.password, email);
  if (weak !== null) return weak;
  const passwordHash = await hashPassword(input.password, 'link');
  return isRefusal(passwordHash) ? passwordHash : { name, passwordHash };
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
  const person = await readNewPerson(input, email);
  if (isRefusal(person)) return person;
  if (person === null) {
    const missing = input.name === null ? 'name' : 'password';
    return refuse('parameter_missing', `${missing} is required.`, missing);
  }
  const { visit } = input;
  const { now } = visit;
  return deps.db.transaction<Accepted | Refusal>(async (tx) => {
    const invitation = await takeInvitation(tx, { hash: hashSecret(input.token), now });
    if (invitation === undefined) return linkRefused();
    const at = { realm: 'merchant', now } as const;
    const userId = await addUser(tx, { email: invitation.email, ...person }, at);
    // Somebody made a user for the address in the meantime: the link stays good for that user.
    if (isRefusal(userId)) return new Abandon<Accepted | Refusal>(signInFirst());
    await join(tx, deps, { invitation, userId, input });
    const of = { userId, realm: 'merchant', level: 'full', secondFactorAt: null, visit } as const;
    const session = await openSession(tx, of);
    return { invitation, user: present(await selectUser(tx, userId), 'user'), session };
  });
}

/**
 * Joins the team. A person who has a user must be signed in as that user; for anybody else the
 * link proves the address, and name and password make the user. The link is looked up before
 * anything that takes long.
 */
export async function acceptInvitation(
  deps: PeopleDeps,
  input: Acceptance,
): Promise<Accepted | Refusal> {
  const found = await readInvitation(deps, input.token, input.visit);
  if (isRefusal(found)) return found;
  const { user } = found;
  if (user !== undefined && user.id !== input.signedInAs) return signInFirst();
  const joined =
    user === undefined
      ? await joinAsNew(deps, input, found.invitation.email)
      : await joinAsKnown(deps, input, user.id);
  deps.wakeups.send(MAIL_TOPIC);
  return joined;
}
