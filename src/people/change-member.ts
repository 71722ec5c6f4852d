import { actorId } from '#audit/audit.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { isSameLimit, type Limit, limitFrom, storedShopSum } from '#core/shop-limit.ts';
import { staleVersion } from '#core/stale-version.ts';
import { sumText } from '#core/sums.ts';
import type { Tx } from '#db/database.ts';
import { factorNotFresh } from '#people/fresh-factor.ts';
import { endInvitationsOf } from '#people/invite.ts';
import {
  deleteMembership,
  lockMembers,
  type MemberRow,
  rightsAfter,
} from '#people/membership-queries.ts';
import { checkLimitIsSet } from '#people/pin-rules.ts';
import { noteOwners, recordOwners, recordTeam, type TeamRef } from '#people/record-team-changes.ts';
import type { Role } from '#people/role-order.ts';

export function findMember(
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

export interface MemberChange {
  readonly userId: string;
  readonly version: number;
  /** An undefined field leaves the member's value unchanged. */
  readonly role: Role | undefined;
  /** `null`: only the account's daily limit. */
  readonly refundLimit: Limit | null | undefined;
  readonly mayDiscount: boolean | undefined;
}

function rightsOf(member: MemberRow) {
  const { email, role, refund_limit, may_discount } = member;
  const inShop = limitOf(member)?.inShop ?? null;
  const refund_limit_presentment = inShop === null ? null : { ...inShop };
  return {
    email,
    role,
    refund_limit: refund_limit === null ? null : Number(refund_limit),
    refund_limit_presentment,
    may_discount,
  };
}

function limitOf({ refund_limit, refund_limit_presentment }: MemberRow): Limit | null {
  return refund_limit === null ? null : limitFrom(refund_limit, refund_limit_presentment);
}

function isSame(one: Limit | null, other: Limit | null): boolean {
  return one === null || other === null ? one === other : isSameLimit(one, other);
}

function describeRights(member: MemberRow): string {
  const { email, may_discount } = member;
  const limit = limitOf(member);
  const discounts = may_discount ? 'may give discounts' : 'may not give discounts';
  if (limit === null) return `${email} may refund any sale at a till, and ${discounts}.`;
  const { atoms, inShop } = limit;
  const sum = sumText(BigInt(inShop?.amount ?? atoms), inShop?.currency ?? null, 'en');
  return `${email} may refund ${sum} of a sale at a till, and ${discounts}.`;
}

export async function changeMember(
  tx: Tx,
  ref: TeamRef,
  change: MemberChange,
): Promise<MemberRow | Refusal> {
  const members = await lockMembers(tx, ref.accountId);
  const target = findMember(members, change.userId);
  if (isRefusal(target)) return target;
  const { member } = target;
  if (member.version !== change.version) return staleVersion(member.version);
  const { role = member.role } = change;
  const byRole = { ...member, ...rightsAfter(member, role), role };
  const { mayDiscount: may_discount = byRole.may_discount } = change;
  const limit = change.refundLimit === undefined ? limitOf(byRole) : change.refundLimit;
  const limits = {
    refund_limit: limit?.atoms ?? null,
    refund_limit_presentment: limit === null ? null : storedShopSum(limit),
  };
  const changed = { ...byRole, ...limits, may_discount };
  const unlimited = checkLimitIsSet(role, change.refundLimit);
  if (unlimited !== null) return unlimited;
  if (target.isLastOwner && role !== 'owner') return lastOwner();
  const isSameRole = member.role === role;
  const kind =
    isSameRole || (role !== 'owner' && member.role !== 'owner')
      ? null
      : role === 'owner'
        ? 'promoted'
        : 'demoted';
  if (kind !== null && !ref.factorIsFresh) return factorNotFresh();
  const sameRights = isSame(limitOf(member), limit) && member.may_discount === may_discount;
  if (isSameRole && sameRights) return member;
  await updateMember(tx, ref.accountId, changed);
  const { email } = member;
  if (kind === 'demoted') await endInvitationsOf(tx, ref, change.userId);
  if (kind !== null) await noteOwners(tx, ref, { kind, email, before: members });
  const record = kind === null ? recordTeam : recordOwners;
  await record(tx, ref, {
    action: isSameRole ? 'member.rights_changed' : 'member.role_changed',
    objectId: change.userId,
    before: sameRights ? { email, role: member.role } : rightsOf(member),
    after: sameRights ? { email, role } : rightsOf(changed),
    ...(isSameRole ? { detail: describeRights(changed) } : {}),
  });
  return { ...changed, version: member.version + 1 };
}

async function updateMember(tx: Tx, accountId: string, changed: MemberRow): Promise<void> {
  const { refund_limit_presentment: inShop } = changed;
  await tx.query(
    `update memberships set role = $3, refund_limit = $4, may_discount = $5,
       refund_limit_presentment = $6::text::jsonb, version = version + 1
     where account_id = $1 and user_id = $2`,
    [
      ...[accountId, changed.user_id, changed.role, changed.refund_limit, changed.may_discount],
      inShop === null ? null : JSON.stringify(inShop),
    ],
  );
}

/**
 * Removes a person from the team; their next request has no rights in the account. If `userId` is
 * the actor, the person leaves the team.
 */
export async function removeMember(tx: Tx, ref: TeamRef, userId: string): Promise<null | Refusal> {
  const members = await lockMembers(tx, ref.accountId);
  const member = findMember(members, userId);
  if (isRefusal(member)) return member;
  if (member.isLastOwner) return lastOwner();
  const { email, role } = member.member;
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
