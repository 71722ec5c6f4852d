import { createHash } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { decrypt, encrypt } from '#core/bearer-secrets.ts';
import type { Tx } from '#db/database.ts';
import {
  forgetAttempts,
  giveBackAttempt,
  PER_KNOWN_DEVICES,
  PER_SECOND_FACTOR,
  secondFactorBucket,
  takeAttempt,
  takeGuess,
} from '#people/attempt-limits.ts';
import { deleteDevicesOf } from '#people/device-queries.ts';
import {
  isSetUpOver,
  mailFactorAdded,
  mailFactorChange,
  mailGuessed,
} from '#people/factor-changes.ts';
import { countPasskeys } from '#people/passkey-queries.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import {
  countRecoveryCodes,
  deleteRecoveryCodes,
  recoveryCodes,
  takeRecoveryCode,
  updateTotpStep,
} from '#people/second-factor-queries.ts';
import { type OpenedSession, strengthenSession } from '#people/sessions.ts';
import { lockUser, NO_TOTP, type UserRow, updateUser } from '#people/user-queries.ts';

const PERIOD_SECONDS = 30;
/**
 * Also accepts the codes of the previous and the next step, because few phone clocks are off by
 * more.
 */
const WINDOW_STEPS = 1;
const RECOVERY_CODES = 10;
/** One or two mistyped codes are normal; the third triggers a mail, at most once an hour. */
const MAILED_AT_GUESS = 3;
/**
 * Bytes of a recovery code. 112 bits cannot be guessed, so a plain hash is enough. Older codes of
 * 80 bits, stored with the same hash, stay valid.
 */
const RECOVERY_BYTES = 14;

export interface FactorRef {
  readonly sessionId: string;
  readonly userId: string;
  readonly now: Date;
}

function totpOf(secret: Secret, user: UserRow): TOTP {
  return new TOTP({
    issuer: user.realm === 'operator' ? 'Tapline operator' : 'Tapline',
    label: user.email,
    secret,
    period: PERIOD_SECONDS,
    digits: 6,
    algorithm: 'SHA1',
  });
}

function storedTotp(deps: PeopleDeps, user: UserRow): TOTP | null {
  if (user.totp_secret === null) return null;
  return totpOf(Secret.fromBase32(decrypt(deps.secretKey, user.totp_secret, user.id)), user);
}

/**
 * Returns the six digits of an app code without spaces (apps show `123 456`, which people copy);
 * `null` for any other text.
 */
function digitsOf(code: string): string | null {
  const digits = code.replaceAll(/[\s-]/g, '');
  return /^\d{6}$/.test(digits) ? digits : null;
}

/** Returns the time step in which this code is valid at `now`, or `null`. */
function stepOf(totp: TOTP, code: string, now: Date): number | null {
  const timestamp = now.getTime();
  const token = digitsOf(code);
  if (token === null) return null;
  const delta = totp.validate({ token, timestamp, window: WINDOW_STEPS });
  return delta === null ? null : totp.counter({ timestamp }) + delta;
}

/** Returns the newest step whose code would be accepted at that time. */
export function newestTotpStep(at: Date): number {
  return Math.floor(at.getTime() / (PERIOD_SECONDS * 1_000)) + WINDOW_STEPS;
}

function hashRecoveryCode(code: string): Buffer {
  return createHash('sha256').update(code.replaceAll(/[\s-]/g, '').toUpperCase()).digest();
}

function newRecoveryCode(): string {
  const { base32 } = new Secret({ size: RECOVERY_BYTES });
  return present(base32.match(/.{1,4}/g), 'recovery code').join('-');
}

export function codeRefused(): Refusal {
  return refuse(
    'sign_in_failed',
    'This code is not valid now, or was already used. Wait for the next one.',
  );
}

/** Starts the set-up of an authenticator app. It has no effect until a code confirms it. */
export async function beginTotp(
  deps: PeopleDeps,
  ref: FactorRef,
): Promise<{ readonly secret: string; readonly uri: string } | Refusal> {
  const secret = new Secret({ size: 20 });
  return deps.db.transaction(async (tx) => {
    const user = present(await lockUser(tx, ref.userId), 'user');
    if (user.totp_confirmed_at !== null) {
      return refuse('unexpected_state', 'An authenticator app is already set up. Remove it first.');
    }
    const sealed = encrypt(deps.secretKey, secret.base32, user.id);
    await updateUser(tx, user.id, { ...NO_TOTP, totp_secret: sealed, totp_begun_at: ref.now });
    return { secret: secret.base32, uri: totpOf(secret, user).toString() };
  });
}

async function renewRecoveryCodes(tx: Tx, userId: string): Promise<readonly string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  await deleteRecoveryCodes(tx, userId);
  const rows = codes.map((code) => ({ user_id: userId, hash: hashRecoveryCode(code) }));
  await recoveryCodes.insertAll(tx, rows);
  await updateUser(tx, userId, { recovery_codes_saved_at: null });
  return codes;
}

/** From now on, signing in requires a code. @returns the recovery codes. */
export async function confirmTotp(
  deps: PeopleDeps,
  ref: FactorRef,
  code: string,
): Promise<
  { readonly recoveryCodes: readonly string[]; readonly session: OpenedSession } | Refusal
> {
  const bucket = `totp set-up of ${ref.userId}`;
  const counted = { allowance: PER_SECOND_FACTOR, now: ref.now };
  const tooMany = await takeAttempt(deps.db, bucket, counted);
  if (tooMany !== null) return tooMany;
  const confirmed = await deps.db.transaction((tx) => confirmSetUp(deps, tx, { ref, code }));
  if (!isRefusal(confirmed)) await forgetAttempts(deps.db, bucket);
  return confirmed;
}

async function confirmSetUp(
  deps: PeopleDeps,
  tx: Tx,
  { ref, code }: { readonly ref: FactorRef; readonly code: string },
) {
  const user = present(await lockUser(tx, ref.userId), 'user');
  const totp = isSetUpOver(user, ref.now) ? null : storedTotp(deps, user);
  if (totp === null || user.totp_confirmed_at !== null) {
    return refuse('unexpected_state', 'Start setting up an authenticator app first.');
  }
  const step = stepOf(totp, code, ref.now);
  if (step === null) return refuse('parameter_invalid', codeRefused().message, 'code');
  await updateUser(tx, ref.userId, { totp_confirmed_at: ref.now });
  await deleteDevicesOf(tx, user.id);
  await updateTotpStep(tx, { userId: user.id, step });
  const recoveryCodes = await renewRecoveryCodes(tx, user.id);
  const hadPasskeys = (await countPasskeys(tx, user.id)) > 0;
  await mailFactorAdded(tx, deps, { user, change: 'totp_added', hadPasskeys, now: ref.now });
  return { recoveryCodes, session: await strengthenSession(tx, { ...ref, realm: user.realm }) };
}

/** Removes the authenticator app. Staff must keep at least one factor. */
export async function removeTotp(deps: PeopleDeps, ref: FactorRef): Promise<null | Refusal> {
  return deps.db.transaction(async (tx) => {
    const user = present(await lockUser(tx, ref.userId), 'user');
    if (user.realm === 'operator' && (await countPasskeys(tx, user.id)) === 0) {
      return refuse('unexpected_state', 'Add a passkey first. Staff need a second factor.');
    }
    await updateUser(tx, user.id, NO_TOTP);
    await deleteRecoveryCodes(tx, user.id);
    await deleteDevicesOf(tx, user.id);
    await mailFactorChange(tx, deps, { user, change: 'totp_removed', now: ref.now });
    return null;
  });
}

/** Creates ten new recovery codes. The old ones become invalid. */
export async function replaceRecoveryCodes(
  deps: PeopleDeps,
  ref: FactorRef,
): Promise<readonly string[] | Refusal> {
  return deps.db.transaction(async (tx) => {
    const user = present(await lockUser(tx, ref.userId), 'user');
    if (user.totp_confirmed_at === null) {
      return refuse('unexpected_state', 'Set up an authenticator app first.');
    }
    await mailFactorChange(tx, deps, { user, change: 'codes_renewed', now: ref.now });
    return renewRecoveryCodes(tx, user.id);
  });
}

async function acceptCode(
  deps: PeopleDeps,
  tx: Tx,
  input: { readonly user: UserRow; readonly code: string; readonly now: Date },
): Promise<boolean> {
  const { user, code, now } = input;
  if (digitsOf(code) === null) {
    const used = await takeRecoveryCode(tx, { userId: user.id, hash: hashRecoveryCode(code), now });
    if (used) await mailFactorChange(tx, deps, { user, change: 'code_used', now });
    return used;
  }
  const totp = user.totp_confirmed_at === null ? null : storedTotp(deps, user);
  const step = totp === null ? null : stepOf(totp, code, now);
  return step !== null && updateTotpStep(tx, { userId: user.id, step });
}

/**
 * Returns the limits that count a guess: on an unknown device, one for the person; on a known
 * device, one for all of the person's known devices and one for this device.
 */
function counts(userId: string, device: string | null) {
  if (device === null)
    return [{ bucket: secondFactorBucket(userId), allowance: PER_SECOND_FACTOR }];
  return [
    { bucket: `second-factor devices of ${userId}`, allowance: PER_KNOWN_DEVICES },
    { bucket: `second-factor ${device}`, allowance: PER_SECOND_FACTOR },
  ];
}

/**
 * Verifies the second factor: a code from the app, or a recovery code. The session gets its full
 * rights and a new token. Guesses are counted separately for known and unknown devices, so that a
 * thief with the password cannot lock the owner out. A person's codes can be guessed at most thirty
 * times an hour, however many sessions and cookies are used.
 */
export async function proveSecondFactor(
  deps: PeopleDeps,
  ref: FactorRef,
  proof: { readonly code: string; readonly device: string | null },
): Promise<OpenedSession | Refusal> {
  const { code } = proof;
  const counted = counts(ref.userId, proof.device);
  const all = counted.length > 1 ? counted[0] : undefined;
  const { bucket: own, allowance } = present(counted.at(-1), 'count');
  const ofAll =
    all === undefined
      ? null
      : await takeAttempt(deps.db, all.bucket, { allowance: all.allowance, now: ref.now });
  if (ofAll !== null) return ofAll;
  const { refused, guesses } = await takeGuess(deps.db, own, { allowance, now: ref.now });
  if (refused !== null && all !== undefined) await giveBackAttempt(deps.db, all.bucket);
  if (refused !== null) return refused;
  const session = await deps.db.transaction<OpenedSession | Refusal>(async (tx) => {
    const user = present(await lockUser(tx, ref.userId), 'user');
    if (!(await acceptCode(deps, tx, { user, code, now: ref.now }))) {
      if (guesses === MAILED_AT_GUESS) await mailGuessed(tx, deps, { user, now: ref.now });
      return codeRefused();
    }
    return strengthenSession(tx, { ...ref, realm: user.realm });
  });
  if (!isRefusal(session)) {
    for (const { bucket } of counted) await forgetAttempts(deps.db, bucket);
  }
  return session;
}

/** Records that the person has stored the recovery codes, which ends the reminder. */
export async function confirmCodesSaved(deps: PeopleDeps, ref: FactorRef): Promise<Refusal | null> {
  return deps.db.transaction(async (tx) => {
    await lockUser(tx, ref.userId);
    if ((await countRecoveryCodes(tx, ref.userId)) === 0) {
      return refuse('unexpected_state', 'There are no recovery codes. Create new ones first.');
    }
    await updateUser(tx, ref.userId, { recovery_codes_saved_at: ref.now });
    return null;
  });
}
