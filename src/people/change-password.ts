import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import {
  emailBucket,
  forgetAttempts,
  PER_SECOND_FACTOR,
  takeAttempt,
} from '#people/attempt-limits.ts';
import type { HashCaller } from '#people/password-hash-limits.ts';
import { checkPassword, hashPassword, verifyPassword } from '#people/passwords.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import { savePassword } from '#people/save-password.ts';
import { type Realm, selectUser, type UserRow } from '#people/user-queries.ts';

function callerOf(realm: Realm): HashCaller {
  return realm === 'operator' ? 'staff' : 'person';
}

/** Checks the password of a signed-in person, who has only ten tries per hour. */
export async function confirmPassword(
  deps: PeopleDeps,
  proof: { readonly userId: string; readonly password: string; readonly now: Date },
): Promise<UserRow | Refusal> {
  const user = present(await selectUser(deps.db, proof.userId), 'user');
  const bucket = emailBucket('confirm-password', user.realm, user.email);
  const counted = { allowance: PER_SECOND_FACTOR, now: proof.now };
  const tooMany = await takeAttempt(deps.db, bucket, counted);
  if (tooMany !== null) return tooMany;
  const matches = await verifyPassword(proof.password, user.password_hash, callerOf(user.realm));
  if (isRefusal(matches)) return matches;
  if (!matches) {
    return refuse('parameter_invalid', 'This is not your current password.', 'current_password');
  }
  await forgetAttempts(deps.db, bucket);
  return user;
}

/** Changes the caller’s password, and ends all other sessions of the caller. */
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
  return confirmed;
}
