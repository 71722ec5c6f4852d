import type {
  PublicKeyCredentialCreationOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { newId } from '#core/ids.ts';
import { readName } from '#core/name-rules.ts';
import { deleteDevicesOf } from '#people/device-queries.ts';
import { mailFactorAdded, mailFactorChange } from '#people/factor-changes.ts';
import { passkeyRefused, recall, remember } from '#people/passkey-challenges.ts';
import { countPasskeys, deletePasskey, passkeys, selectPasskeys } from '#people/passkey-queries.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import type { FactorRef } from '#people/second-factor.ts';
import { type OpenedSession, strengthenSession } from '#people/sessions.ts';
import { lockUser, selectUser } from '#people/user-queries.ts';

const MAX_PASSKEYS = 20;

/** Loads the library at first use, because loading its 230 files took 5 % of the start-up time. */
export function loadWebAuthn() {
  return import('@simplewebauthn/server');
}

export async function beginPasskey(
  deps: PeopleDeps,
  ref: FactorRef,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const user = present(await selectUser(deps.db, ref.userId), 'user');
  const known = await selectPasskeys(deps.db, user.id);
  const { generateRegistrationOptions } = await loadWebAuthn();
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
  const { verifyRegistrationResponse } = await loadWebAuthn();
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
    return null; // The library throws for malformed responses and for those of other sites.
  }
}

/** Stores a new passkey. It counts as a second factor, and can also sign in alone. */
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
    const locked = present(await lockUser(tx, user.id), 'user');
    const before = await countPasskeys(tx, user.id);
    if (before >= MAX_PASSKEYS) {
      return refuse(
        'unexpected_state',
        `You can have at most ${MAX_PASSKEYS} passkeys. Remove one first.`,
      );
    }
    const id = newId('passkey', ref.now);
    const passkey = {
      ...{ id, name, user_id: user.id, credential_id: credential.id, created: ref.now },
      public_key: Buffer.from(credential.publicKey),
      counter: credential.counter,
      transports: credential.transports ?? [],
    };
    const added = await passkeys.upsert(tx, passkey, 'on conflict (credential_id) do nothing');
    if (added === undefined)
      return refuse('already_exists', 'This passkey is already registered.', 'response');
    await deleteDevicesOf(tx, user.id);
    const mail = { user: locked, change: 'passkey_added', hadPasskeys: before > 0 } as const;
    await mailFactorAdded(tx, deps, { ...mail, now: ref.now });
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
      return refuse('unexpected_state', 'Add another factor first. Staff need a second factor.');
    }
    const gone = await deletePasskey(tx, { id, userId: user.id });
    if (gone === undefined) return resourceMissing('passkey');
    await deleteDevicesOf(tx, user.id);
    await mailFactorChange(tx, deps, { user, change: 'passkey_removed', now: ref.now });
    return null;
  });
}
