import { createHmac, createSecretKey, type KeyObject, randomFillSync } from 'node:crypto';
import { base62, fromBase62 } from './base62.ts';
import { cellOfDigit, FIRST_CELL } from './cell-digit.ts';
import { networkOf, type Tenant } from './mode.ts';

/** Prefixes of ids (behavior.md 3.7). */
export const ID_PREFIXES = {
  account: 'acct_',
  organization: 'org_',
  location: 'loc_',
  user: 'usr_',
  staff: 'stf_',
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
  movement: 'mov_',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

/**
 * An id has 48 bits of time in milliseconds, which keep ids in the order of their creation, and 80
 * random bits, which make them unguessable.
 */
const RANDOM_BYTES = 10;
const RANDOM_BITS = 80n;
/** 128 bits need 22 base62 digits. */
const BODY_LENGTH = 22;
const BODY = /^[0-9A-Za-z]{22}$/;

/**
 * Random bytes for many ids. Getting them one id at a time would cost more than the rest of
 * creating an id.
 */
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
  // Erases the used bytes, so that a later dump of this process's memory contains no ids.
  pool.fill(0, used, used + RANDOM_BYTES);
  used += RANDOM_BYTES;
  return (high << 16n) | low;
}

/**
 * Weight of an id's first digit. Time and random bits do not reach it until the year 3114, so it
 * holds the cell.
 */
const FIRST_DIGIT = 62n ** BigInt(BODY_LENGTH - 1);

/**
 * Creates an id from the time `at` and random bits.
 * @param cell set it for ids that arrive without an API key, such as those of cards and passes, so
 * that their requests can be routed.
 */
export function newId(kind: IdKind, at: Date, cell = FIRST_CELL): string {
  const value = (BigInt(at.getTime()) << RANDOM_BITS) | random80();
  return ID_PREFIXES[kind] + base62(value + BigInt(cell) * FIRST_DIGIT, BODY_LENGTH);
}

/** Returns the cell in an id of this kind; null if the format is wrong. */
export function cellOfId(kind: IdKind, id: string): number | null {
  return isId(kind, id) ? cellOfDigit(id.charAt(ID_PREFIXES[kind].length)) : null;
}

/** True if `text` has the format of an id of this kind. The object may not exist. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = ID_PREFIXES[kind];
  return text.startsWith(prefix) && BODY.test(text.slice(prefix.length));
}

/**
 * Returns the time at which the id was created; null if the format is wrong. For internal use only,
 * to find the partition of a table; clients must not parse ids.
 */
export function idTime(kind: IdKind, id: string): Date | null {
  if (!isId(kind, id)) return null;
  const value = fromBase62(id.slice(ID_PREFIXES[kind].length));
  return value === null ? null : new Date(Number((value % FIRST_DIGIT) >> RANDOM_BITS));
}

/**
 * Ids and references that can be derived again. After a loss of data, objects are rebuilt from the
 * chain, which has their numbers, under the ids that the merchant knows. A repeated request with
 * the same Idempotency-Key is recognized, because it derives the same reference. These formats must
 * never change; otherwise existing objects could not be rebuilt under their ids.
 */

/**
 * A key of 32 random bytes that all processes share and that never changes: see `db/id-key.ts`. It
 * is a KeyObject, because Node takes five times as long for an HMAC whose key is a buffer.
 */
export type IdKey = KeyObject & { readonly __purpose: 'ids'; readonly cell: number };

/** @param cell the cell of the database that stores the key */
export function toIdKey(bytes: Buffer, cell = FIRST_CELL): IdKey {
  return Object.assign(createSecretKey(bytes), { __purpose: 'ids' as const, cell });
}

/**
 * Returns the cell digit to put before links that do not contain it otherwise; empty in the first
 * cell, whose links never had one.
 */
export function linkPrefix({ cell }: IdKey): string {
  return cell === FIRST_CELL ? '' : String(cell);
}

/**
 * Kinds of ids that are derived from a settlement number: those of an intent, its pay link, its
 * payment link on a terminal's tag, its payment, and the receipt.
 */
export type NumberedKind = 'paymentIntent' | 'payLink' | 'tagPayment' | 'payment' | 'receipt';

/** A settlement number and its network. Each network's contract has its own numbers. */
export interface Numbered {
  readonly livemode: boolean;
  readonly number: bigint;
}

/** An Idempotency-Key and its sender (see `IdempotentRequest`). */
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

/**
 * Number of digits for a settlement number. The first digit is the cell: see {@link
 * NUMBERS_PER_CELL}.
 */
const NUMBER_LENGTH = 9;
/**
 * Size of a cell's range of settlement numbers. Because of it, the first digit of every id, link
 * and receipt that encodes such a number is the cell.
 */
export const NUMBERS_PER_CELL = 62n ** BigInt(NUMBER_LENGTH - 1);
/**
 * Number of digits that encode 77 unpredictable bits. With the number before them, the id is as
 * long as all other ids.
 */
const PROOF_LENGTH = 13;
/** Length of a derived order id: the longest that the contract accepts. */
const ORDER_ID_LENGTH = 8;
const REFERENCE_BYTES = 16;

/**
 * Computes a MAC over the parts, joined with NUL. No part may contain a NUL, so that different
 * lists never join to the same text.
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

/**
 * Returns the id (for links and receipts: the token in the URL) that is derived from a settlement
 * number.
 */
export function numberedId(key: IdKey, kind: NumberedKind, numbered: Numbered): string {
  return NUMBERED_PREFIXES[kind] + spell(key, kind, numbered);
}

/**
 * Returns the settlement number from which an id was derived. Null if {@link numberedId} did not
 * create the id with this key, kind and network; objects older than the id key have random ids.
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
 * Returns the token with which an iPhone proves that it has this pass. Apple requires that it never
 * changes. It is derived rather than stored, so that it stays valid after a restore.
 */
export function applePassToken(key: IdKey, passId: string): string {
  return mac(key, ['apple pass', passId]).toString('base64url');
}

/**
 * Returns the text to hash and store for a person's PIN at the tills of an account. It includes the
 * key: otherwise, a thief of the tables alone could find four digits by trying all of them.
 */
export function pinText(
  key: IdKey,
  secret: { readonly accountId: string; readonly personId: string; readonly pin: string },
): string {
  const { accountId, personId, pin } = secret;
  return mac(key, ['till pin', accountId, personId, pin]).toString('base64url');
}

/** `clash` counts the derived values that turned out to be taken. */
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
 * Returns the order id of an intent that was created without one. `clash` counts the values that
 * are taken already, by a merchant's own order id or by the same key more than 48 hours ago. The
 * MAC includes the caller, because all terminals start numbering their keys at the same value.
 */
export function derivedOrderId(key: IdKey, request: KeyedRequest, clash: number): string {
  return digits(keyedMac(key, 'order', { request, clash }), ORDER_ID_LENGTH);
}

/**
 * Returns the order id of a sale that a till accepted offline. It is derived from the sale's data,
 * so that a sale that is forwarded again after a data loss finds its rebuilt payment.
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

/**
 * Returns the id of the terms at which a till sells offline in the shop's currency. It holds the
 * terms themselves: the service stores none of them, and no restored database loses them.
 */
export function offlineTermsId(key: IdKey, tenant: Tenant, terms: string): string {
  const parts = ['offline terms', tenant.accountId, networkOf(tenant.livemode), terms];
  return `oft_${terms}_${digits(mac(key, parts), BODY_LENGTH)}`;
}

/** Returns the reference that identifies a refund in the contract's event. */
export function refundReference(key: IdKey, request: KeyedRequest, clash = 0): Buffer {
  return keyedMac(key, 'request', { request, clash }).subarray(0, REFERENCE_BYTES);
}

/** Returns the number that makes the contract pay a withdrawal only once: 63 bits, never zero. */
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
 * Returns the token in the URL of a refund's receipt: the cell digit, the refund's id without its
 * prefix (for the look-up), and a proof that cannot be computed from the id.
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
 * Returns the id of the refund to which a receipt's token belongs; null if {@link
 * refundReceiptToken} did not create the token for this mode.
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

/** Returns the id of a movement of a wallet's USDC, from what stays when it is read again. */
export function movementId(
  key: IdKey,
  movement: { readonly payerId: string; readonly what: string },
): string {
  return (
    ID_PREFIXES.movement +
    digits(mac(key, ['movement', movement.payerId, movement.what]), BODY_LENGTH)
  );
}
