import type { Actor } from '#accounts/actor.ts';
import { recordChange } from '#accounts/audit.ts';
import { addUser } from '#accounts/create-account.ts';
import { linkRefused } from '#accounts/email-links.ts';
import {
  type InvitationRow,
  selectInvitationByHash,
  takeInvitation,
} from '#accounts/invitation-queries.ts';
import { insertMembership } from '#accounts/membership-queries.ts';
import { readName } from '#accounts/names.ts';
import { checkPassword, hashPassword } from '#accounts/passwords.ts';
import type { PeopleDeps, Visit } from '#accounts/people.ts';
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

/** What the link is about, for its page. Whoever has the link has the mailbox. */
export async function readInvitation(deps: PeopleDeps, token: string, now: Date) {
  if (!isSecret('invitation', token)) return linkRefused();
  const row = await selectInvitationByHash(deps.db, { hash: hashSecret(token), now });
  if (row === undefined) return linkRefused();
  const user = await selectUserByEmail(deps.db, { realm: 'merchant', email: row.email });
  return { invitation: row, hasUser: user !== undefined };
}

async function join(
  tx: Tx,
  of: { readonly invitation: InvitationRow; readonly userId: string; readonly input: Acceptance },
): Promise<void> {
  const { invitation, userId, input } = of;
  const { now, address } = input.visit;
  const accountId = invitation.account_id;
  await insertMembership(tx, { accountId, userId, role: invitation.role, now });
  const { email } = invitation;
  const actor: Actor = { type: 'user', userId, email, requestId: input.requestId, address };
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
async function readNewPerson(input: Acceptance): Promise<Checked | null | Refusal> {
  if (input.name === null || input.password === null) return null;
  const name = readName(input.name, 'name');
  if (isRefusal(name)) return name;
  const weak = checkPassword(input.password, '@');
  if (weak !== null) return weak;
  return { name, passwordHash: await hashPassword(input.password) };
}

/**
 * Joins the team. A person who has a user must be signed in as that user; for anybody else the
 * link proves the address, and name and password make the user.
 */
export async function acceptInvitation(
  deps: PeopleDeps,
  input: Acceptance,
): Promise<Accepted | Refusal> {
  if (!isSecret('invitation', input.token)) return linkRefused();
  const person = await readNewPerson(input);
  if (isRefusal(person)) return person;
  const { now } = input.visit;
  return deps.db.transaction<Accepted | Refusal>(async (tx) => {
    const invitation = await takeInvitation(tx, { hash: hashSecret(input.token), now });
    if (invitation === undefined) return linkRefused();
    const known = await selectUserByEmail(tx, { realm: 'merchant', email: invitation.email });
    if (known !== undefined) {
      if (known.id !== input.signedInAs) {
        const refusal = refuse('session_missing', 'Sign in with the invited address first.');
        return new Abandon<Accepted | Refusal>(refusal);
      }
      await join(tx, { invitation, userId: known.id, input });
      return { invitation, user: known, session: null };
    }
    if (person === null) {
      const missing = input.name === null ? 'name' : 'password';
      const refusal = refuse('parameter_missing', `${missing} is required.`, missing);
      return new Abandon<Accepted | Refusal>(refusal);
    }
    const at = { realm: 'merchant', now } as const;
    const userId = await addUser(tx, { email: invitation.email, ...person }, at);
    if (isRefusal(userId)) return new Abandon<Accepted | Refusal>(userId);
    await join(tx, { invitation, userId, input });
    const { visit } = input;
    const of = { userId, realm: 'merchant', level: 'full', secondFactorAt: null, visit } as const;
    const session = await openSession(tx, of);
    return { invitation, user: present(await selectUser(tx, userId), 'user'), session };
  });
}
