import { createCipheriv, createDecipheriv, randomBytes, timingSafeEqual } from 'node:crypto';
import { assert } from './assert.ts';
import { base62 } from './base62.ts';
import { cellOfMark, FIRST_CELL } from './cell.ts';
import { sha256 } from './sha256.ts';

/** Bearer secrets by their prefix (behavior.md 3.1). */
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
} as const;

export type SecretKind = keyof typeof SECRET_PREFIXES;

/** 32 base62 digits hold 190 bits; at least 160 are asked for. */
const RANDOM_LENGTH = 32;
/** 6 base62 digits of a SHA-256: one made-up secret in 56 billion gets past the door. */
const CHECKSUM_LENGTH = 6;
const BODY = /^[0-9A-Za-z]{38}$/;
const MARKED_BODY = /^[0-9A-Za-z]{39}$/;
/**
 * Keys of merchants and terminals say where their account lives: one digit right behind the prefix,
 * the cell's, so that a balancer brings a request there before anything is read. Keys from before
 * the mark have none, and belong to the first cell.
 */
const WRITTEN_WITH_MARK: ReadonlySet<SecretKind> = new Set([
  'apiKeyTest',
  'apiKeyLive',
  'deviceKeyTest',
  'deviceKeyLive',
]);
/**
 * What payers and people carry from one cell to another has the mark, too, in every cell but the
 * first. There it is written without one: a release reads a form before the next one writes it, or
 * the processes of the release before would refuse it while an update rolls out
 * (docs/going-back.md). No other cell is older than this release.
 */
const READ_WITH_MARK: ReadonlySet<SecretKind> = new Set([
  ...WRITTEN_WITH_MARK,
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
  if (WRITTEN_WITH_MARK.has(kind)) return String(cell);
  return READ_WITH_MARK.has(kind) && cell !== FIRST_CELL ? String(cell) : '';
}

/** A new secret: prefix, mark, 190 random bits, checksum. Show it once, keep its hash. */
export function newSecret(kind: SecretKind, cell = FIRST_CELL): string {
  const mark = markOf(kind, cell);
  const random = BigInt(`0x${randomBytes(32).toString('hex')}`);
  const text = SECRET_PREFIXES[kind] + mark + base62(random, RANDOM_LENGTH);
  return text + checksum(text);
}

/** Whether prefix, length and checksum fit: refuses typing errors without a database read. */
export function isSecret(kind: SecretKind, text: string): boolean {
  const prefix = SECRET_PREFIXES[kind];
  const body = text.slice(prefix.length);
  const fits = BODY.test(body) || (READ_WITH_MARK.has(kind) && MARKED_BODY.test(body));
  if (!text.startsWith(prefix) || !fits) return false;
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/** The cell that a secret of this kind was made in; null: it is none (see {@link isSecret}). */
export function cellOfSecret(kind: SecretKind, text: string): number | null {
  if (!isSecret(kind, text)) return null;
  const body = text.slice(SECRET_PREFIXES[kind].length);
  return BODY.test(body) ? FIRST_CELL : cellOfMark(body.charAt(0));
}

/**
 * What is stored of a bearer secret. A plain SHA-256 is right here: the input has 190 random bits,
 * so there is nothing to guess, and a look-up by hash leaks nothing through its timing.
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
 * A key that may know the one before it, while the service's secret is being changed: what is new
 * is sealed and signed under the key itself, what is there is opened and accepted under either.
 */
export interface RotatingKey extends Buffer {
  previous?: Buffer;
}

export function withPrevious(key: Buffer, previous: Buffer | undefined): RotatingKey {
  const rotating: RotatingKey = Buffer.from(key);
  if (previous !== undefined) rotating.previous = previous;
  return rotating;
}

/** The key, and the one before it where there is one. */
export function keysOf(key: RotatingKey): readonly Buffer[] {
  return key.previous === undefined ? [key] : [key, key.previous];
}

/** AES-256-GCM: iv, tag, ciphertext. `context` (an id) keeps a row's secret from being moved. */
export function encrypt(key: Buffer, plain: string, context: string): Buffer {
  assert(key.length === KEY_BYTES, 'the encryption key must have 32 bytes');
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]);
}

/** @throws when the key, the context or the bytes are not those of `encrypt`. */
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
  // The length is named because Node takes tags of four bytes otherwise: those can be guessed.
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const body = sealed.subarray(IV_BYTES + TAG_BYTES);
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
}
