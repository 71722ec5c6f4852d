import { isRefusal, type Refusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { forgetAttempts, secondFactorBucket } from '#people/attempt-limits.ts';
import { linkRefused, readLink } from '#people/email-links.ts';
import { deleteEmailTokens, takeEmailToken } from '#people/email-token-queries.ts';
import { endFactors, isFactorTrusted } from '#people/new-factor-delay.ts';
import { checkPassword, hashPassword } from '#people/passwords.ts';
import type { PeopleDeps, Visit } from '#people/people-context.ts';
import { savePassword } from '#people/save-password.ts';
import { type Realm, selectUserByEmail, type UserRow } from '#people/user-queries.ts';

/**
 * Sets a new password with a mailed link, and ends all sessions. Opens no session, because signing
 * in still requires the second factor.
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
  const shown = { text: input.token, purpose: 'password_reset', realm, visit } as const;
  const link = await readLink(deps.db, shown);
  if (isRefusal(link)) return link;
  const weak = checkPassword(input.password, link.email);
  if (weak !== null) return weak;
  const passwordHash = await hashPassword(input.password, 'link');
  if (isRefusal(passwordHash)) return passwordHash;
  const result = await deps.db.transaction<UserRow | Refusal>(async (tx) => {
    const email = await takeEmailToken(tx, link.token);
    if (email === undefined) return linkRefused();
    const user = present(await selectUserByEmail(tx, { realm, email }), 'user');
    await deleteEmailTokens(tx, { realm, email });
    // Removes untrusted factors, because access to the mailbox proves more than the old password
    // did.
    if (!isFactorTrusted(user.factor_trusted_from, now)) await endFactors(tx, user.id);
    await savePassword(deps, tx, { user, passwordHash, keepSessionId: null, now });
    // Resets the count of wrong codes, so that the owner is not locked out. They were entered with
    // the old password, which is now invalid.
    await forgetAttempts(tx, secondFactorBucket(user.id));
    return user;
  });
  return result;
}
