import Type from 'typebox';
import type { PersonCaller, SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import { sessionOf } from '#apis/dashboard/person-route.ts';
import { Password } from '#apis/dashboard/person-schema.ts';
import { accessRefusal, factorRefusal } from '#apis/dashboard/sessions/require-second-factor.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { confirmPassword } from '#people/change-password.ts';
import { factorNotFresh, isFactorFresh } from '#people/fresh-factor.ts';
import { countPasskeys } from '#people/passkey-queries.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import { selectUser } from '#people/user-queries.ts';

/** Request body for adding a factor. */
export const Confirmation = Type.Object({ current_password: Type.Optional(Password) });

export function hasFreshFactor(caller: PersonCaller, now: Date): boolean {
  return isFactorFresh(sessionOf(caller).second_factor_at, now);
}

/** Refuses unless a second factor was verified within the last five minutes. */
export function requireFreshFactor(caller: PersonCaller, now: Date): Refusal | null {
  return hasFreshFactor(caller, now) ? null : factorNotFresh();
}

/**
 * Like {@link requireFreshFactor}, but also requires that the factor is trusted. A thief with only
 * the password cannot add a trusted factor.
 */
export function requireTrustedFactor(caller: PersonCaller, now: Date): Refusal | null {
  return factorRefusal(sessionOf(caller), now);
}

/**
 * Refuses a change of rights in a live account without a fresh factor, like routes that declare
 * `moves: 'access'`.
 */
export function requireFactorForAccess(
  { factorAgeMs }: Pick<PeopleDeps, 'factorAgeMs'>,
  caller: PersonCaller,
  now: Date,
): Refusal | null {
  if (!caller.isRealMoney) return null;
  return accessRefusal({ session: sessionOf(caller), now, isSandbox: factorAgeMs === 0 });
}

/**
 * True if the caller may change owners, which requires a trusted factor, because owners control all
 * the money.
 */
export function hasTrustedFactor(caller: PersonCaller, now: Date): boolean {
  return requireTrustedFactor(caller, now) === null;
}

/**
 * Confirms a change of factors: with a current factor, or with the password if there is no factor
 * yet.
 */
export async function confirmIdentity(
  settings: SurfaceSettings,
  caller: PersonCaller,
  proof: { readonly password: string | undefined; readonly now: Date },
): Promise<Refusal | null> {
  const { db } = settings.people;
  const userId = sessionOf(caller).user_id;
  const user = present(await selectUser(db, userId), 'user');
  const hasFactor = user.totp_confirmed_at !== null || (await countPasskeys(db, userId)) > 0;
  if (hasFactor) return requireFreshFactor(caller, proof.now);
  if (proof.password === undefined) {
    return refuse('parameter_missing', 'current_password is required.', 'current_password');
  }
  const confirmed = await confirmPassword(settings.people, {
    userId,
    password: proof.password,
    now: proof.now,
  });
  return isRefusal(confirmed) ? confirmed : null;
}
