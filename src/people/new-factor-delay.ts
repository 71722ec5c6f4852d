import { type Refusal, refuse } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { HOUR_MS } from '#core/durations.ts';
import type { Tx } from '#db/database.ts';
import { deleteDevicesOf } from '#people/device-queries.ts';
import { deletePasskeysOf } from '#people/passkey-queries.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import { deleteRecoveryCodes } from '#people/second-factor-queries.ts';
import { NO_TOTP, updateUser } from '#people/user-queries.ts';

/**
 * Delay until a factor that was set up with only the password is trusted for money and access. It
 * spans a weekend, so that the owner can read the mail about the new factor. A sandbox needs no
 * delay.
 */
export const FACTOR_AGE_MS = 72 * HOUR_MS;
/** Delay until the factors of a person who reported all of them lost are removed. */
export const FACTORS_END_MS = 72 * HOUR_MS;

/** True if a factor of this person is trusted for moving money or granting access. */
export function isFactorTrusted(trustedFrom: Date | null, now: Date): boolean {
  return trustedFrom === null || trustedFrom <= now;
}

export function factorTooNew(trustedFrom: Date): Refusal {
  return refuse(
    'second_factor_too_new',
    'Your second factor was set up with the password alone, so it is not trusted for this ' +
      `until ${trustedFrom.toISOString()}, or until you click the button in the email about ` +
      'it.',
  );
}

/**
 * Starts the delay when the first factor is added, in the same transaction. Later factors share
 * that delay.
 */
export async function startTrust(
  deps: PeopleDeps,
  tx: Tx,
  added: { readonly userId: string; readonly now: Date },
): Promise<Date | null> {
  const from = deps.factorAgeMs === 0 ? null : addMs(added.now, deps.factorAgeMs);
  await updateUser(tx, added.userId, { factor_trusted_from: from });
  return from;
}

export async function endFactors(tx: Tx, userId: string): Promise<void> {
  await updateUser(tx, userId, NO_TOTP);
  await deletePasskeysOf(tx, userId);
  await deleteRecoveryCodes(tx, userId);
  await deleteDevicesOf(tx, userId);
  await updateUser(tx, userId, { factor_trusted_from: null, factors_end_at: null });
}
