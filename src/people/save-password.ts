import type { Tx } from '#db/database.ts';
import { deleteDevicesOf } from '#people/device-queries.ts';
import { queueMail } from '#people/mail-outbox.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import { deleteSessionsOf } from '#people/session-queries.ts';
import { type UserRow, updateUser } from '#people/user-queries.ts';

/** Stores the new password, ends all other sessions and mails the person. */
export async function savePassword(
  deps: PeopleDeps,
  tx: Tx,
  change: {
    readonly user: UserRow;
    readonly passwordHash: string;
    readonly keepSessionId: string | null;
    readonly now: Date;
  },
): Promise<void> {
  const { user, now } = change;
  await updateUser(tx, user.id, { password_hash: change.passwordHash });
  await deleteSessionsOf(tx, { userId: user.id, exceptId: change.keepSessionId });
  await deleteDevicesOf(tx, user.id);
  await queueMail(tx, deps.secretKey, {
    to: user.email,
    subject: 'Your Tapline password was changed',
    text:
      'The password of your Tapline account was just changed, and all other sessions were ' +
      'signed out. If it was not you, ask for a new password at once and tell your account ' +
      "owner or the network's operator.\n",
    now,
  });
}
