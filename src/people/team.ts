import { actorId } from '#audit/audit.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { staleVersion } from '#core/stale-version.ts';
import type { Tx } from '#db/database.ts';
import { endInvitationsOf } from '#people/invite.ts';
import {
  deleteMembership,
  lockMembers,
  type MemberRow,
  updateRole,
} from '#people/membership-queries.ts';
import type { Role } from '#people/roles.ts';
import { factorNotFresh } from '#people/sessions.ts';
import { noteOwners, recordOwners, recordTeam, type TeamRef } from '#people/team-changes.ts';

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
  return refuse(
    'unexpected_state',
    'The account needs an owner. Make another member an owner first.',
  );
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
  const record = kind === null ? recordTeam : recordOwners;
  await record(tx, ref, {
    action: 'member.role_changed',
    objectId: change.userId,
    before: { email, role: member.role },
    after: { email, role: change.role },
  });
  return { ...member, role: change.role, version: member.version + 1 };
}

/**
 * Removes a person from the team. The rights end with the next request. If `userId` is the actor,
 * the person leaves.
 */
export async function removeMember(tx: Tx, ref: TeamRef, userId: string): Promise<null | Refusal> {
  const members = await lockMembers(tx, ref.accountId);
  const found = findMember(members, userId);
  if (isRefusal(found)) return found;
  if (found.isLastOwner) return lastOwner();
  const { email, role } = found.member;
  if (role === 'owner' && !ref.factorIsFresh) return factorNotFresh();
  await deleteMembership(tx, { accountId: ref.accountId, userId });
  const isOwner = role === 'owner';
  if (isOwner) {
    await endInvitationsOf(tx, ref, userId);
    const kind = userId === actorId(ref.actor) ? 'left' : 'removed';
    await noteOwners(tx, ref, { kind, email, before: members });
  }
  const before = { email, role };
  const record = isOwner ? recordOwners : recordTeam;
  await record(tx, ref, { action: 'member.removed', objectId: userId, before, after: null });
  return null;
}
