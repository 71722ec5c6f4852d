import { actorId } from '#audit/audit.ts';
import { addMs } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import { hashSecret, newSecret } from '#core/secrets.ts';
import type { Tx } from '#db/database.ts';
import { type InvitationRow, replaceInvitation } from '#people/invitation-queries.ts';
import { queueMail } from '#people/mail.ts';
import { accountInMail } from '#people/mail-words.ts';
import type { Role } from '#people/roles.ts';
import type { TeamRef } from '#people/team-changes.ts';

const INVITATION_MS = 7 * 24 * 3_600_000;

function invitationText(ref: TeamRef, role: Role, url: string): string {
  const { actor } = ref;
  const who = actor.type === 'system' ? actor.name : actor.email;
  return (
    `${who} invites you to join ${accountInMail(ref.accountName)} on Tapline as ${role}. ` +
    `Open this link:\n\n${url}\n\n` +
    'It is valid for 7 days and works once. If you do not know the sender, ignore this mail.\n'
  );
}

/** Writes the invitation and the mail with its link; an earlier one to the address is void. */
export async function sendInvitation(
  tx: Tx,
  ref: TeamRef,
  invited: { readonly email: string; readonly role: Role },
): Promise<InvitationRow> {
  const { accountId, actor, now, people } = ref;
  const { email, role } = invited;
  const token = newSecret('invitation');
  const row = await replaceInvitation(tx, {
    id: newId('invitation', now),
    accountId,
    email,
    role,
    hash: hashSecret(token),
    invitedBy: actorId(actor),
    now,
    expiresAt: addMs(now, INVITATION_MS),
  });
  const url = `${people.webUrl}/dashboard/invitation#token=${token}`;
  const text = invitationText(ref, role, url);
  // Nothing that the sender chose: the subject is what a stranger reads first.
  const subject = 'You are invited to a team on Tapline';
  await queueMail(tx, people.secretKey, { to: email, subject, text, now });
  return row;
}
