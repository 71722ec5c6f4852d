import { type Actor, recordEntry } from '#audit/audit.ts';
import type { Json } from '#core/canonical-json.ts';
import type { Tx } from '#db/database.ts';
import { noteOwnerChange } from '#people/hold-after-owner-change.ts';
import { type MemberRow, selectOwnerEmails } from '#people/membership-queries.ts';
import type { OwnerChangeKind } from '#people/owner-change-queries.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import type { Role } from '#people/role-order.ts';

export interface TeamRef {
  readonly accountId: string;
  readonly accountName: string;
  readonly actor: Actor;
  /**
   * True if the actor verified a second factor in the last five minutes, as changes of owners
   * require.
   */
  readonly factorIsFresh: boolean;
  readonly people: PeopleDeps;
  readonly now: Date;
}

/** `before` are the members before the change. */
export async function noteOwners(
  tx: Tx,
  ref: TeamRef,
  noted: {
    readonly kind: OwnerChangeKind;
    readonly email: string;
    readonly before: readonly MemberRow[];
  },
): Promise<void> {
  const before = noted.before.filter((row) => row.role === 'owner').map((row) => row.email);
  const owners = [...before, ...(await selectOwnerEmails(tx, ref.accountId))];
  const { kind, email } = noted;
  // A person who is only invited gets no mails for owners before accepting.
  const told = kind === 'invited' ? owners : [...owners, email];
  await noteOwnerChange(tx, ref.people, { ...ref, kind, email, owners: told });
}

/** A member for the audit log, with the rights that changed besides the role. */
type Logged = {
  readonly email: string;
  readonly role: Role;
  readonly refund_limit?: number | null;
  readonly refund_limit_presentment?: { readonly [name: string]: Json } | null;
  readonly may_discount?: boolean;
  readonly has_pin?: boolean;
};

export interface TeamChange {
  readonly action: string;
  readonly objectId: string;
  readonly before: Logged | null;
  readonly after: Logged | null;
  /** A sentence for the owners' mail; by default, one about the role. */
  readonly detail?: string;
}

export type LogRef = Pick<TeamRef, 'accountId' | 'actor' | 'now'>;

export async function recordTeam(tx: Tx, ref: LogRef, change: TeamChange): Promise<void> {
  const { accountId: auditLog, actor, now } = ref;
  const { detail = describeTeamChange(change) } = change;
  await recordEntry(tx, { ...change, detail, auditLog, actor, livemode: null, now });
}

export function describeTeamChange({ before, after }: TeamChange): string {
  if (before === null) return `${after?.email} gets the role ${after?.role}.`;
  if (after === null) return `${before.email} no longer has the role ${before.role}.`;
  return `${after.email} was ${before.role} and is ${after.role} now.`;
}

/**
 * Like {@link recordTeam}, but sends no mail, because {@link noteOwners} has already sent it.
 */
export async function recordOwners(tx: Tx, ref: TeamRef, change: TeamChange): Promise<void> {
  const { actor } = ref;
  const unlistened = actor.type === 'system' ? actor : { ...actor, onEntry: null };
  await recordTeam(tx, { ...ref, actor: unlistened }, change);
}
