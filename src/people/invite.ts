import { actorId } from '#audit/audit.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { readEmail } from '#core/names.ts';
import type { Tx } from '#db/database.ts';
import { takeInvitationAttempts } from '#people/invitation-limits.ts';
import {
  type InvitationRow,
  revokeInvitation,
  revokeInvitationsBy,
} from '#people/invitation-queries.ts';
import { lockMembers } from '#people/membership-queries.ts';
import { MAIL_TOPIC } from '#people/people.ts';
import type { Role } from '#people/roles.ts';
import { sendInvitation } from '#people/send-invitation.ts';
import { factorNotFresh } from '#people/sessions.ts';
import { noteOwners, recordTeam, type TeamRef } from '#people/team-changes.ts';

const MAX_MEMBERS = 200;

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
  const result = await people.db.transaction<InvitationRow | Refusal>(async (tx) => {
    const members = await lockMembers(tx, accountId);
    if (members.some((member) => member.email === email)) {
      return refuse('already_exists', 'This person is already in the team.', 'email');
    }
    if (members.length >= MAX_MEMBERS) {
      return refuse('unexpected_state', `A team has at most ${MAX_MEMBERS} members.`);
    }
    const row = await sendInvitation(tx, ref, { email, role: input.role });
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

/** A person who may not invite any more leaves no door open: that person's invitations are void. */
export async function endInvitationsOf(tx: Tx, ref: TeamRef, userId: string): Promise<void> {
  await revokeInvitationsBy(tx, { accountId: ref.accountId, userId, now: ref.now });
}
