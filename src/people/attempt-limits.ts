import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { MINUTE_MS } from '#core/durations.ts';
import type { Sql } from '#db/database.ts';
import { countAttempt, deleteAttempts, uncountAttempt } from '#people/attempt-limit-queries.ts';
import type { Realm } from '#people/user-queries.ts';

export interface Allowance {
  readonly attempts: number;
  readonly windowMs: number;
}

/** Guesses at one person's password from devices that never signed in as that person. */
export const PER_EMAIL: Allowance = { attempts: 10, windowMs: 15 * MINUTE_MS };
/**
 * Guesses from one device that has signed in as that person. Strangers cannot use up this
 * allowance, so they cannot lock the owner out.
 */
export const PER_DEVICE: Allowance = { attempts: 10, windowMs: 15 * MINUTE_MS };
/** Guesses from one IP address, which many people may share. */
export const PER_ADDRESS: Allowance = { attempts: 50, windowMs: 15 * MINUTE_MS };
/**
 * Guesses at a second factor. A code has a million values and is valid for 90 seconds, so ten
 * guesses per hour are hopeless.
 */
export const PER_SECOND_FACTOR: Allowance = { attempts: 10, windowMs: 60 * MINUTE_MS };
/**
 * Guesses from all known devices of one person together. Each device also has its own limit of ten.
 */
export const PER_KNOWN_DEVICES: Allowance = { attempts: 20, windowMs: 60 * MINUTE_MS };
/**
 * Failed tries to open a mailed link. Links hold long secrets, so many failures mean guessing, and
 * each costs a look-up.
 */
export const LINKS_PER_ADDRESS: Allowance = { attempts: 30, windowMs: 15 * MINUTE_MS };
/** Mails that one IP address can trigger; the next limit is for one mailbox. */
export const MAILS_PER_ADDRESS: Allowance = { attempts: 20, windowMs: 60 * MINUTE_MS };
export const MAILS_PER_MAILBOX: Allowance = { attempts: 5, windowMs: 60 * MINUTE_MS };
/** Guesses at pairing codes, which have 39 bits and are valid for minutes. */
export const PAIRINGS_PER_ADDRESS: Allowance = { attempts: 20, windowMs: 15 * MINUTE_MS };
/**
 * Changes by one operator: more than a busy day needs, but too few for a thief with a stolen
 * session to change many accounts.
 */
export const STAFF_CHANGES: Allowance = { attempts: 60, windowMs: 10 * MINUTE_MS };

/** All addresses of an IPv6 /64 count as one, because a single user typically has a whole /64. */
const IPV6_SITE_BITS = 64;

export function addressBucket(purpose: string, address: string): string {
  if (!ipaddr.isValid(address)) return `${purpose} address unknown`;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return `${purpose} address ${parsed.toString()}`;
  const site = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_SITE_BITS}`);
  return `${purpose} address ${site.toString()}`;
}

export function emailBucket(purpose: string, realm: Realm, email: string): string {
  return `${purpose} ${realm} ${createHash('sha256').update(email).digest('base64url')}`;
}

/** Counts an attempt before it is made, so that parallel guesses are counted as well. */
export async function takeAttempt(
  sql: Sql,
  bucket: string,
  input: { readonly allowance: Allowance; readonly now: Date },
): Promise<Refusal | null> {
  const { allowance, now } = input;
  const windowStart = addMs(now, -allowance.windowMs);
  const count = await countAttempt(sql, { bucket, windowStart, now });
  if (count.attempts <= allowance.attempts) return null;
  return tooManyAttempts(count.since.getTime() + allowance.windowMs - now.getTime());
}

/**
 * Counts an attempt toward several limits, and then takes `last`. If one refuses, the attempt
 * counts toward none of them. Put an IP address first, so that a caller over its limit cannot use
 * up the limits of others.
 */
export async function takeAttempts(
  sql: Sql,
  now: Date,
  input: {
    readonly limits: readonly (readonly [bucket: string, allowance: Allowance])[];
    readonly message: string;
    readonly last: () => Promise<Refusal | object>;
  },
): Promise<Refusal | null> {
  const counted: string[] = [];
  const giveBack = async (refusal: Refusal) => {
    for (const bucket of counted) await uncountAttempt(sql, bucket);
    return refusal;
  };
  for (const [bucket, allowance] of input.limits) {
    const tooMany = await takeAttempt(sql, bucket, { allowance, now });
    counted.push(bucket);
    if (tooMany !== null) return giveBack({ ...tooMany, message: input.message });
  }
  const last = await input.last();
  return isRefusal(last) ? giveBack(last) : null;
}

export function tooManyAttempts(waitMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return {
    ...refuse('rate_limit_exceeded', `Too many attempts. Try again in ${seconds} seconds.`),
    headers: { 'Retry-After': String(seconds) },
  };
}

/**
 * Wrong guesses that are allowed without a wait, because they may be typing errors. After them,
 * each guess must wait.
 */
const FREE_GUESSES = 5;
/** The first wait; each further guess doubles it. */
const FIRST_WAIT_MS = 2 * MINUTE_MS;

/**
 * Counts an attempt that may be a guess or a typing error. The wait grows with the number of
 * attempts.
 */
export async function takeGuess(
  sql: Sql,
  bucket: string,
  input: { readonly allowance: Allowance; readonly now: Date },
): Promise<{ readonly refused: Refusal | null; readonly guesses: number }> {
  const { allowance, now } = input;
  const windowStart = addMs(now, -allowance.windowMs);
  const { attempts: guesses, since } = await countAttempt(sql, { bucket, windowStart, now });
  const isOver = guesses > allowance.attempts;
  const late = guesses - FREE_GUESSES;
  const slowMs = late > 0 ? FIRST_WAIT_MS * 2 ** (late - 1) : 0;
  const opensAt = addMs(since, isOver ? allowance.windowMs : Math.min(slowMs, allowance.windowMs));
  if (opensAt <= now) return { refused: null, guesses };
  // The attempt was refused unchecked, so it must not lengthen the next wait.
  if (!isOver) await uncountAttempt(sql, bucket);
  return { refused: tooManyAttempts(opensAt.getTime() - now.getTime()), guesses };
}

export { deleteAttempts as forgetAttempts, uncountAttempt as giveBackAttempt };

/** Returns the bucket that counts guesses from devices that this person has never used. */
export function secondFactorBucket(userId: string): string {
  return `second-factor ${userId}`;
}
