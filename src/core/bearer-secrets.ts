import { createCipheriv, createDecipheriv, randomBytes, timingSafeEqual } from 'node:crypto';
import { assert } from './assert.ts';
import { base62 } from './base62.ts';
import { cellOfDigit, FIRST_CELL } from './cell-digit.ts';
import { sha256 } from './sha256.ts';

/** The prefixes of bearer secrets (behavior.md 3.1). */
export const SECRET_PREFIXES = {
  apiKeyTest: 'tlsk_test_',
  apiKeyLive: 'tlsk_live_',
  deviceKeyTest: 'tldk_test_',
  deviceKeyLive: 'tldk_live_',
  agentToken: 'agt_',
  pass: 'nfc_',
  passCode: 'tlpc_',
  smartTap: 'tlst_',
  appleVas: 'tlav_',
  payerSession: 'tlps_',
  session: 'tlus_',
  mailLink: 'tlml_',
  invitation: 'tliv_',
  knownDevice: 'tlkd_',
  holdLink: 'tlhl_',
  exportLink: 'tlel_',
} as const;

export type SecretKind = keyof typeof SECRET_PREFIXES;

/** Number of random base62 digits: 32 hold 190 bits, and at least 160 are required. */
const RANDOM_LENGTH = 32;
/**
 * Number of digits of the checksum, from a SHA-256. One made-up secret in 56 billion passes the
 * check.
 */
const CHECKSUM_LENGTH = 6;
const BODY = /^[0-9A-Za-z]{38}$/;
const BODY_WITH_CELL = /^[0-9A-Za-z]{39}$/;
/**
 * Keys of merchants and terminals contain the cell of their account, as one digit right after the
 * prefix, so that a load balancer can route a request by its key alone. Older keys lack the digit;
 * they belong to the first cell.
 */
const WRITTEN_WITH_CELL: ReadonlySet<SecretKind> = new Set([
  'apiKeyTest',
  'apiKeyLive',
  'deviceKeyTest',
  'deviceKeyLive',
]);
/**
 * Secrets that payers and people use in other cells also contain the cell digit, except in the
 * first cell. The first cell does not write the digit yet, because processes of the previous
 * release could not read it during a rolling update (docs/guides/upgrading.md). No other cell has
 * ever run an earlier release.
 */
const READ_WITH_CELL: ReadonlySet<SecretKind> = new Set([
  ...WRITTEN_WITH_CELL,
  'agentToken',
  'pass',
  'passCode',
  'smartTap',
  'appleVas',
  'payerSession',
  'session',
]);

function checksum(text: string): string {
  const digest = sha256(`tapline:${text}`);
  return base62(digest.readBigUInt64BE(0), CHECKSUM_LENGTH);
}

function markOf(kind: SecretKind, cell: number): string {
  if (WRITTEN_WITH_CELL.has(kind)) return String(cell);
  return READ_WITH_CELL.has(kind) && cell !== FIRST_CELL ? String(cell) : '';
}

/**
 * Creates a secret: prefix, cell digit, 190 random bits, checksum. Show it once and store only its
 * hash.
 */
export function newSecret(kind: SecretKind, cell = FIRST_CELL): string {
  const mark = markOf(kind, cell);
  const random = BigInt(`0x${randomBytes(32).toString('hex')}`);
  const text = SECRET_PREFIXES[kind] + mark + base62(random, RANDOM_LENGTH);
  return text + checksum(text);
}

/**
 * True if the prefix, length and checksum are right. This refuses typing errors without a database
 * query.
 */
export function isSecret(kind: SecretKind, text: string): boolean {
  const prefix = SECRET_PREFIXES[kind];
  const body = text.slice(prefix.length);
  const fits = BODY.test(body) || (READ_WITH_CELL.has(kind) && BODY_WITH_CELL.test(body));
  if (!text.startsWith(prefix) || !fits) return false;
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/**
 * Returns the cell in which a secret of this kind was created; null if `text` is not such a secret
 * (see {@link isSecret}).
 */
export function cellOfSecret(kind: SecretKind, text: string): number | null {
  if (!isSecret(kind, text)) return null;
  const body = text.slice(SECRET_PREFIXES[kind].length);
  return BODY.test(body) ? FIRST_CELL : cellOfDigit(body.charAt(0));
}

/**
 * A plain SHA-256 is enough: a secret has 190 random bits and cannot be guessed, and a look-up by
 * hash leaks nothing through its timing.
 */
export function hashSecret(secret: string): Buffer {
  return sha256(secret);
}

export function equalInConstantTime(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/**
 * A key and, while the service's secret is being rotated, its predecessor. The key itself encrypts
 * and signs new data; existing data is accepted with either.
 */
export interface RotatingKey extends Buffer {
  previous?: Buffer;
}

export function withPrevious(key: Buffer, previous: Buffer | undefined): RotatingKey {
  const rotating: RotatingKey = Buffer.from(key);
  if (previous !== undefined) rotating.previous = previous;
  return rotating;
}

/** Returns the key and, if it has one, its predecessor. */
export function keysOf(key: RotatingKey): readonly Buffer[] {
  return key.previous === undefined ? [key] : [key, key.previous];
}

/**
 * Encrypts with AES-256-GCM and returns the IV, tag and ciphertext. `context` (an id) prevents the
 * secret of one row from being moved to another.
 */
export function encrypt(key: Buffer, plain: string, context: string): Buffer {
  assert(key.length === KEY_BYTES, 'the encryption key must have 32 bytes');
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]);
}

/**
 * @throws if the key or the context differs from that of `encrypt`, or if the bytes were changed
 */
export function decrypt(key: RotatingKey, sealed: Buffer, context: string): string {
  if (key.previous === undefined) return open(key, sealed, context);
  try {
    return open(key, sealed, context);
  } catch {
    return open(key.previous, sealed, context);
  }
}

function open(key: Buffer, sealed: Buffer, context: string): string {
  assert(key.length === KEY_BYTES, 'the encryption key must have 32 bytes');
  const iv = sealed.subarray(0, IV_BYTES);
  // Sets the tag length, because Node would otherwise accept tags of four bytes, which can be
  // guessed.
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const body = sealed.subarray(IV_BYTES + TAG_BYTES);
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
}
