import { randomFillSync } from 'node:crypto';
import { base62, fromBase62 } from './base62.ts';

/** Prefixes of api-v1.md section 2 and decisions.md section 3. */
export const ID_PREFIXES = {
  account: 'acct_',
  user: 'usr_',
  apiKey: 'key_',
  payer: 'pyr_',
  pass: 'pass_',
  agentToken: 'agtok_',
  approval: 'apv_',
  faucet: 'fct_',
  terminal: 'tml_',
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
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

/** 48 bits of milliseconds keep ids in time order; 80 random bits make them unguessable. */
const RANDOM_BYTES = 10;
const RANDOM_BITS = 80n;
/** 128 bits need 22 base62 digits. */
const BODY_LENGTH = 22;
const BODY = /^[0-9A-Za-z]{22}$/;

/** Random bytes are fetched for many ids at once: a call for each costs more than all the rest. */
const pool = Buffer.alloc(RANDOM_BYTES * 256);
let used = pool.length;

/** 80 random bits that nobody can guess. */
export function random80(): bigint {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const high = pool.readBigUInt64BE(used);
  const low = BigInt(pool.readUInt16BE(used + 8));
  // Nothing that is read out of this process's memory later gives an id away.
  pool.fill(0, used, used + RANDOM_BYTES);
  used += RANDOM_BYTES;
  return (high << 16n) | low;
}

/** A new id whose time part is `at` (a `Date`, whole milliseconds). */
export function newId(kind: IdKind, at: Date): string {
  const value = (BigInt(at.getTime()) << RANDOM_BITS) | random80();
  return ID_PREFIXES[kind] + base62(value, BODY_LENGTH);
}

/** Whether `text` has the shape of such an id. Says nothing of its existence. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = ID_PREFIXES[kind];
  return text.startsWith(prefix) && BODY.test(text.slice(prefix.length));
}

/**
 * When the id was made, or null for a foreign shape. For our own use only (it picks the day's
 * partition of a table); clients must not parse ids.
 */
export function idTime(kind: IdKind, id: string): Date | null {
  if (!isId(kind, id)) return null;
  const value = fromBase62(id.slice(ID_PREFIXES[kind].length));
  return value === null ? null : new Date(Number(value >> RANDOM_BITS));
}
