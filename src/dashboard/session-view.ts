import { selectAccountsOf } from '#accounts/membership-queries.ts';
import { countPasskeys } from '#accounts/passkey-queries.ts';
import type { PeopleDeps } from '#accounts/people.ts';
import { countRecoveryCodes } from '#accounts/second-factor-queries.ts';
import { csrfToken } from '#accounts/sessions.ts';
import { selectUser } from '#accounts/user-queries.ts';
import { present } from '#core/assert.ts';

/** The session as its page sees it: who it is, what still has to be proven, which accounts. */
export async function sessionView(
  people: PeopleDeps,
  of: {
    readonly sessionId: string;
    readonly userId: string;
    readonly level: 'password' | 'full';
    readonly secondFactorAt: Date | null;
    readonly expiresAt: Date;
  },
): Promise<object> {
  const { db, secretKey } = people;
  const isFull = of.level === 'full';
  const [user, accounts, passkeys, codes] = await Promise.all([
    selectUser(db, of.userId),
    isFull ? selectAccountsOf(db, of.userId) : [],
    countPasskeys(db, of.userId),
    countRecoveryCodes(db, of.userId),
  ]);
  const { id, email, name, totp_confirmed_at, recovery_codes_saved_at } = present(user, 'user');
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
    id: of.sessionId,
    status: isFull ? 'signed_in' : 'second_factor_required',
    csrf_token: csrfToken(secretKey, of.sessionId),
    expires_at: of.expiresAt.toISOString(),
    second_factor_at: of.secondFactorAt?.toISOString() ?? null,
    user: { id, email, name, factors },
    accounts: accounts.map((account) => ({
      id: account.account_id,
      name: account.name,
      role: account.role,
      status: account.status,
      kyb_status: account.kyb_status,
    })),
  };
}
