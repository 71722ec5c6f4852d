import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { decrypt, encrypt, type RotatingKey } from '#core/bearer-secrets.ts';
import { afterWrong, isBlocked, type Tries } from '#core/pin-and-code-lockout.ts';
import type { Tx } from '#db/database.ts';
import { noteCopiesChanged } from '#payers/pass-copy-queries.ts';
import { lockPayer, selectPass } from '#payers/payer-queries.ts';
import {
  insertFirstRotatingKey,
  type RotatingKeyRow,
  selectTestRotating,
  upsertRotatingKey,
} from '#payers/rotating-key-queries.ts';

/**
 * A rotating pass shows a code that changes every 30 seconds (RFC 6238, HMAC-SHA-1, eight digits),
 * so it needs no network. The steps follow real time, even if a test clock is moved.
 */

export const STEP_MS = 30_000;
export const CODE_DIGITS = 8;
/** The length of a key, as RFC 4226 recommends for HMAC-SHA-1. */
const KEY_BYTES = 20;
/**
 * Number of earlier codes that are accepted, because the code may change while the phone is being
 * scanned.
 */
const STEPS_BACK = 1;

export function stepAt(now: Date): number {
  return Math.floor(now.getTime() / STEP_MS);
}

export function codeOf(key: Buffer, step: number, digits = CODE_DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', key).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** Returns the value that the customer's phone shows: the pass's ID and a code. */
export function rotatingValue(passId: string, code: string): string {
  return `${passId}.${code}`;
}

export function openRotatingKey(
  cardKey: RotatingKey,
  row: Pick<RotatingKeyRow, 'key' | 'pass_id'>,
): Buffer {
  return Buffer.from(decrypt(cardKey, row.key, row.pass_id), 'hex');
}

export interface JudgedCode {
  readonly decline: 'pass_code_expired' | 'pass_code_used' | null;
  readonly after: RotatingKeyRow;
}

/** Returns the step of the code, searching from the newest; `null` if the code is not valid now. */
function stepOf(key: Buffer, code: string, now: Date): number | null {
  const newest = stepAt(now);
  const presented = Buffer.from(code);
  for (let step = newest; step >= newest - STEPS_BACK; step--) {
    const expected = Buffer.from(codeOf(key, step));
    if (expected.length === presented.length && timingSafeEqual(expected, presented)) return step;
  }
  return null;
}

function triesOf({ wrong_at, blocked_until }: RotatingKeyRow): Tries {
  return { wrongAt: wrong_at, blockedUntil: blocked_until };
}

function countWrong(row: RotatingKeyRow, now: Date): RotatingKeyRow {
  const { wrongAt, blockedUntil } = afterWrong(triesOf(row), now);
  return { ...row, wrong_at: [...wrongAt], blocked_until: blockedUntil };
}

/**
 * Checks a code, without side effects. `row` must be locked, and must include the codes that
 * earlier taps of the same batch have used.
 */
export function judgeCode(
  row: RotatingKeyRow,
  presented: { readonly code: string; readonly key: Buffer; readonly now: Date },
): JudgedCode {
  const { code, key, now } = presented;
  if (isBlocked(triesOf(row), now)) {
    return { decline: 'pass_code_expired', after: row };
  }
  const step = stepOf(key, code, now);
  if (step === null) return { decline: 'pass_code_expired', after: countWrong(row, now) };
  if (step <= Number(row.lost_step)) return { decline: 'pass_code_expired', after: row };
  if (step <= Number(row.last_step)) return { decline: 'pass_code_used', after: row };
  return { decline: null, after: { ...row, last_step: BigInt(step) } };
}

/** Creates a new key for a pass. Codes of the previous key become invalid. */
export async function createRotatingKey(
  tx: Tx,
  made: {
    readonly payerId: string;
    readonly passId: string;
    readonly cardKey: RotatingKey;
    readonly now: Date;
  },
): Promise<Buffer | Refusal> {
  const { payerId, passId, cardKey, now } = made;
  await lockPayer(tx, payerId);
  const pass = await selectPass(tx, passId);
  if (pass === undefined || pass.payer_id !== payerId) return resourceMissing('pass');
  if (pass.revoked_at !== null) {
    return refuse('unexpected_state', 'This pass was revoked and no longer has codes.');
  }
  const { key, sealed } = newRotatingKey(cardKey, passId);
  await upsertRotatingKey(tx, { passId, key: sealed, now });
  await noteCopiesChanged(tx, { passId, wallets: ['google'], now });
  return key;
}

function newRotatingKey(cardKey: RotatingKey, passId: string) {
  const key = randomBytes(KEY_BYTES);
  return { key, sealed: encrypt(cardKey, key.toString('hex'), passId) };
}

/** Creates a key for the pass if it has none. The caller must hold the payer's lock. */
export async function ensureRotatingKey(
  tx: Tx,
  filter: { readonly passId: string; readonly cardKey: RotatingKey; readonly now: Date },
): Promise<void> {
  const { passId, cardKey, now } = filter;
  await insertFirstRotatingKey(tx, { passId, key: newRotatingKey(cardKey, passId).sealed, now });
}

/**
 * Returns the key of a pass in test mode, and creates it if necessary. Concurrent calls get the
 * same key. `null` if there is no active pass with this ID.
 */
export async function testRotatingKey(
  tx: Tx,
  filter: { readonly passId: string; readonly cardKey: RotatingKey; readonly now: Date },
): Promise<Buffer | null> {
  const { passId, cardKey, now } = filter;
  let pass = await selectTestRotating(tx, passId);
  if (pass === undefined) return null;
  if (pass.key === null) {
    await ensureRotatingKey(tx, { passId, cardKey, now });
    // If a concurrent call created the key, only a new statement sees it.
    pass = await selectTestRotating(tx, passId);
  }
  return openRotatingKey(cardKey, { pass_id: passId, key: present(pass?.key, 'rotating key') });
}
