import Type from 'typebox';
import type { PersonCaller, SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import { sessionOf } from '#apis/dashboard/person-route.ts';
import { Password } from '#apis/dashboard/person-schema.ts';
import { factorRefusal } from '#apis/dashboard/require-second-factor.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { confirmPassword } from '#people/change-password.ts';
import { countPasskeys } from '#people/passkey-queries.ts';
import { factorNotFresh, isFactorFresh } from '#people/sessions.ts';
import { selectUser } from '#people/user-queries.ts';

/** The body of a request that adds a factor. */
export const Confirmation = Type.Object({ current_password: Type.Optional(Password) });

export function hasFreshFactor(caller: PersonCaller, now: Date): boolean {
  return isFactorFresh(sessionOf(caller).second_factor_at, now);
}

/**
 * Returns the refusal unless a second factor was verified minutes ago. Required for moving money
 * and for granting access.
 */
export function requireFreshFactor(caller: PersonCaller, now: Date): Refusal | null {
  return hasFreshFactor(caller, now) ? null : factorNotFresh();
}

/**
 * Does the same, but requires a factor that a thief with only the password cannot have enrolled.
 */
export function requireTrustedFactor(caller: PersonCaller, now: Date): Refusal | null {
  return factorRefusal(sessionOf(caller), now);
}

/** True if a change of owners may proceed, since owners can move all of the money. */
export function hasTrustedFactor(caller: PersonCaller, now: Date): boolean {
  return requireTrustedFactor(caller, now) === null;
}

/** Adding or removing factors needs a current factor, or the password as long as there is none. */
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
