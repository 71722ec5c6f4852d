import { fromBase64, fromHex, type Hex, randomBytes, toBase64, toHex } from '../data/bytes.ts';
import { askPasskey, createPasskey } from './passkey-secret.ts';

/**
 * Stores the wallet's private key in this browser, encrypted with a key from a passkey (WebAuthn
 * PRF) or from a password. The private key is never sent anywhere, and this module sends no
 * requests. The pay page opens the same vault.
 */

type Seal =
  | { readonly by: 'passkey'; readonly credential: string; readonly salt: string }
  | { readonly by: 'password'; readonly salt: string; readonly cost: ScryptCost };

interface ScryptCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

export interface Vault {
  readonly address: Hex;
  readonly seal: Seal;
  /** AES-256-GCM ciphertext of the 32-byte key, with the address as additional data. Base64. */
  readonly iv: string;
  readonly box: string;
}

/** The secret with which the user encrypts or unlocks the vault. */
export type Opener =
  | { readonly by: 'passkey' }
  | { readonly by: 'password'; readonly password: string };

/** Thrown if the password or passkey is wrong. */
export class WrongOpener extends Error {
  constructor(options?: ErrorOptions) {
    super('The vault does not open with it', options);
    this.name = 'WrongOpener';
  }
}

/**
 * Cost of a guess: 128 MB and about a second, which makes guessing a stolen vault's password
 * expensive.
 */
const COST: ScryptCost = { N: 2 ** 17, r: 8, p: 1 };
/** Minimum length. Shorter passwords are quickly guessed, whatever a guess costs. */
export const SHORTEST_PASSWORD = 10;

/** True if Web Crypto is available, which needs https or a local address. */
export function canKeepKeys(): boolean {
  return globalThis.crypto?.subtle !== undefined;
}

async function passwordSecret(
  password: string,
  { salt, cost }: { readonly salt: string; readonly cost: ScryptCost },
): Promise<BufferSource> {
  const { scryptAsync } = await import('@noble/hashes/scrypt.js');
  // Normalizes the password, because keyboards may produce different code points for the same
  // letter.
  const secret = await scryptAsync(password.normalize('NFKC'), fromBase64(salt), {
    ...cost,
    dkLen: 32,
    maxmem: 2 ** 28,
  });
  return new Uint8Array(secret);
}

async function keyOf(secret: BufferSource): Promise<CryptoKey> {
  const base = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey']);
  const info = new TextEncoder().encode('tapline wallet vault 1');
  return crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info },
    base,
    { name: 'AES-GCM', length: 256 },
    false,
    ['encrypt', 'decrypt'],
  );
}

function cipher(iv: string, address: Hex): AesGcmParams {
  const additionalData = new TextEncoder().encode(address);
  return { name: 'AES-GCM', iv: fromBase64(iv), additionalData };
}

async function newSeal(
  opener: Opener,
  address: Hex,
): Promise<{ readonly seal: Seal; readonly secret: BufferSource }> {
  if (opener.by === 'passkey') {
    const name = `Tapline ${address.slice(0, 6)}…${address.slice(-4)}`;
    const { secret, ...rest } = await createPasskey(name);
    return { seal: { by: 'passkey', ...rest }, secret };
  }
  const how = { salt: toBase64(randomBytes(16)), cost: COST };
  return {
    seal: { by: 'password', ...how },
    secret: await passwordSecret(opener.password, how),
  };
}

/** Encrypts the key. @throws PasskeyError */
export async function sealKey({
  privateKey,
  address,
  opener,
}: {
  readonly privateKey: Hex;
  readonly address: Hex;
  readonly opener: Opener;
}): Promise<Vault> {
  const { seal, secret } = await newSeal(opener, address);
  const iv = toBase64(randomBytes(12));
  const key = await keyOf(secret);
  const box = await crypto.subtle.encrypt(cipher(iv, address), key, fromHex(privateKey));
  return { address, seal, iv, box: toBase64(new Uint8Array(box)) };
}

/** Decrypts the key. @returns the private key. @throws WrongOpener, PasskeyError */
export async function openVault(vault: Vault, opener: Opener): Promise<Hex> {
  const { seal, address, iv, box } = vault;
  if (seal.by !== opener.by) throw new WrongOpener();
  const secret =
    seal.by === 'passkey'
      ? await askPasskey(seal)
      : await passwordSecret(opener.by === 'password' ? opener.password : '', seal);
  const key = await keyOf(secret);
  try {
    const bytes = await crypto.subtle.decrypt(cipher(iv, address), key, fromBase64(box));
    return toHex(new Uint8Array(bytes));
  } catch (cause) {
    throw new WrongOpener({ cause });
  }
}
