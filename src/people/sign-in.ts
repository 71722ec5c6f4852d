import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { readEmail } from '#core/name-rules.ts';
import {
  addressBucket,
  emailBucket,
  forgetAttempts,
  giveBackAttempt,
  PER_ADDRESS,
  PER_DEVICE,
  PER_EMAIL,
  takeAttempt,
} from '#people/attempt-limits.ts';
import { knownDevice } from '#people/known-devices.ts';
import { countPasskeys } from '#people/passkey-queries.ts';
import { verifyPassword } from '#people/passwords.ts';
import type { PeopleDeps, Visit } from '#people/people-context.ts';
import { endLostFactors } from '#people/recover-lost-factor.ts';
import { type OpenedSession, openSession } from '#people/sessions.ts';
import { type Realm, selectUserByEmail, type UserRow } from '#people/user-queries.ts';

export interface SignInInput {
  readonly realm: Realm;
  readonly email: string;
  readonly password: string;
  /** The token that the device stored at an earlier sign-in; see {@link knownDevice}. */
  readonly deviceToken: string | null;
  readonly visit: Visit;
}

export type SignedIn =
  | { readonly status: 'signed_in'; readonly session: OpenedSession; readonly user: UserRow }
  | {
      readonly status: 'second_factor_required';
      readonly session: OpenedSession;
      readonly user: UserRow;
      readonly factors: { readonly totp: boolean; readonly passkey: boolean };
    };

/**
 * Returns the refusal of a sign-in, with the same text for a wrong password and an unknown user.
 */
export function signInFailed(): Refusal {
  return refuse('sign_in_failed', 'The email address or the password is wrong.');
}

async function takeAttempts(
  deps: PeopleDeps,
  buckets: { readonly person: string; readonly address: string; readonly isKnown: boolean },
  now: Date,
): Promise<Refusal | null> {
  const byAddress = { allowance: PER_ADDRESS, now };
  const refused = await takeAttempt(deps.db, buckets.address, byAddress);
  if (refused !== null) return refused;
  const allowance = buckets.isKnown ? PER_DEVICE : PER_EMAIL;
  const tooMany = await takeAttempt(deps.db, buckets.person, { allowance, now });
  if (tooMany === null) return null;
  const way =
    ' A passkey, a device that has signed in before, or a new password by mail still works.';
  return { ...tooMany, message: tooMany.message + way };
}

/** Password sign-in: see {@link checkPassword}. */
export async function signIn(deps: PeopleDeps, input: SignInInput): Promise<SignedIn | Refusal> {
  const user = await checkPassword(deps, input);
  return isRefusal(user) ? user : openAfterPassword(deps, user, input.visit);
}

/**
 * Attempts are counted per IP address and per person. A device on which the person has signed in
 * has its own counter, so guesses on other devices do not lock it out.
 */
export async function checkPassword(
  deps: PeopleDeps,
  input: SignInInput,
): Promise<UserRow | Refusal> {
  const { realm, visit } = input;
  const email = readEmail(input.email);
  if (isRefusal(email)) return email;
  const { now } = visit;
  const device = await knownDevice(deps.db, input.deviceToken, { realm, email, now });
  const person = device ?? emailBucket('sign-in', realm, email);
  const address = addressBucket('sign-in', visit.address);
  const refused = await takeAttempts(
    deps,
    { person, address, isKnown: device !== null },
    visit.now,
  );
  if (refused !== null) return refused;
  const user = await selectUserByEmail(deps.db, { realm, email });
  // Staff have their own share of password hashes, so that strangers at the merchants' sign-in
  // cannot use it up.
  const caller = realm === 'operator' ? 'staff' : device === null ? 'stranger' : 'person';
  const matches = await verifyPassword(input.password, user?.password_hash ?? null, caller);
  if (isRefusal(matches)) return matches;
  if (user === undefined || !matches || user.status !== 'active') return signInFailed();
  await forgetAttempts(deps.db, person);
  await giveBackAttempt(deps.db, address);
  return user;
}

/**
 * Opens a session after a correct password: a full one, or, if the user has a second factor, one
 * that waits for it.
 */
export async function openAfterPassword(
  deps: PeopleDeps,
  user: UserRow,
  visit: Visit,
): Promise<SignedIn> {
  const lost = { userId: user.id, now: visit.now };
  const isOver =
    user.factors_end_at !== null &&
    (await deps.db.transaction((tx) => endLostFactors(deps, tx, lost)));
  const totp = user.totp_confirmed_at !== null && !isOver;
  const passkey = (await countPasskeys(deps.db, user.id)) > 0;
  const level = totp || passkey ? 'password' : 'full';
  const session = await deps.db.transaction((tx) =>
    openSession(tx, { userId: user.id, realm: user.realm, level, secondFactorAt: null, visit }),
  );
  if (level === 'full') return { status: 'signed_in', session, user };
  return { status: 'second_factor_required', session, user, factors: { totp, passkey } };
}
