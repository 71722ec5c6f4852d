import { type Actor, recordEntry } from '#audit/audit.ts';
import type { Tx } from '#db/database.ts';
import type { NamedInvitation } from '#people/invitation-queries.ts';
import { insertMembership, selectOwnerEmails } from '#people/membership-queries.ts';
import { noteOwnerChange } from '#people/owner-changes.ts';
import type { PeopleDeps, Visit } from '#people/people.ts';

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

export async function join(
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
  const accountId = invitation.account_id;
  const added = await insertMembership(tx, { accountId, userId, role: invitation.role, now });
  if (!added) return;
  const { email } = invitation;
  const actor: Actor = { type: 'user', userId, email, requestId: input.requestId, address };
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
    trail: accountId,
    actor,
    action: 'member.joined',
    objectId: userId,
    livemode: null,
    before: null,
    after: { email, role: invitation.role, invited_by: invitation.invited_by },
    now,
  });
}
