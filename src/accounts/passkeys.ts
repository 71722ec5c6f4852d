import { createHash } from 'node:crypto';
import {
  type AuthenticationResponseJSON,
  type AuthenticatorTransport,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { addressBucket, giveBackAttempt, PER_ADDRESS, takeAttempt } from '#accounts/attempts.ts';
import { deleteDevicesOf } from '#accounts/device-queries.ts';
import { readName } from '#accounts/names.ts';
import {
  type ChallengePurpose,
  countPasskeys,
  deletePasskey,
  insertChallenge,
  insertPasskey,
  lockPasskey,
  type PasskeyRow,
  selectPasskeys,
  takeChallenge,
  updatePasskeyUse,
} from '#accounts/passkey-queries.ts';
import type { PeopleDeps, Visit } from '#accounts/people.ts';
import type { FactorRef } from '#accounts/second-factor.ts';
import { type OpenedSession, openSession, strengthenSession } from '#accounts/sessions.ts';
import { lockUser, type Realm, selectUser, type UserRow } from '#accounts/user-queries.ts';
import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/refusal.ts';
import type { Tx } from '#db/database.ts';

/** Time to find the key or the phone. */
const CHALLENGE_MS = 5 * 60_000;
const MAX_PASSKEYS = 20;

export function passkeyRefused(): Refusal {
  return refuse('sign_in_failed', 'This passkey could not be verified. Start again.');
}

function hashChallenge(challenge: string): Buffer {
  return createHash('sha256').update(challenge).digest();
}

/** The challenge that a browser answered, or null for what is no answer. */
function challengeOf(clientDataJSON: string): string | null {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
    const isObject = typeof data === 'object' && data !== null && 'challenge' in data;
    return isObject && typeof data.challenge === 'string' ? data.challenge : null;
  } catch {
    return null;
  }
}

interface Ceremony {
  readonly realm: Realm;
  readonly purpose: ChallengePurpose;
  readonly userId: string | null;
  readonly now: Date;
}

async function remember(deps: PeopleDeps, challenge: string, of: Ceremony): Promise<void> {
  const expiresAt = addMs(of.now, CHALLENGE_MS);
  await insertChallenge(deps.db, { ...of, hash: hashChallenge(challenge), expiresAt });
}

/** The challenge when it is one of ours, for this ceremony and user, and fresh; it is used up. */
async function recall(
  deps: PeopleDeps,
  clientDataJSON: string,
  of: Ceremony,
): Promise<string | null> {
  const challenge = challengeOf(clientDataJSON);
  if (challenge === null) return null;
  const taken = await takeChallenge(deps.db, { ...of, hash: hashChallenge(challenge) });
  return taken !== undefined && taken.user_id === of.userId ? challenge : null;
}

/** What the browser needs to make a passkey for this user. */
export async function beginPasskey(
  deps: PeopleDeps,
  ref: FactorRef,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const user = present(await selectUser(deps.db, ref.userId), 'user');
  const known = await selectPasskeys(deps.db, user.id);
  const options = await generateRegistrationOptions({
    rpID: deps.passkeys.rpId,
    rpName: deps.passkeys.rpName,
    userID: new TextEncoder().encode(user.id),
    userName: user.email,
    userDisplayName: user.name,
    attestationType: 'none',
    excludeCredentials: known.map((passkey) => ({ id: passkey.credential_id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  const ceremony = { realm: user.realm, purpose: 'register', userId: user.id } as const;
  await remember(deps, options.challenge, { ...ceremony, now: ref.now });
  return options;
}

async function verifyNew(
  deps: PeopleDeps,
  response: RegistrationResponseJSON,
  expectedChallenge: string,
) {
  try {
    const result = await verifyRegistrationResponse({
      response,
      expectedChallenge,
      expectedOrigin: [...deps.passkeys.origins],
      expectedRPID: deps.passkeys.rpId,
      requireUserVerification: true,
    });
    return result.verified ? result.registrationInfo.credential : null;
  } catch {
    return null; // The library throws for every kind of malformed or foreign answer.
  }
}

/** Stores the passkey that the browser made. It is a full second factor, and signs in alone. */
export async function addPasskey(
  deps: PeopleDeps,
  ref: FactorRef,
  input: { readonly name: string; readonly response: RegistrationResponseJSON },
): Promise<{ readonly passkeyId: string; readonly session: OpenedSession } | Refusal> {
  const name = readName(input.name, 'name');
  if (isRefusal(name)) return name;
  const user = present(await selectUser(deps.db, ref.userId), 'user');
  const ceremony = {
    realm: user.realm,
    purpose: 'register',
    userId: user.id,
    now: ref.now,
  } as const;
  const { clientDataJSON } = input.response.response;
  const challenge = await recall(deps, clientDataJSON, ceremony);
  const credential = challenge === null ? null : await verifyNew(deps, input.response, challenge);
  if (credential === null) {
    return refuse('parameter_invalid', passkeyRefused().message, 'response');
  }
  return deps.db.transaction(async (tx) => {
    await lockUser(tx, user.id);
    if ((await countPasskeys(tx, user.id)) >= MAX_PASSKEYS) {
      return refuse('unexpected_state', `At most ${MAX_PASSKEYS} passkeys: remove one first.`);
    }
    const id = newId('passkey', ref.now);
    const added = await insertPasskey(tx, {
      id,
      userId: user.id,
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey),
      counter: credential.counter,
      transports: credential.transports ?? [],
      name,
      now: ref.now,
    });
    if (!added) return refuse('already_exists', 'This passkey is registered already.', 'response');
    await deleteDevicesOf(tx, user.id);
    return { passkeyId: id, session: await strengthenSession(tx, { ...ref, realm: user.realm }) };
  });
}

export async function removePasskey(
  deps: PeopleDeps,
  ref: FactorRef,
  id: string,
): Promise<null | Refusal> {
  return deps.db.transaction(async (tx) => {
    const user = present(await lockUser(tx, ref.userId), 'user');
    const isLast = (await countPasskeys(tx, user.id)) === 1 && user.totp_confirmed_at === null;
    if (user.realm === 'operator' && isLast) {
      return refuse('unexpected_state', 'Add another factor first: staff need a second factor.');
    }
    const gone = await deletePasskey(tx, { id, userId: user.id });
    if (gone === undefined) return resourceMissing('passkey');
    await deleteDevicesOf(tx, user.id);
    return null;
  });
}

/** What the browser needs to sign in by passkey, or (as second factor) with one of the user's. */
export async function beginPasskeySignIn(
  deps: PeopleDeps,
  of: { readonly realm: Realm; readonly userId: string | null; readonly now: Date },
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const known = of.userId === null ? [] : await selectPasskeys(deps.db, of.userId);
  const options = await generateAuthenticationOptions({
    rpID: deps.passkeys.rpId,
    userVerification: 'required',
    allowCredentials: known.map((passkey) => ({
      id: passkey.credential_id,
      transports: passkey.transports as AuthenticatorTransport[],
    })),
  });
  const purpose = of.userId === null ? 'sign_in' : 'second_factor';
  await remember(deps, options.challenge, { ...of, purpose });
  return options;
}

async function verifyUse(
  deps: PeopleDeps,
  of: {
    readonly response: AuthenticationResponseJSON;
    readonly challenge: string;
    readonly passkey: PasskeyRow;
  },
): Promise<number | null> {
  const { passkey } = of;
  try {
    const result = await verifyAuthenticationResponse({
      response: of.response,
      expectedChallenge: of.challenge,
      expectedOrigin: [...deps.passkeys.origins],
      expectedRPID: deps.passkeys.rpId,
      requireUserVerification: true,
      credential: {
        id: passkey.credential_id,
        publicKey: new Uint8Array(passkey.public_key),
        counter: Number(passkey.counter),
      },
    });
    return result.verified ? result.authenticationInfo.newCounter : null;
  } catch {
    return null; // As above; a counter that went backwards (a copied key) throws, too.
  }
}

/** The owner of the passkey that gave this answer, its use noted; null when it is not valid. */
async function acceptPasskey(
  deps: PeopleDeps,
  tx: Tx,
  of: {
    readonly response: AuthenticationResponseJSON;
    readonly challenge: string;
    readonly now: Date;
  },
): Promise<UserRow | null> {
  const passkey = await lockPasskey(tx, of.response.id);
  if (passkey === undefined) return null;
  const counter = await verifyUse(deps, { ...of, passkey });
  if (counter === null) return null;
  await updatePasskeyUse(tx, { id: passkey.id, counter, now: of.now });
  return (await selectUser(tx, passkey.user_id)) ?? null;
}

/**
 * Signs in with a passkey alone: having it and unlocking it are two factors in one. Not subject
 * to the count of wrong passwords, so its owner can always get in.
 */
export async function signInWithPasskey(
  deps: PeopleDeps,
  input: {
    readonly realm: Realm;
    readonly response: AuthenticationResponseJSON;
    readonly visit: Visit;
  },
): Promise<{ readonly session: OpenedSession; readonly user: UserRow } | Refusal> {
  const { realm, visit, response } = input;
  const { now } = visit;
  const bucket = addressBucket('passkey', visit.address);
  const tooMany = await takeAttempt(deps.db, bucket, { allowance: PER_ADDRESS, now });
  if (tooMany !== null) return tooMany;
  const ceremony = { realm, purpose: 'sign_in', userId: null, now } as const;
  const challenge = await recall(deps, response.response.clientDataJSON, ceremony);
  if (challenge === null) return passkeyRefused();
  const result = await deps.db.transaction(async (tx) => {
    const user = await acceptPasskey(deps, tx, { response, challenge, now });
    if (user === null || user.realm !== realm || user.status !== 'active') return passkeyRefused();
    const of = { userId: user.id, realm, level: 'full', secondFactorAt: now, visit } as const;
    return { session: await openSession(tx, of), user };
  });
  if (!isRefusal(result)) await giveBackAttempt(deps.db, bucket);
  return result;
}

/** Proves the second factor of a session that is there, as a code would. */
export async function provePasskey(
  deps: PeopleDeps,
  ref: FactorRef & { readonly realm: Realm },
  response: AuthenticationResponseJSON,
): Promise<OpenedSession | Refusal> {
  const { realm, userId, now } = ref;
  const ceremony = { realm, purpose: 'second_factor', userId, now } as const;
  const challenge = await recall(deps, response.response.clientDataJSON, ceremony);
  if (challenge === null) return passkeyRefused();
  return deps.db.transaction(async (tx) => {
    const user = await acceptPasskey(deps, tx, { response, challenge, now });
    if (user === null || user.id !== userId) return passkeyRefused();
    return strengthenSession(tx, ref);
  });
}
