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

/** One encrypted copy of the secrets, and what opens it. */
interface Lock {
  readonly seal: Seal;
  /**
   * AES-256-GCM ciphertext of the 32-byte key and, if the wallet has a recovery phrase, of the 16
   * bytes that the phrase stands for. The address is additional data. Base64.
   */
  readonly iv: string;
  readonly box: string;
}

export interface Vault extends Lock {
  readonly address: Hex;
  readonly hasPhrase?: boolean;
  /** A second copy, so that a passkey and a password each open the wallet. */
  readonly other?: Lock | undefined;
}

/** What the vault keeps. */
export interface Secrets {
  readonly privateKey: Hex;
  /** The bytes of the recovery phrase; `null` for a wallet that has only a key. */
  readonly entropy: Uint8Array | null;
}

/** The secret with which the user encrypts or unlocks the vault. */
export type Opener =
  | { readonly by: 'passkey' }
  | { readonly by: 'password'; readonly password: string };

/** The kinds of openers: a passkey, a password, or both. */
export type OpenerKind = Opener['by'];

function locksOf(vault: Vault): readonly Lock[] {
  return vault.other === undefined ? [vault] : [vault, vault.other];
}

/** True if a passkey, or a password, opens this vault. */
export function opensBy(vault: Vault, by: OpenerKind): boolean {
  return locksOf(vault).some(({ seal }) => seal.by === by);
}

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

async function lock(secrets: Secrets, address: Hex, opener: Opener): Promise<Lock> {
  const { seal, secret } = await newSeal(opener, address);
  const iv = toBase64(randomBytes(12));
  const key = await keyOf(secret);
  const content = Uint8Array.from([...fromHex(secrets.privateKey), ...(secrets.entropy ?? [])]);
  const box = await crypto.subtle.encrypt(cipher(iv, address), key, content);
  return { seal, iv, box: toBase64(new Uint8Array(box)) };
}

/** Encrypts the secrets. @throws PasskeyError */
export async function sealSecrets({
  secrets,
  address,
  opener,
}: {
  readonly secrets: Secrets;
  readonly address: Hex;
  readonly opener: Opener;
}): Promise<Vault> {
  const hasPhrase = secrets.entropy !== null;
  return { address, hasPhrase, ...(await lock(secrets, address, opener)) };
}

/** Adds an opener beside the vault's only one. @throws PasskeyError */
export async function addOpener(vault: Vault, secrets: Secrets, opener: Opener): Promise<Vault> {
  return { ...vault, other: await lock(secrets, vault.address, opener) };
}

/** Removes one of two openers. */
export function removeOpener(vault: Vault, by: OpenerKind): Vault {
  const { other, ...first } = vault;
  return other === undefined || first.seal.by !== by ? first : { ...first, ...other };
}

/** Returns the credential of the vault's passkey, if it has one. */
export function passkeyOf(vault: Vault): string | null {
  for (const { seal } of locksOf(vault)) if (seal.by === 'passkey') return seal.credential;
  return null;
}

/** The length of a private key. */
const KEY_BYTES = 32;

/** Decrypts the secrets. @throws WrongOpener, PasskeyError */
export async function openVault(vault: Vault, opener: Opener): Promise<Secrets> {
  const found = locksOf(vault).find(({ seal }) => seal.by === opener.by);
  if (found === undefined) throw new WrongOpener();
  const { seal, iv, box } = found;
  const secret =
    seal.by === 'passkey'
      ? await askPasskey(seal)
      : await passwordSecret(opener.by === 'password' ? opener.password : '', seal);
  const key = await keyOf(secret);
  try {
    const content = await crypto.subtle.decrypt(cipher(iv, vault.address), key, fromBase64(box));
    const bytes = new Uint8Array(content);
    const entropy = bytes.length > KEY_BYTES ? bytes.slice(KEY_BYTES) : null;
    return { privateKey: toHex(bytes.slice(0, KEY_BYTES)), entropy };
  } catch (cause) {
    throw new WrongOpener({ cause });
  }
}
