import { emailBucket, forgetAttempts, PER_SECOND_FACTOR, takeAttempt } from '#accounts/attempts.ts';
import { deleteDevicesOf } from '#accounts/device-queries.ts';
import { linkRefused } from '#accounts/email-links.ts';
import {
  deleteEmailTokens,
  selectEmailToken,
  takeEmailToken,
} from '#accounts/email-token-queries.ts';
import { findByLink } from '#accounts/find-by-link.ts';
import type { HashCaller } from '#accounts/hash-shares.ts';
import { queueMail } from '#accounts/mail.ts';
import { checkPassword, hashPassword, verifyPassword } from '#accounts/passwords.ts';
import { MAIL_TOPIC, type PeopleDeps, type Visit } from '#accounts/people.ts';
import { secondFactorBucket } from '#accounts/second-factor.ts';
import { deleteSessionsOf } from '#accounts/session-queries.ts';
import {
  type Realm,
  selectUser,
  selectUserByEmail,
  type UserRow,
  updatePassword,
} from '#accounts/user-queries.ts';
import { present } from '#core/assert.ts';
import { isRefusal, type Refusal, refuse } from '#core/refusal.ts';
import { hashSecret, isSecret } from '#core/secrets.ts';
import type { Tx } from '#db/database.ts';

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
    readonly visit: Visit;
  },
): Promise<UserRow | Refusal> {
  const { realm, visit } = input;
  const { now } = visit;
  const hash = hashSecret(input.token);
  const token = { hash, purpose: 'password_reset', realm, now } as const;
  const isLink = isSecret('mailLink', input.token);
  const address = await findByLink(deps.db, { visit, isLink }, () =>
    selectEmailToken(deps.db, token),
  );
  if (isRefusal(address)) return address;
  const weak = checkPassword(input.password, address);
  if (weak !== null) return weak;
  const passwordHash = await hashPassword(input.password, 'link');
  if (isRefusal(passwordHash)) return passwordHash;
  const result = await deps.db.transaction<UserRow | Refusal>(async (tx) => {
    const email = await takeEmailToken(tx, token);
    if (email === undefined) return linkRefused();
    const user = present(await selectUserByEmail(tx, { realm, email }), 'user');
    await deleteEmailTokens(tx, { realm, email });
    await savePassword(deps, tx, { user, passwordHash, keepSessionId: null, now });
    // Whoever guessed codes knew the old password: the owner of the mailbox does not wait for it.
    await forgetAttempts(tx, secondFactorBucket(user.id));
    return user;
  });
  deps.wakeups.send(MAIL_TOPIC);
  return result;
}

function callerOf(realm: Realm): HashCaller {
  return realm === 'operator' ? 'staff' : 'person';
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
  const matches = await verifyPassword(of.password, user.password_hash, callerOf(user.realm));
  if (isRefusal(matches)) return matches;
  if (!matches) {
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
): Promise<UserRow | Refusal> {
  const { userId, now } = input;
  const confirmed = await confirmPassword(deps, { userId, password: input.currentPassword, now });
  if ('refused' in confirmed) return confirmed;
  const weak = checkPassword(input.password, confirmed.email);
  if (weak !== null) return weak;
  const passwordHash = await hashPassword(input.password, callerOf(confirmed.realm));
  if (isRefusal(passwordHash)) return passwordHash;
  await deps.db.transaction((tx) =>
    savePassword(deps, tx, { user: confirmed, passwordHash, keepSessionId: input.sessionId, now }),
  );
  deps.wakeups.send(MAIL_TOPIC);
  return confirmed;
}
