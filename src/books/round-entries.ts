import type { Entry } from '#books/entry-queries.ts';
import { digitsOf } from '#core/currency-digits.ts';
import type { Tenant } from '#core/mode.ts';

/** The facts of a period that a format's first and last lines may need. */
export interface Period {
  readonly tenant: Tenant;
  readonly timeZone: string;
  readonly from: string;
  readonly to: string;
  readonly since: Date;
  readonly until: Date;
  readonly opening: bigint;
  readonly closing: bigint;
}

/** Call `entry` for each entry in order. */
export interface Writer {
  readonly head: string;
  /** @param balance the balance after the entry. */
  entry(entry: Entry, balance: bigint): string;
  /** Returns the end of the file, including the entry that makes up for rounding. */
  tail(): string;
}

export interface Format {
  readonly mediaType: string;
  readonly extension: string;
  /** The prefix of the file's name, if the program that reads it requires one. */
  readonly prefix?: string;
  /** `latin` is Windows-1252; letters that it lacks are replaced. */
  readonly encoding: 'utf8' | 'latin';
  open(period: Period): Writer;
}

/** Returns an entry's ID: its object's ID or, for a correction, one of its own. */
export function entryId({ type, object_id, position }: Entry): string {
  return type === 'correction' ? `cor_${position}` : object_id;
}

/** Returns the object that a correction names; `null` for other entries. */
export function originalOf({ type, object_id }: Entry): string | null {
  return type === 'correction' ? object_id : null;
}

const WORDS = { payment: 'Sale', refund: 'Refund', payout: 'Payout' } as const;

/** Describes an entry in one line: `Sale K7XQM-12: Flat white`. */
export function wordsOf(entry: Entry): string {
  const { type, object_id, receipt_number, description } = entry;
  if (type === 'correction') return `CORRECTION of ${object_id}`;
  const name = `${WORDS[type]} ${receipt_number ?? object_id}`;
  return description === null ? name : `${name}: ${description}`;
}

/** The text of the entry that makes up for rounding. */
export const ROUNDING = 'ROUNDING';

const USDC_DIGITS = 6;

/** Rounds atoms to fewer decimals, toward zero. */
export function roundedDown(atoms: bigint, decimals: number): bigint {
  return atoms / 10n ** BigInt(USDC_DIGITS - decimals);
}

/**
 * Rounds a balance down to fewer decimals, even if it is negative, so that differences of balances
 * are exact.
 */
function floored(atoms: bigint, decimals: number): bigint {
  const unit = 10n ** BigInt(USDC_DIGITS - decimals);
  return (atoms - (((atoms % unit) + unit) % unit)) / unit;
}

/** Formats a number of units with decimals: -250 with two decimals is `-2.50`. */
export function decimalText(units: bigint, decimals: number, least = decimals): string {
  const size = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const whole = size.slice(0, size.length - decimals);
  const fraction = size
    .slice(size.length - decimals)
    .replace(/0+$/, '')
    .padEnd(least, '0');
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

export interface Rounded {
  readonly currency: string;
  /** Signed amount in units of the format's last decimal. */
  readonly units: bigint;
}

/**
 * Rounds a file's entries to fewer decimals and tracks the remainders, so that the entries,
 * including the one for rounding, add up to the rounded balances.
 */
export class Rounding {
  readonly #opening: bigint;
  readonly #decimals: number;
  /** Atoms of the entries written in USD, plus the remainders of the other entries. */
  #atoms = 0n;
  #written = 0n;

  constructor(opening: bigint, decimals: number) {
    this.#opening = opening;
    this.#decimals = decimals;
  }

  inUsd({ amount }: Entry): Rounded {
    const units = roundedDown(amount, this.#decimals);
    this.#atoms += amount;
    this.#written += units;
    return { currency: 'USD', units };
  }

  /** Returns an entry in the currency of its sale if it has one, otherwise in USD. */
  inOwn(entry: Entry): Rounded {
    const { amount, currency, minor } = entry;
    if (currency === null || minor === null || minor === 0n) return this.inUsd(entry);
    const digits = digitsOf(currency);
    const more = BigInt(Math.max(0, digits - this.#decimals));
    const less = BigInt(Math.max(0, this.#decimals - digits));
    const size = (minor / 10n ** more) * 10n ** less;
    // For a currency with three decimals, the dropped digits are converted to USD and added to the
    // remainder.
    this.#atoms += (amount * (minor % 10n ** more)) / minor;
    return { currency: currency.toUpperCase(), units: amount < 0n ? -size : size };
  }

  /** Returns the remainder from rounding, in units of USD. */
  left(): bigint {
    const decimals = this.#decimals;
    const closing = floored(this.#opening + this.#atoms, decimals);
    return closing - floored(this.#opening, decimals) - this.#written;
  }
}

/** Returns a balance with fewer decimals, rounded as in `Rounding`. */
export function roundedBalance(atoms: bigint, decimals: number): bigint {
  return floored(atoms, decimals);
}
