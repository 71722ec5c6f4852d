import { addMs } from '#core/clock.ts';
import type { Tx } from '#db/database.ts';
import { deleteDevicesOf } from '#people/device-queries.ts';
import { selectAccountsOf } from '#people/membership-queries.ts';
import { endFactors, FACTORS_END_MS, isFactorTrusted } from '#people/new-factor-delay.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import { mailChange } from '#people/person-links.ts';
import { deleteSessionsOf } from '#people/session-queries.ts';
import { type UserRow, updateUser } from '#people/user-queries.ts';

/** No password matches an empty hash. The person chooses a new password through a mailed link. */
const NO_PASSWORD = '';

/**
 * Signs the person out everywhere. If the mail was about the person's own sign-in, also removes the
 * password and any untrusted factors.
 */
export async function putOut(
  tx: Tx,
  user: UserRow,
  how: { readonly endsPassword: boolean; readonly now: Date },
): Promise<void> {
  await deleteSessionsOf(tx, { userId: user.id, exceptId: null });
  await deleteDevicesOf(tx, user.id);
  if (!how.endsPassword) return;
  if (!isFactorTrusted(user.factor_trusted_from, how.now)) await endFactors(tx, user.id);
  await updateUser(tx, user.id, { factors_end_at: null, password_hash: NO_PASSWORD });
}

/**
 * Returns the IDs of the accounts that the person owns, in the order in which all transactions lock
 * them.
 */
export async function ownedAccounts(tx: Tx, userId: string): Promise<readonly string[]> {
  const accounts = await selectAccountsOf(tx, userId);
  return accounts
    .filter(({ role }) => role === 'owner')
    .map((row) => row.account_id)
    .toSorted();
}

/** Trusts the person's factors from now on, because the person has confirmed them. */
export async function trustFactor(tx: Tx, user: UserRow): Promise<void> {
  await updateUser(tx, user.id, { factor_trusted_from: null });
}

/** Schedules the removal of all factors. Using any of them before then cancels the removal. */
export async function loseFactors(
  tx: Tx,
  people: Pick<PeopleDeps, 'secretKey' | 'webUrl'>,
  { user, now }: { readonly user: UserRow; readonly now: Date },
): Promise<void> {
  const at = addMs(now, FACTORS_END_MS);
  await updateUser(tx, user.id, { factors_end_at: at });
  await mailChange(tx, people, {
    userId: user.id,
    accountId: null,
    what:
      'Someone with your password and this mailbox reported your second factor as lost. It ' +
      `will be removed at ${at.toISOString()}, unless it is used before then.`,
    subject: 'The second factor for your Tapline sign-in is about to end',
    to: [user.email],
    now,
  });
}
