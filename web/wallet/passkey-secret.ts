import { fromBase64, randomBytes, toBase64 } from '../data/bytes.ts';
import { hasName } from '../data/passkey.ts';
import { signalUnknownPasskey } from '../data/signal-unknown-passkey.ts';

/** Thrown if a passkey could not unlock the wallet or protect its key, with the reason. */
export class PasskeyError extends Error {
  readonly reason: 'refused' | 'without_secret';

  constructor(reason: 'refused' | 'without_secret', options?: ErrorOptions) {
    super(`passkey: ${reason}`, options);
    this.name = 'PasskeyError';
    this.reason = reason;
  }
}

/** Time limit: the user may have to fetch the device first. */
const TIMEOUT_MS = 120_000;
/**
 * ES256 and RS256, one of which every authenticator supports. The passkey's own signature is not
 * used.
 */
const ALGORITHMS = [-7, -257];

/** The passkey that yields the secret, with its salt. */
export interface PasskeySecret {
  readonly credential: string;
  readonly salt: string;
  readonly secret: ArrayBuffer;
}

/** True if this device has a platform authenticator. PRF may still be missing. */
export async function canUsePasskeys(): Promise<boolean> {
  if (typeof PublicKeyCredential === 'undefined' || !hasName()) return false;
  try {
    const can = await PublicKeyCredential.getClientCapabilities?.();
    if (can?.['extension:prf'] === false) return false;
    return await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable();
  } catch {
    return false;
  }
}

function secretOf(credential: PublicKeyCredential): ArrayBuffer | null {
  const first = credential.getClientExtensionResults().prf?.results?.first;
  if (first === undefined) return null;
  return first instanceof ArrayBuffer ? first : new Uint8Array(first as Uint8Array).slice().buffer;
}

async function publicKeyOf(credential: Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const result = await credential;
    if (result instanceof PublicKeyCredential) return result;
  } catch (cause) {
    throw new PasskeyError('refused', { cause });
  }
  throw new PasskeyError('refused');
}

function prf(salt: string): AuthenticationExtensionsClientInputs {
  return { prf: { eval: { first: fromBase64(salt) } } };
}

/** Returns the same 32 bytes each time, derived by the passkey. @throws PasskeyError */
export async function askPasskey(passkey: {
  readonly credential: string;
  readonly salt: string;
}): Promise<ArrayBuffer> {
  const credential = await publicKeyOf(
    navigator.credentials.get({
      publicKey: {
        challenge: randomBytes(32),
        allowCredentials: [{ type: 'public-key', id: fromBase64(passkey.credential) }],
        userVerification: 'required',
        timeout: TIMEOUT_MS,
        extensions: prf(passkey.salt),
      },
    }),
  );
  const secret = secretOf(credential);
  if (secret === null) throw new PasskeyError('without_secret');
  return secret;
}

/**
 * Creates a passkey and its secret. @throws PasskeyError `without_secret` if the device lacks PRF.
 */
export async function createPasskey(name: string): Promise<PasskeySecret> {
  const salt = toBase64(randomBytes(32));
  const made = await publicKeyOf(
    navigator.credentials.create({
      publicKey: {
        challenge: randomBytes(32),
        rp: { name: 'Tapline Wallet' },
        user: { id: randomBytes(16), name, displayName: name },
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
        timeout: TIMEOUT_MS,
        extensions: prf(salt),
      },
    }),
  );
  const credential = toBase64(new Uint8Array(made.rawId));
  const now = secretOf(made);
  if (now !== null) return { credential, salt, secret: now };
  if (made.getClientExtensionResults().prf?.enabled !== true) {
    await signalUnknownPasskey(credential);
    throw new PasskeyError('without_secret');
  }
  // Most authenticators return the secret only in a second request.
  return { credential, salt, secret: await askPasskey({ credential, salt }) };
}
