import { present } from '#core/assert.ts';
import { selectAccountsOf } from '#people/membership-queries.ts';
import { countPasskeys } from '#people/passkey-queries.ts';
import type { PeopleDeps } from '#people/people.ts';
import { countRecoveryCodes } from '#people/second-factor-queries.ts';
import { csrfToken } from '#people/sessions.ts';
import { selectUser } from '#people/user-queries.ts';

/** The session as its page sees it: who it is, what still has to be proven, which accounts. */
export async function sessionView(
  people: PeopleDeps,
  opened: {
    readonly sessionId: string;
    readonly userId: string;
    readonly level: 'password' | 'full';
    readonly secondFactorAt: Date | null;
    readonly expiresAt: Date;
  },
): Promise<object> {
  const { db, secretKey } = people;
  const isFull = opened.level === 'full';
  const [user, accounts, passkeys, codes] = await Promise.all([
    selectUser(db, opened.userId),
    isFull ? selectAccountsOf(db, opened.userId) : [],
    countPasskeys(db, opened.userId),
    countRecoveryCodes(db, opened.userId),
  ]);
  const row = present(user, 'user');
  const { id, email, name, totp_confirmed_at, recovery_codes_saved_at } = row;
  const totp = totp_confirmed_at !== null;
  const factors = {
    totp,
    passkeys,
    first_choice: passkeys > 0 ? 'passkey' : totp ? 'totp' : null,
    recovery_codes_left: codes,
    recovery_codes_to_save: codes > 0 && recovery_codes_saved_at === null,
  };
  return {
    object: 'session',
    id: opened.sessionId,
    status: isFull ? 'signed_in' : 'second_factor_required',
    csrf_token: csrfToken(secretKey, opened.sessionId),
    expires_at: opened.expiresAt.toISOString(),
    second_factor_at: opened.secondFactorAt?.toISOString() ?? null,
    user: { id, email, name, factors },
    staff_role: row.realm === 'operator' ? row.staff_role : null,
    accounts: accounts.map((account) => ({
      id: account.account_id,
      name: account.name,
      role: account.role,
      status: account.status,
      kyb_status: account.kyb_status,
    })),
  };
}
