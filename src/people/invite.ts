import { actorId } from '#audit/audit.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { hashSecret, newSecret } from '#core/bearer-secrets.ts';
import { addMs } from '#core/clock.ts';
import { DAY_MS, HOUR_MS } from '#core/durations.ts';
import { newId } from '#core/ids.ts';
import { readEmail } from '#core/name-rules.ts';
import type { Sql, Tx } from '#db/database.ts';
import { accountInMail } from '#people/account-name-in-mail.ts';
import type { Allowance } from '#people/attempt-limits.ts';
import { emailBucket, takeAttempt } from '#people/attempt-limits.ts';
import { factorNotFresh } from '#people/fresh-factor.ts';
import {
  type InvitationRow,
  type InvitedTo,
  replaceInvitation,
  revokeInvitation,
  revokeInvitationsBy,
} from '#people/invitation-queries.ts';
import { queueMail } from '#people/mail-outbox.ts';
import { lockMembers } from '#people/membership-queries.ts';
import { noteOwners, recordOwners, recordTeam, type TeamRef } from '#people/record-team-changes.ts';
import type { Role } from '#people/role-order.ts';

const MAX_MEMBERS = 200;

/** Invites a person by mail. A second invitation to the same address replaces the first. */
export async function inviteMember(
  ref: TeamRef,
  input: { readonly email: string; readonly role: Role },
): Promise<InvitationRow | Refusal> {
  const { accountId, actor, now, people } = ref;
  const email = readEmail(input.email);
  if (isRefusal(email)) return email;
  if (input.role === 'owner' && !ref.factorIsFresh) return factorNotFresh();
  const tooMany = await takeInvitationAttempts(people.db, {
    to: accountId,
    inviter: actorId(actor),
    email,
    now,
  });
  if (tooMany !== null) return tooMany;
  const result = await people.db.transaction<InvitationRow | Refusal>(async (tx) => {
    const members = await lockMembers(tx, accountId);
    if (members.some((member) => member.email === email)) {
      return refuse('already_exists', 'This person is already on the team.', 'email');
    }
    if (members.length >= MAX_MEMBERS) {
      return refuse('unexpected_state', `A team can have at most ${MAX_MEMBERS} members.`);
    }
    const invited = { to: { accountId }, name: accountInMail(ref.accountName), email };
    const row = await sendInvitation(tx, ref, { ...invited, role: input.role });
    if (input.role === 'owner') {
      await noteOwners(tx, ref, { kind: 'invited', email, before: members });
    }
    const record = input.role === 'owner' ? recordOwners : recordTeam;
    await record(tx, ref, {
      action: 'invitation.created',
      objectId: row.id,
      before: null,
      after: { email, role: row.role },
    });
    return row;
  });
  return result;
}

export async function withdrawInvitation(
  tx: Tx,
  ref: TeamRef,
  id: string,
): Promise<null | Refusal> {
  const row = await revokeInvitation(tx, { to: ref, id, now: ref.now });
  if (row === undefined) return resourceMissing('invitation');
  const before = { email: row.email, role: row.role };
  await recordTeam(tx, ref, { action: 'invitation.revoked', objectId: id, before, after: null });
  return null;
}

/** Revokes the open invitations from a person who may no longer invite. */
export async function endInvitationsOf(tx: Tx, ref: TeamRef, userId: string): Promise<void> {
  await revokeInvitationsBy(tx, { to: ref, userId, now: ref.now });
}

/** Invitations by one person per hour. A shop hires a few people; a spammer would send hundreds. */
const PER_INVITER: Allowance = { attempts: 20, windowMs: HOUR_MS };
const PER_ACCOUNT: Allowance = { attempts: 30, windowMs: DAY_MS };
/** Invitations to one mailbox, from any account. */
const PER_MAILBOX: Allowance = { attempts: 5, windowMs: DAY_MS };
/**
 * Invitations in the whole network. More would mean an attack, and would harm our reputation with
 * mail servers.
 */
const PER_DAY: Allowance = { attempts: 5_000, windowMs: DAY_MS };

export async function takeInvitationAttempts(
  sql: Sql,
  input: {
    /** The account or organization. */
    readonly to: string;
    readonly inviter: string;
    readonly email: string;
    readonly now: Date;
  },
): Promise<Refusal | null> {
  const { now } = input;
  const counts: [string, Allowance][] = [
    [`invitations by ${input.inviter}`, PER_INVITER],
    [`invitations of ${input.to}`, PER_ACCOUNT],
    [emailBucket('invitations to', 'merchant', input.email), PER_MAILBOX],
    ['invitations in all', PER_DAY],
  ];
  for (const [bucket, allowance] of counts) {
    const tooMany = await takeAttempt(sql, bucket, { allowance, now });
    if (tooMany !== null) return tooMany;
  }
  return null;
}

const INVITATION_MS = 7 * DAY_MS;

type Inviting = Pick<TeamRef, 'actor' | 'now' | 'people'>;

interface Invited {
  readonly to: InvitedTo;
  /** The name of the account or organization, as mails write it. */
  readonly name: string;
  readonly email: string;
  readonly role: Role;
}

function invitationText({ actor }: Inviting, { name, role }: Invited, url: string): string {
  const who = actor.type === 'system' ? actor.name : actor.email;
  return (
    `${who} invites you to join ${name} on Tapline as ${role}. ` +
    `Open this link:\n\n${url}\n\n` +
    'It is valid for 7 days and works once. If you do not know the sender, ignore this email.\n'
  );
}

/**
 * Stores the invitation and queues the mail with its link. An earlier invitation to the address
 * becomes invalid.
 */
export async function sendInvitation(
  tx: Tx,
  inviting: Inviting,
  invited: Invited,
): Promise<InvitationRow> {
  const { actor, now, people } = inviting;
  const { to, email, role } = invited;
  const token = newSecret('invitation');
  const row = await replaceInvitation(tx, to, {
    id: newId('invitation', now),
    email,
    role,
    hash: hashSecret(token),
    invited_by: actorId(actor),
    created: now,
    expires_at: addMs(now, INVITATION_MS),
  });
  const url = `${people.webUrl}/dashboard/invitation#token=${token}`;
  const text = invitationText(inviting, invited, url);
  // The subject contains no text that the inviter chose, because strangers read it first.
  const subject = 'You have been invited to a team on Tapline';
  const buttons = [{ url, name: 'See the invitation' }];
  await queueMail(tx, people.secretKey, { to: email, subject, text, buttons, now });
  return row;
}
