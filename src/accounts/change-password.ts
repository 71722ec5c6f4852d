import { emailBucket, forgetAttempts, PER_SECOND_FACTOR, takeAttempt } from '#accounts/attempts.ts';
import { linkRefused } from '#accounts/email-links.ts';
import { deleteEmailTokens, takeEmailToken } from '#accounts/email-token-queries.ts';
import { queueMail } from '#accounts/mail.ts';
import { checkPassword, hashPassword, verifyPassword } from '#accounts/passwords.ts';
import { MAIL_TOPIC, type PeopleDeps } from '#accounts/people.ts';
import { deleteSessionsOf } from '#accounts/session-queries.ts';
import {
  type Realm,
  selectUser,
  selectUserByEmail,
  type UserRow,
  updatePassword,
} from '#accounts/user-queries.ts';
import { present } from '#core/assert.ts';
import { type Refusal, refuse } from '#core/refusal.ts';
import { hashSecret, isSecret } from '#core/secrets.ts';
import { Abandon, type Tx } from '#db/database.ts';

/** Stores the new password, ends other sessions and tells the person. */
async function savePassword(
  deps: PeopleDeps,
  tx: Tx,
  of: {
    readonly user: UserRow;
    readonly passwordHash: string;
    readonly keepSessionId: string | null;
    readonly now: Date;
  },
): Promise<void> {
  const { user, now } = of;
  await updatePassword(tx, { id: user.id, passwordHash: of.passwordHash });
  await deleteSessionsOf(tx, { userId: user.id, exceptId: of.keepSessionId });
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

/**
 * Sets the password of whoever has the link, and signs out everywhere. It opens no session: the
 * second factor, if there is one, is still asked for at sign-in.
 */
export async function completePasswordReset(
  deps: PeopleDeps,
  input: {
    readonly realm: Realm;
    readonly token: string;
    readonly password: string;
    readonly now: Date;
  },
): Promise<UserRow | Refusal> {
  const { realm, now } = input;
  if (!isSecret('mailLink', input.token)) return linkRefused();
  const weak = checkPassword(input.password, '@');
  if (weak !== null) return weak;
  const passwordHash = await hashPassword(input.password);
  const hash = hashSecret(input.token);
  const result = await deps.db.transaction<UserRow | Refusal>(async (tx) => {
    const email = await takeEmailToken(tx, { hash, purpose: 'password_reset', realm, now });
    if (email === undefined) return linkRefused();
    const tooEasy = checkPassword(input.password, email);
    if (tooEasy !== null) return new Abandon<UserRow | Refusal>(tooEasy);
    const user = present(await selectUserByEmail(tx, { realm, email }), 'user');
    await deleteEmailTokens(tx, { realm, email });
    await savePassword(deps, tx, { user, passwordHash, keepSessionId: null, now });
    return user;
  });
  deps.wakeups.send(MAIL_TOPIC);
  return result;
}

/** Checks the password of somebody who is signed in, a few times an hour. */
export async function confirmPassword(
  deps: PeopleDeps,
  of: { readonly userId: string; readonly password: string; readonly now: Date },
): Promise<UserRow | Refusal> {
  const user = present(await selectUser(deps.db, of.userId), 'user');
  const bucket = emailBucket('confirm-password', user.realm, user.email);
  const counted = { allowance: PER_SECOND_FACTOR, now: of.now };
  const tooMany = await takeAttempt(deps.db, bucket, counted);
  if (tooMany !== null) return tooMany;
  if (!(await verifyPassword(of.password, user.password_hash))) {
    return refuse('parameter_invalid', 'This is not your present password.', 'current_password');
  }
  await forgetAttempts(deps.db, bucket);
  return user;
}

/** Changes the own password; every other session of the person ends. */
export async function changePassword(
  deps: PeopleDeps,
  input: {
    readonly userId: string;
    readonly sessionId: string;
    readonly currentPassword: string;
    readonly password: string;
    readonly now: Date;
  },
): Promise<null | Refusal> {
  const { userId, now } = input;
  const confirmed = await confirmPassword(deps, { userId, password: input.currentPassword, now });
  if ('refused' in confirmed) return confirmed;
  const weak = checkPassword(input.password, confirmed.email);
  if (weak !== null) return weak;
  const passwordHash = await hashPassword(input.password);
  await deps.db.transaction((tx) =>
    savePassword(deps, tx, { user: confirmed, passwordHash, keepSessionId: input.sessionId, now }),
  );
  deps.wakeups.send(MAIL_TOPIC);
  return null;
}
