import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { isRefusal, type Refusal } from '#core/answer.ts';
import type { Tx } from '#db/database.ts';
import {
  addressBucket,
  giveBackAttempt,
  PER_ADDRESS,
  takeAttempt,
} from '#people/attempt-limits.ts';
import { passkeyRefused, recall, remember } from '#people/passkey-challenges.ts';
import {
  lockPasskey,
  type PasskeyRow,
  selectPasskeys,
  updatePasskeyUse,
} from '#people/passkey-queries.ts';
import { loadWebAuthn } from '#people/passkeys.ts';
import type { PeopleDeps, Visit } from '#people/people-context.ts';
import type { FactorRef } from '#people/second-factor.ts';
import { type OpenedSession, openSession, strengthenSession } from '#people/sessions.ts';
import { type Realm, selectUser, type UserRow } from '#people/user-queries.ts';

/**
 * Returns the browser's options for a sign-in with any passkey or, if a user is given, for a second
 * factor with one of that user's passkeys.
 */
export async function beginPasskeySignIn(
  deps: PeopleDeps,
  ceremony: { readonly realm: Realm; readonly userId: string | null; readonly now: Date },
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const known = ceremony.userId === null ? [] : await selectPasskeys(deps.db, ceremony.userId);
  const { generateAuthenticationOptions } = await loadWebAuthn();
  const options = await generateAuthenticationOptions({
    rpID: deps.passkeys.rpId,
    userVerification: 'required',
    allowCredentials: known.map((passkey) => ({
      id: passkey.credential_id,
      transports: passkey.transports as AuthenticatorTransport[],
    })),
  });
  const purpose = ceremony.userId === null ? 'sign_in' : 'second_factor';
  await remember(deps, options.challenge, { ...ceremony, purpose });
  return options;
}

async function verifyUse(
  deps: PeopleDeps,
  input: {
    readonly response: AuthenticationResponseJSON;
    readonly challenge: string;
    readonly passkey: PasskeyRow;
  },
): Promise<number | null> {
  const { passkey } = input;
  const { verifyAuthenticationResponse } = await loadWebAuthn();
  try {
    const result = await verifyAuthenticationResponse({
      response: input.response,
      expectedChallenge: input.challenge,
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
    return null; // The library throws for invalid responses and cloned authenticators.
  }
}

/**
 * Verifies a passkey's response and records its use. @returns the passkey's owner; `null` if the
 * response is invalid.
 */
async function acceptPasskey(
  deps: PeopleDeps,
  tx: Tx,
  input: {
    readonly response: AuthenticationResponseJSON;
    readonly challenge: string;
    readonly now: Date;
  },
): Promise<UserRow | null> {
  const passkey = await lockPasskey(tx, input.response.id);
  if (passkey === undefined) return null;
  const counter = await verifyUse(deps, { ...input, passkey });
  if (counter === null) return null;
  await updatePasskeyUse(tx, { id: passkey.id, counter, now: input.now });
  return (await selectUser(tx, passkey.user_id)) ?? null;
}

/**
 * Signs in with a passkey alone. It counts as two factors: having the device and unlocking it.
 * Wrong passwords do not lock passkeys, so the owner can always sign in.
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
    const opening = { userId: user.id, realm, level: 'full', secondFactorAt: now, visit } as const;
    return { session: await openSession(tx, opening), user };
  });
  if (!isRefusal(result)) await giveBackAttempt(deps.db, bucket);
  return result;
}

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
