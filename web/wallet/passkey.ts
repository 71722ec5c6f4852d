import { hasName } from '../data/passkey.ts';
import { fromBase64, randomBytes, toBase64 } from './bytes.ts';

/** Why a passkey did not open the wallet, or cannot keep it. */
export class PasskeyError extends Error {
  readonly reason: 'refused' | 'without_secret';

  constructor(reason: 'refused' | 'without_secret', options?: ErrorOptions) {
    super(`passkey: ${reason}`, options);
    this.name = 'PasskeyError';
    this.reason = reason;
  }
}

/** A person may need to look for the device. */
const PATIENCE_MS = 120_000;
/** ES256 and RS256: what every authenticator has. The key itself is never used. */
const ALGORITHMS = [-7, -257];

/** The passkey that a secret comes from, and what was asked of it. */
export interface PasskeySecret {
  readonly credential: string;
  readonly salt: string;
  readonly secret: ArrayBuffer;
}

/** Whether this device can keep a key behind its own lock. May say yes where PRF is missing. */
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

async function asked(credential: Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const found = await credential;
    if (found instanceof PublicKeyCredential) return found;
  } catch (cause) {
    throw new PasskeyError('refused', { cause });
  }
  throw new PasskeyError('refused');
}

function prf(salt: string): AuthenticationExtensionsClientInputs {
  return { prf: { eval: { first: fromBase64(salt) } } };
}

/** The same 32 bytes each time, from the passkey alone. @throws PasskeyError */
export async function askPasskey(passkey: {
  readonly credential: string;
  readonly salt: string;
}): Promise<ArrayBuffer> {
  const credential = await asked(
    navigator.credentials.get({
      publicKey: {
        challenge: randomBytes(32),
        allowCredentials: [{ type: 'public-key', id: fromBase64(passkey.credential) }],
        userVerification: 'required',
        timeout: PATIENCE_MS,
        extensions: prf(passkey.salt),
      },
    }),
  );
  const secret = secretOf(credential);
  if (secret === null) throw new PasskeyError('without_secret');
  return secret;
}

/** A new passkey and its secret. @throws PasskeyError `without_secret`: the device has no PRF. */
export async function createPasskey(name: string): Promise<PasskeySecret> {
  const salt = toBase64(randomBytes(32));
  const made = await asked(
    navigator.credentials.create({
      publicKey: {
        challenge: randomBytes(32),
        rp: { name: 'Tapline Wallet' },
        user: { id: randomBytes(16), name, displayName: name },
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
        authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
        timeout: PATIENCE_MS,
        extensions: prf(salt),
      },
    }),
  );
  const credential = toBase64(new Uint8Array(made.rawId));
  const now = secretOf(made);
  if (now !== null) return { credential, salt, secret: now };
  if (made.getClientExtensionResults().prf?.enabled !== true) {
    throw new PasskeyError('without_secret');
  }
  // Most authenticators give the secret only when they are asked again.
  return { credential, salt, secret: await askPasskey({ credential, salt }) };
}
