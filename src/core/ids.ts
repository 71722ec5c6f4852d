import { createHmac, createSecretKey, type KeyObject, randomFillSync } from 'node:crypto';
import { base62, fromBase62 } from './base62.ts';
import { cellOfDigit, FIRST_CELL } from './cell.ts';
import { networkOf, type Tenant } from './mode.ts';

/** Prefixes of ids (behavior.md 3.7). */
export const ID_PREFIXES = {
  account: 'acct_',
  organization: 'org_',
  location: 'loc_',
  user: 'usr_',
  apiKey: 'key_',
  payer: 'pyr_',
  pass: 'pass_',
  card: 'card_',
  chip: 'chip_',
  agentToken: 'agtok_',
  approval: 'apv_',
  faucet: 'fct_',
  transfer: 'trf_',
  terminal: 'tml_',
  shift: 'shf_',
  paymentIntent: 'pi_',
  payment: 'pay_',
  refund: 're_',
  withdrawal: 'wdr_',
  event: 'evt_',
  webhookEndpoint: 'we_',
  webhookDelivery: 'wdl_',
  webhookReplay: 'wrp_',
  request: 'req_',
  session: 'ses_',
  invitation: 'inv_',
  passkey: 'pkey_',
  document: 'doc_',
  goLive: 'live_',
  walletChange: 'wch_',
  ownerChange: 'och_',
  payoutHold: 'hold_',
  proposal: 'prop_',
  catalogueItem: 'item_',
  offlinePayment: 'ofp_',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

/**
 * An id has 48 bits of milliseconds, which keep ids in time order, and 80 random bits, which make
 * them unguessable.
 */
const RANDOM_BYTES = 10;
const RANDOM_BITS = 80n;
/** 128 bits need 22 base62 digits. */
const BODY_LENGTH = 22;
const BODY = /^[0-9A-Za-z]{22}$/;

/** Random bytes for many ids, because one call per id costs more than the rest of creating it. */
const pool = Buffer.alloc(RANDOM_BYTES * 256);
let used = pool.length;

/** Returns 80 unpredictable random bits. */
export function random80(): bigint {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const high = pool.readBigUInt64BE(used);
  const low = BigInt(pool.readUInt16BE(used + 8));
  // Erase the used bytes, so that a later read of this process's memory reveals no id.
  pool.fill(0, used, used + RANDOM_BYTES);
  used += RANDOM_BYTES;
  return (high << 16n) | low;
}

/** Time and random bits leave the first digit free until the year 3114; it holds the cell. */
const FIRST_DIGIT = 62n ** BigInt(BODY_LENGTH - 1);

/**
 * Creates an id with the time `at` (whole milliseconds).
 * @param cell Set for ids that arrive without an API key, such as those of cards and passes, so
 * that requests can be routed by the id.
 */
export function newId(kind: IdKind, at: Date, cell = FIRST_CELL): string {
  const value = (BigInt(at.getTime()) << RANDOM_BITS) | random80();
  return ID_PREFIXES[kind] + base62(value + BigInt(cell) * FIRST_DIGIT, BODY_LENGTH);
}

/** Returns the cell of an id of this kind; null if the format is wrong. */
export function cellOfId(kind: IdKind, id: string): number | null {
  return isId(kind, id) ? cellOfDigit(id.charAt(ID_PREFIXES[kind].length)) : null;
}

/** True if `text` has the format of an id of this kind. The object need not exist. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = ID_PREFIXES[kind];
  return text.startsWith(prefix) && BODY.test(text.slice(prefix.length));
}

/**
 * Returns the time at which the id was created, or null if the format is wrong. For internal use
 * only (it selects the day's partition of a table); clients must not parse ids.
 */
export function idTime(kind: IdKind, id: string): Date | null {
  if (!isId(kind, id)) return null;
  const value = fromBase62(id.slice(ID_PREFIXES[kind].length));
  return value === null ? null : new Date(Number((value % FIRST_DIGIT) >> RANDOM_BITS));
}

/**
 * Ids and references that can be derived again. After a loss of data, objects can be rebuilt from
 * the chain under the ids that the merchant knows, because the chain has their numbers; and a
 * repeated request with its Idempotency-Key is recognized, because it derives the same reference.
 * These formats must never change, because existing objects could then not be rebuilt under their
 * ids.
 */

/**
 * A key of 32 random bytes that all processes share and that never changes: see `db/id-key.ts`. A
 * KeyObject, because an HMAC with a buffer as key takes Node five times as long.
 */
export type IdKey = KeyObject & { readonly __purpose: 'ids'; readonly cell: number };

/** @param cell The cell of the database that holds the key. */
export function toIdKey(bytes: Buffer, cell = FIRST_CELL): IdKey {
  return Object.assign(createSecretKey(bytes), { __purpose: 'ids' as const, cell });
}

/**
 * Returns the cell digit for a link that has no other cell digit; empty in the first cell, because
 * its links never had one.
 */
export function linkPrefix({ cell }: IdKey): string {
  return cell === FIRST_CELL ? '' : String(cell);
}

/**
 * The kinds that are derived from a settlement number: an intent, its pay link, its id on a
 * terminal's tag, its payment, the receipt.
 */
export type NumberedKind = 'paymentIntent' | 'payLink' | 'tagPayment' | 'payment' | 'receipt';

/** Each network's contract has its own numbers. */
export interface Numbered {
  readonly livemode: boolean;
  readonly number: bigint;
}

/** The owner and text of an Idempotency-Key (see `IdempotentRequest`). */
export interface KeyedRequest {
  readonly tenant: Tenant;
  readonly caller: string;
  readonly key: string;
}

const NUMBERED_PREFIXES: Readonly<Record<NumberedKind, string>> = {
  paymentIntent: ID_PREFIXES.paymentIntent,
  payLink: '',
  tagPayment: '',
  payment: ID_PREFIXES.payment,
  receipt: '',
};

/** Digits for 62^9 numbers. The first digit is the cell: see {@link NUMBERS_PER_CELL}. */
const NUMBER_LENGTH = 9;
/**
 * Each cell takes its settlement numbers from its own range, so that the first digit of every id,
 * link and receipt that encodes one is the cell.
 */
export const NUMBERS_PER_CELL = 62n ** BigInt(NUMBER_LENGTH - 1);
/**
 * Digits that encode 77 unpredictable bits. Together with the number before them, they make the id
 * as long as all other ids.
 */
const PROOF_LENGTH = 13;
/** Maximum length of an order id that the contract takes. */
const ORDER_ID_LENGTH = 8;
const REFERENCE_BYTES = 16;

/**
 * Computes a MAC. No part may contain a NUL, because parts are joined with it and different lists
 * must not join to the same text.
 */
function mac(key: IdKey, parts: readonly string[]): Buffer {
  return createHmac('sha256', key).update(parts.join('\0')).digest();
}

/** Returns the lowest `length` base62 digits of the digest's first 128 bits. */
function digits(digest: Buffer, length: number): string {
  const value = (digest.readBigUInt64BE(0) << 64n) | digest.readBigUInt64BE(8);
  return base62(value, length);
}

function spell(key: IdKey, kind: NumberedKind, { livemode, number }: Numbered): string {
  const proof = mac(key, [kind, networkOf(livemode), number.toString()]);
  return base62(number, NUMBER_LENGTH) + digits(proof, PROOF_LENGTH);
}

/** Returns the id with this settlement number; for links and receipts, the token in the URL. */
export function numberedId(key: IdKey, kind: NumberedKind, numbered: Numbered): string {
  return NUMBERED_PREFIXES[kind] + spell(key, kind, numbered);
}

/**
 * Returns the number that the id was derived from, or null if it was not made by {@link numberedId}
 * with this key for this kind and network (ids of objects older than the id key are random).
 */
export function numberOfId(
  key: IdKey,
  kind: NumberedKind,
  named: { readonly livemode: boolean; readonly id: string },
): bigint | null {
  const prefix = NUMBERED_PREFIXES[kind];
  const body = named.id.slice(prefix.length);
  if (!named.id.startsWith(prefix) || !BODY.test(body)) return null;
  const number = fromBase62(body.slice(0, NUMBER_LENGTH));
  if (number === null) return null;
  return spell(key, kind, { livemode: named.livemode, number }) === body ? number : null;
}

/**
 * Returns the token that an iPhone presents to prove that it has this pass; Apple requires that it
 * never changes. It is derived rather than stored, so it is still valid after a restore.
 */
export function applePassToken(key: IdKey, passId: string): string {
  return mac(key, ['apple pass', passId]).toString('base64url');
}

/**
 * Returns the text that is hashed for a person's PIN at the tills of an account. Four digits have
 * so few values that their hash alone would reveal them; this key is not in a dump of the tables.
 */
export function pinText(
  key: IdKey,
  secret: { readonly accountId: string; readonly userId: string; readonly pin: string },
): string {
  const { accountId, userId, pin } = secret;
  return mac(key, ['till pin', accountId, userId, pin]).toString('base64url');
}

/** Computes the MAC of a request. `clash` counts how many derived values were already taken. */
function keyedMac(
  key: IdKey,
  purpose: 'order' | 'request',
  keyed: { readonly request: KeyedRequest; readonly clash: number },
): Buffer {
  const { tenant, caller, key: idempotencyKey } = keyed.request;
  const parts = [purpose, tenant.accountId, networkOf(tenant.livemode), caller, idempotencyKey];
  return mac(key, keyed.clash === 0 ? parts : [...parts, String(keyed.clash)]);
}

/**
 * Returns the order id of an intent that was created without one. `clash` counts the values already
 * taken: by an order id that the merchant chose, or by the same key more than 48 hours ago. The MAC
 * includes the caller, because all terminals number their keys from the same first value.
 */
export function derivedOrderId(key: IdKey, request: KeyedRequest, clash: number): string {
  return digits(keyedMac(key, 'order', { request, clash }), ORDER_ID_LENGTH);
}

/**
 * Returns the order id of a sale that a till had accepted offline. It is derived from the sale's
 * data, so that a sale forwarded again after a data loss finds its rebuilt payment.
 */
export function offlineOrderId(
  key: IdKey,
  sale: { readonly tenant: Tenant; readonly from: string; readonly nonce: string },
  clash: number,
): string {
  const { tenant, from, nonce } = sale;
  const parts = ['offline', tenant.accountId, networkOf(tenant.livemode), from, nonce];
  return digits(mac(key, [...parts, String(clash)]), ORDER_ID_LENGTH);
}

/** Returns the reference of a refund in the contract's event. */
export function refundReference(key: IdKey, request: KeyedRequest, clash = 0): Buffer {
  return keyedMac(key, 'request', { request, clash }).subarray(0, REFERENCE_BYTES);
}

/** Returns the number under which the contract pays a withdrawal once: 63 bits, never zero. */
export function withdrawalNumber(key: IdKey, request: KeyedRequest, clash = 0): bigint {
  return keyedMac(key, 'request', { request, clash }).readBigUInt64BE(0) >> 1n || 1n;
}

export function refundId(
  key: IdKey,
  refund: { readonly livemode: boolean; readonly reference: Buffer },
): string {
  const parts = ['refund', networkOf(refund.livemode), refund.reference.toString('hex')];
  return ID_PREFIXES.refund + digits(mac(key, parts), BODY_LENGTH);
}

/**
 * Returns the token of a refund's receipt: the cell digit, the body of the refund's id (for the
 * look-up), and a proof that cannot be computed from the id.
 */
export function refundReceiptToken(
  key: IdKey,
  refund: { readonly livemode: boolean; readonly id: string },
): string {
  const body = refund.id.slice(ID_PREFIXES.refund.length);
  const parts = ['refundReceipt', networkOf(refund.livemode), refund.id];
  return linkPrefix(key) + body + digits(mac(key, parts), PROOF_LENGTH);
}

/**
 * Returns the refund of such a token; null if it was not made by {@link refundReceiptToken} for the
 * mode.
 */
export function refundOfReceiptToken(
  key: IdKey,
  named: { readonly livemode: boolean; readonly token: string },
): string | null {
  const body = named.token.slice(linkPrefix(key).length);
  const id = ID_PREFIXES.refund + body.slice(0, BODY_LENGTH);
  if (!isId('refund', id)) return null;
  return refundReceiptToken(key, { livemode: named.livemode, id }) === named.token ? id : null;
}

export function withdrawalId(key: IdKey, numbered: Numbered): string {
  const parts = ['withdrawal', networkOf(numbered.livemode), numbered.number.toString()];
  return ID_PREFIXES.withdrawal + digits(mac(key, parts), BODY_LENGTH);
}
