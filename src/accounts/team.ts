import type { Actor } from '#accounts/actor.ts';
import { actorId } from '#accounts/actor.ts';
import { MAILS_PER_MAILBOX, takeAttempt } from '#accounts/attempts.ts';
import { recordChange } from '#accounts/audit.ts';
import {
  type InvitationRow,
  replaceInvitation,
  revokeInvitation,
} from '#accounts/invitation-queries.ts';
import { queueMail } from '#accounts/mail.ts';
import {
  deleteMembership,
  lockMembers,
  type MemberRow,
  updateRole,
} from '#accounts/membership-queries.ts';
import { readEmail } from '#accounts/names.ts';
import { MAIL_TOPIC, type PeopleDeps } from '#accounts/people.ts';
import type { Role } from '#accounts/roles.ts';
import { staleVersion } from '#accounts/versions.ts';
import { only } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/refusal.ts';
import { hashSecret, newSecret } from '#core/secrets.ts';
import type { Tx } from '#db/database.ts';

const INVITATION_MS = 7 * 24 * 3_600_000;
const MAX_MEMBERS = 200;

export interface TeamRef {
  readonly accountId: string;
  readonly actor: Actor;
  readonly now: Date;
}

function invitationText(accountName: string, role: Role, url: string): string {
  return (
    `You are invited to join ${accountName} on Tapline as ${role}. Open this link:\n\n${url}\n\n` +
    'It is valid for 7 days and works once. If you do not know the sender, ignore this mail.\n'
  );
}

/** Invites by e-mail; a second invitation to the same address replaces the first. */
export async function inviteMember(
  deps: PeopleDeps,
  ref: TeamRef & { readonly accountName: string },
  input: { readonly email: string; readonly role: Role },
): Promise<InvitationRow | Refusal> {
  const { accountId, actor, now } = ref;
  const email = readEmail(input.email);
  if (isRefusal(email)) return email;
  const bucket = `invitations ${accountId} ${email}`;
  const tooMany = await takeAttempt(deps.db, bucket, { allowance: MAILS_PER_MAILBOX, now });
  if (tooMany !== null) return tooMany;
  const token = newSecret('invitation');
  const result = await deps.db.transaction<InvitationRow | Refusal>(async (tx) => {
    const members = await lockMembers(tx, accountId);
    if (members.some((member) => member.email === email)) {
      return refuse('already_exists', 'This person is in the team already.', 'email');
    }
    if (members.length >= MAX_MEMBERS) {
      return refuse('unexpected_state', `A team has at most ${MAX_MEMBERS} members.`);
    }
    const rows = await replaceInvitation(tx, {
      id: newId('invitation', now),
      accountId,
      email,
      role: input.role,
      hash: hashSecret(token),
      invitedBy: actorId(actor),
      now,
      expiresAt: addMs(now, INVITATION_MS),
    });
    const url = `${deps.webUrl}/dashboard/invitation#token=${token}`;
    const text = invitationText(ref.accountName, input.role, url);
    const subject = `Join ${ref.accountName} on Tapline`;
    await queueMail(tx, deps.secretKey, { to: email, subject, text, now });
    const row = only(rows, 'invitation');
    await recordTeam(tx, ref, {
      action: 'invitation.created',
      objectId: row.id,
      before: null,
      after: { email, role: row.role },
    });
    return row;
  });
  deps.wakeups.send(MAIL_TOPIC);
  return result;
}

async function recordTeam(
  tx: Tx,
  ref: TeamRef,
  change: {
    readonly action: string;
    readonly objectId: string;
    readonly before: { readonly email: string; readonly role: Role } | null;
    readonly after: { readonly email: string; readonly role: Role } | null;
  },
): Promise<void> {
  const { accountId: chain, actor, now } = ref;
  await recordChange(tx, { ...change, chain, actor, livemode: null, now });
}

export async function withdrawInvitation(
  tx: Tx,
  ref: TeamRef,
  id: string,
): Promise<null | Refusal> {
  const row = await revokeInvitation(tx, { accountId: ref.accountId, id, now: ref.now });
  if (row === undefined) return resourceMissing('invitation');
  const before = { email: row.email, role: row.role };
  await recordTeam(tx, ref, { action: 'invitation.revoked', objectId: id, before, after: null });
  return null;
}

function findMember(
  members: readonly MemberRow[],
  userId: string,
): { readonly member: MemberRow; readonly isLastOwner: boolean } | Refusal {
  const member = members.find((row) => row.user_id === userId);
  if (member === undefined) return resourceMissing('member');
  const owners = members.filter((row) => row.role === 'owner').length;
  return { member, isLastOwner: member.role === 'owner' && owners === 1 };
}

function lastOwner(): Refusal {
  return refuse('unexpected_state', 'The account needs an owner: make somebody else owner first.');
}

export async function changeRole(
  tx: Tx,
  ref: TeamRef,
  change: { readonly userId: string; readonly role: Role; readonly version: number },
): Promise<MemberRow | Refusal> {
  const found = findMember(await lockMembers(tx, ref.accountId), change.userId);
  if (isRefusal(found)) return found;
  const { member } = found;
  if (member.version !== change.version) return staleVersion(member.version);
  if (found.isLastOwner && change.role !== 'owner') return lastOwner();
  if (member.role === change.role) return member;
  await updateRole(tx, { accountId: ref.accountId, ...change });
  const { email } = member;
  await recordTeam(tx, ref, {
    action: 'member.role_changed',
    objectId: change.userId,
    before: { email, role: member.role },
    after: { email, role: change.role },
  });
  return { ...member, role: change.role, version: member.version + 1 };
}

/** Takes a person out of the team; the rights end with the next request. */
export async function removeMember(tx: Tx, ref: TeamRef, userId: string): Promise<null | Refusal> {
  const found = findMember(await lockMembers(tx, ref.accountId), userId);
  if (isRefusal(found)) return found;
  if (found.isLastOwner) return lastOwner();
  await deleteMembership(tx, { accountId: ref.accountId, userId });
  const { email, role } = found.member;
  const before = { email, role };
  await recordTeam(tx, ref, { action: 'member.removed', objectId: userId, before, after: null });
  return null;
}
