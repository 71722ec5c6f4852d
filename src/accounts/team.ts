import type { Actor } from '#accounts/actor.ts';
import { actorId } from '#accounts/actor.ts';
import { recordChange } from '#accounts/audit.ts';
import { takeInvitationAttempts } from '#accounts/invitation-limits.ts';
import {
  type InvitationRow,
  replaceInvitation,
  revokeInvitation,
  revokeInvitationsBy,
} from '#accounts/invitation-queries.ts';
import { queueMail } from '#accounts/mail.ts';
import { accountInMail } from '#accounts/mail-words.ts';
import {
  deleteMembership,
  lockMembers,
  type MemberRow,
  updateRole,
} from '#accounts/membership-queries.ts';
import { readEmail } from '#accounts/names.ts';
import { noteOwnerChange } from '#accounts/owner-changes.ts';
import type { OwnerChangeKind } from '#accounts/payout-hold-queries.ts';
import { MAIL_TOPIC, type PeopleDeps } from '#accounts/people.ts';
import type { Role } from '#accounts/roles.ts';
import { factorNotFresh } from '#accounts/sessions.ts';
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
  readonly accountName: string;
  readonly actor: Actor;
  /** Whether the actor proved a second factor a moment ago: owners are not changed without. */
  readonly factorIsFresh: boolean;
  readonly people: PeopleDeps;
  readonly now: Date;
}

function invitationText(ref: TeamRef, role: Role, url: string): string {
  const { actor } = ref;
  const who = actor.type === 'system' ? actor.name : actor.email;
  return (
    `${who} invites you to join ${accountInMail(ref.accountName)} on Tapline as ${role}. ` +
    `Open this link:\n\n${url}\n\n` +
    'It is valid for 7 days and works once. If you do not know the sender, ignore this mail.\n'
  );
}

/** Writes a change of owners down; `before` are the members as they were. */
async function noteOwners(
  tx: Tx,
  ref: TeamRef,
  of: {
    readonly kind: OwnerChangeKind;
    readonly email: string;
    readonly before: readonly MemberRow[];
  },
): Promise<void> {
  const owners = of.before.filter((row) => row.role === 'owner').map((row) => row.email);
  const { kind, email } = of;
  // Nobody is told of an invitation as an owner before it is accepted.
  const told = kind === 'invited' ? owners : [...owners, email];
  await noteOwnerChange(tx, ref.people, { ...ref, kind, email, owners: told });
}

/** Invites by e-mail; a second invitation to the same address replaces the first. */
export async function inviteMember(
  ref: TeamRef,
  input: { readonly email: string; readonly role: Role },
): Promise<InvitationRow | Refusal> {
  const { accountId, actor, now, people } = ref;
  const email = readEmail(input.email);
  if (isRefusal(email)) return email;
  if (input.role === 'owner' && !ref.factorIsFresh) return factorNotFresh();
  const tooMany = await takeInvitationAttempts(people.db, {
    accountId,
    inviter: actorId(actor),
    email,
    now,
  });
  if (tooMany !== null) return tooMany;
  const token = newSecret('invitation');
  const result = await people.db.transaction<InvitationRow | Refusal>(async (tx) => {
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
    const url = `${people.webUrl}/dashboard/invitation#token=${token}`;
    const text = invitationText(ref, input.role, url);
    // Nothing that the sender chose: the subject is what a stranger reads first.
    const subject = 'You are invited to a team on Tapline';
    await queueMail(tx, people.secretKey, { to: email, subject, text, now });
    const row = only(rows, 'invitation');
    if (input.role === 'owner') {
      await noteOwners(tx, ref, { kind: 'invited', email, before: members });
    }
    await recordTeam(tx, ref, {
      action: 'invitation.created',
      objectId: row.id,
      before: null,
      after: { email, role: row.role },
    });
    return row;
  });
  people.wakeups.send(MAIL_TOPIC);
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
  const members = await lockMembers(tx, ref.accountId);
  const found = findMember(members, change.userId);
  if (isRefusal(found)) return found;
  const { member } = found;
  if (member.version !== change.version) return staleVersion(member.version);
  if (found.isLastOwner && change.role !== 'owner') return lastOwner();
  const kind = change.role === 'owner' ? 'promoted' : member.role === 'owner' ? 'demoted' : null;
  if (kind !== null && !ref.factorIsFresh) return factorNotFresh();
  if (member.role === change.role) return member;
  await updateRole(tx, { accountId: ref.accountId, ...change });
  const { email } = member;
  if (kind === 'demoted') await endInvitationsOf(tx, ref, change.userId);
  if (kind !== null) await noteOwners(tx, ref, { kind, email, before: members });
  await recordTeam(tx, ref, {
    action: 'member.role_changed',
    objectId: change.userId,
    before: { email, role: member.role },
    after: { email, role: change.role },
  });
  return { ...member, role: change.role, version: member.version + 1 };
}

/** Who may not invite any more leaves no door open: what that person sent is void. */
async function endInvitationsOf(tx: Tx, ref: TeamRef, userId: string): Promise<void> {
  await revokeInvitationsBy(tx, { accountId: ref.accountId, userId, now: ref.now });
}

/**
 * Takes a person out of the team; the rights end with the next request. `userId` may be the actor:
 * then the person leaves.
 */
export async function removeMember(tx: Tx, ref: TeamRef, userId: string): Promise<null | Refusal> {
  const members = await lockMembers(tx, ref.accountId);
  const found = findMember(members, userId);
  if (isRefusal(found)) return found;
  if (found.isLastOwner) return lastOwner();
  const { email, role } = found.member;
  if (role === 'owner' && !ref.factorIsFresh) return factorNotFresh();
  await deleteMembership(tx, { accountId: ref.accountId, userId });
  if (role === 'owner') {
    await endInvitationsOf(tx, ref, userId);
    const kind = userId === actorId(ref.actor) ? 'left' : 'removed';
    await noteOwners(tx, ref, { kind, email, before: members });
  }
  const before = { email, role };
  await recordTeam(tx, ref, { action: 'member.removed', objectId: userId, before, after: null });
  return null;
}
