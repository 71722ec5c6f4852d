import { type Actor, actorId, recordEntry } from '#audit/audit.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import type { DayStarts } from '#core/calendar.ts';
import { newId } from '#core/ids.ts';
import { readEmail } from '#core/name-rules.ts';
import type { Sql, Tx } from '#db/database.ts';
import { LINK_LIKE } from '#people/account-name-in-mail.ts';
import { factorNotFresh } from '#people/fresh-factor.ts';
import { noteOwnerChange } from '#people/hold-after-owner-change.ts';
import { type InvitationRow, revokeInvitation } from '#people/invitation-queries.ts';
import { sendInvitation, takeInvitationAttempts } from '#people/invite.ts';
import { selectOwnerEmails } from '#people/membership-queries.ts';
import {
  type Organization,
  organizationMembers,
  organizations,
  selectOrganizationMembers,
} from '#people/organization-queries.ts';
import type { OwnerChangeKind } from '#people/owner-change-queries.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import { describeTeamChange, type TeamChange } from '#people/record-team-changes.ts';
import type { Role } from '#people/role-order.ts';

/**
 * The organization, actor and time of a change. Members have their role in all of the
 * organization's accounts, so each account's owners are notified as if the change had been made in
 * the account.
 */
export interface OrganizationRef {
  readonly organizationId: string;
  readonly actor: Actor;
  /** True if the actor verified a second factor in the last five minutes. */
  readonly factorIsFresh: boolean;
  readonly people: PeopleDeps;
  /** Mails an account's owners about a change that does not concern owners; `null` in test mode. */
  readonly mailChange: ((tx: Tx, account: OwnedAccount, detail: string) => Promise<void>) | null;
  readonly now: Date;
}

const MAX_MEMBERS = 200;

export async function selectOrganizationsOf(
  sql: Sql,
  userId: string,
): Promise<(Organization & { role: Role })[]> {
  return sql.query(
    `select ${organizations.of('o')}, m.role
     from organization_members m join organizations o on o.id = m.organization_id
     where m.user_id = $1 order by o.created, o.id`,
    [userId],
  );
}

export interface OwnedAccount {
  readonly id: string;
  readonly name: string;
  readonly time_zone: string;
  readonly day_starts: DayStarts | null;
}

export async function selectAccountsIn(sql: Sql, organizationId: string): Promise<OwnedAccount[]> {
  return sql.query(
    'select id, name, time_zone, day_starts from accounts where organization_id = $1 order by id',
    [organizationId],
  );
}

/** Locks the organization, so that changes of its people and accounts run one at a time. */
export async function lockOrganization(tx: Tx, id: string): Promise<Organization | undefined> {
  return organizations.find(tx, 'where id = $1 for update', [id]);
}

export async function createOrganization(
  tx: Tx,
  made: {
    readonly name: string;
    readonly ownerId: string;
    readonly actor: Actor;
    readonly now: Date;
  },
): Promise<Organization> {
  const { name, ownerId, actor, now } = made;
  const organization = await organizations.insert(tx, {
    ...{ id: newId('organization', now), name, created: now },
  });
  const { id } = organization;
  await organizationMembers.insert(tx, {
    ...{ organization_id: id, user_id: ownerId, role: 'owner', created: now },
  });
  await recordEntry(tx, {
    auditLog: id,
    actor,
    action: 'organization.created',
    objectId: id,
    livemode: null,
    before: null,
    after: { name, owner: ownerId },
    now,
  });
  return organization;
}

/** Invites a person once, for all accounts of the organization. */
export async function inviteToOrganization(
  ref: OrganizationRef,
  input: { readonly email: string; readonly role: Role },
): Promise<InvitationRow | Refusal> {
  const { organizationId, actor, now, people } = ref;
  const { role } = input;
  const email = readEmail(input.email);
  if (isRefusal(email)) return email;
  if (role === 'owner' && !ref.factorIsFresh) return factorNotFresh();
  const counted = { to: organizationId, inviter: actorId(actor), email, now };
  const tooMany = await takeInvitationAttempts(people.db, counted);
  if (tooMany !== null) return tooMany;
  return people.db.transaction<InvitationRow | Refusal>(async (tx) => {
    const organization = await lockOrganization(tx, organizationId);
    if (organization === undefined) return resourceMissing('organization', 'org');
    const members = await selectOrganizationMembers(tx, organizationId);
    if (members.some((member) => member.email === email)) {
      return refuse('already_exists', 'This person is already in the organization.', 'email');
    }
    if (members.length >= MAX_MEMBERS) {
      return refuse('unexpected_state', `An organization can have at most ${MAX_MEMBERS} people.`);
    }
    const name = organizationInMail(organization.name);
    const row = await sendInvitation(tx, ref, { to: { organizationId }, name, email, role });
    const owners = await ownersIn(tx, organizationId);
    const change = { action: 'invitation.created', objectId: row.id } as const;
    if (role === 'owner') await noteOwners(tx, ref, { owners, kind: 'invited', email });
    await recordPeople(tx, ref, { ...change, before: null, after: { email, role } });
    return row;
  });
}

export async function withdrawFromOrganization(
  tx: Tx,
  ref: OrganizationRef,
  id: string,
): Promise<null | Refusal> {
  const row = await revokeInvitation(tx, { to: ref, id, now: ref.now });
  if (row === undefined) return resourceMissing('invitation');
  const before = { email: row.email, role: row.role };
  const change = { action: 'invitation.revoked', objectId: id, before, after: null };
  await recordPeople(tx, ref, change);
  return null;
}

/** The rights in its accounts end with the next request. */
export async function removeFromOrganization(
  tx: Tx,
  ref: OrganizationRef,
  userId: string,
): Promise<null | Refusal> {
  const { organizationId } = ref;
  await lockOrganization(tx, organizationId);
  const members = await selectOrganizationMembers(tx, organizationId);
  const member = members.find((row) => row.user_id === userId);
  if (member === undefined) return resourceMissing('member');
  const { email, role } = member;
  if (role === 'owner') {
    if (members.filter((row) => row.role === 'owner').length === 1) {
      return refuse(
        'unexpected_state',
        'The organization needs an owner. Invite another owner first.',
      );
    }
    if (!ref.factorIsFresh) return factorNotFresh();
  }
  const owners = await ownersIn(tx, organizationId);
  await tx.query('delete from organization_members where organization_id = $1 and user_id = $2', [
    organizationId,
    userId,
  ]);
  const kind = userId === actorId(ref.actor) ? 'left' : 'removed';
  if (role === 'owner') await noteOwners(tx, ref, { owners, kind, email });
  const change = { action: 'member.removed', objectId: userId };
  await recordPeople(tx, ref, { ...change, before: { email, role }, after: null });
  return null;
}

/** An existing member keeps their role. */
export async function joinOrganization(
  tx: Tx,
  ref: OrganizationRef,
  joining: { readonly userId: string; readonly email: string; readonly role: Role },
): Promise<void> {
  const { organizationId, now } = ref;
  const { userId, email, role } = joining;
  await lockOrganization(tx, organizationId);
  const owners = await ownersIn(tx, organizationId);
  const row = { organization_id: organizationId, user_id: userId, role, created: now };
  const added = await organizationMembers.upsert(tx, row, 'on conflict do nothing');
  if (added === undefined) return;
  if (role === 'owner') await noteOwners(tx, ref, { owners, kind: 'joined', email });
  const change = { action: 'member.joined', objectId: userId };
  await recordPeople(tx, ref, { ...change, before: null, after: { email, role } });
}

function organizationInMail(name: string): string {
  return LINK_LIKE.test(name) ? 'an organization' : `the organization “${name}”`;
}

interface Owned {
  readonly account: OwnedAccount;
  /** The addresses of its owners. */
  readonly owners: readonly string[];
}

/** Call it before a change. */
async function ownersIn(tx: Tx, organizationId: string): Promise<Owned[]> {
  const owned: Owned[] = [];
  for (const account of await selectAccountsIn(tx, organizationId)) {
    owned.push({ account, owners: await selectOwnerEmails(tx, account.id) });
  }
  return owned;
}

/** Records a change of owners in each account whose owners changed, and mails its owners. */
async function noteOwners(
  tx: Tx,
  { people, actor, now }: OrganizationRef,
  noted: { readonly owners: Owned[]; readonly kind: OwnerChangeKind; readonly email: string },
): Promise<void> {
  const { kind, email } = noted;
  for (const { account, owners: before } of noted.owners) {
    const after = await selectOwnerEmails(tx, account.id);
    const isSame = before.includes(email) === after.includes(email);
    if (kind !== 'invited' && isSame) continue;
    const about = { accountId: account.id, accountName: account.name };
    const owners = [...before, ...after];
    await noteOwnerChange(tx, people, { ...about, kind, email, owners, actor, now });
  }
}

/**
 * Records a change of members in the audit logs of every account and of the organization. The logs
 * are locked in ID order, so that no two transactions deadlock.
 */
async function recordPeople(tx: Tx, ref: OrganizationRef, change: TeamChange): Promise<void> {
  const { organizationId, actor, now, mailChange } = ref;
  const accounts = await selectAccountsIn(tx, organizationId);
  const makesOwner = change.before?.role === 'owner' || change.after?.role === 'owner';
  if (mailChange !== null && !makesOwner) {
    for (const account of accounts) await mailChange(tx, account, describeTeamChange(change));
  }
  const logs = [...accounts.map(({ id }) => id), organizationId];
  const after = change.after && { ...change.after, organization: organizationId };
  for (const auditLog of logs) {
    await recordEntry(tx, { ...change, after, auditLog, actor, livemode: null, now });
  }
}
