import type { Entry } from '#books/entry-queries.ts';
import { digitsOf } from '#core/currency-digits.ts';
import type { Tenant } from '#core/mode.ts';

/** What a format says about the whole period. */
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

/** Writes one file. Entries come in their order. */
export interface Writer {
  readonly head: string;
  /** @param balance the balance after the entry. */
  entry(entry: Entry, balance: bigint): string;
  /** The end of the file, with what rounding has left out of it. */
  tail(): string;
}

export interface Format {
  readonly mediaType: string;
  readonly extension: string;
  /** Of the file's name, if the program requires one. */
  readonly prefix?: string;
  /** `latin` is Windows-1252, without letters that it lacks. */
  readonly encoding: 'utf8' | 'latin';
  open(period: Period): Writer;
}

/** Returns the id of an entry: that of its object, or one of its own if it is a correction. */
export function entryId({ type, object_id, position }: Entry): string {
  return type === 'correction' ? `cor_${position}` : object_id;
}

/** Returns the object that a correction names; `null` for other entries. */
export function originalOf({ type, object_id }: Entry): string | null {
  return type === 'correction' ? object_id : null;
}

const WORDS = { payment: 'Sale', refund: 'Refund', payout: 'Payout' } as const;

/** Describes an entry in a line: `Sale K7XQM-12: Flat white`. */
export function wordsOf(entry: Entry): string {
  const { type, object_id, receipt_number, description } = entry;
  if (type === 'correction') return `CORRECTION of ${object_id}`;
  const name = `${WORDS[type]} ${receipt_number ?? object_id}`;
  return description === null ? name : `${name}: ${description}`;
}

/** The text of the entry that holds what rounding has left out. */
export const ROUNDING = 'ROUNDING';

/** Decimals of USDC. */
const USDC_DIGITS = 6;

/** Rounds atoms to fewer decimals, toward zero. */
export function roundedDown(atoms: bigint, decimals: number): bigint {
  return atoms / 10n ** BigInt(USDC_DIGITS - decimals);
}

/** Rounds a balance to fewer decimals, toward the lower one, so that balances can be subtracted. */
function floored(atoms: bigint, decimals: number): bigint {
  const unit = 10n ** BigInt(USDC_DIGITS - decimals);
  return (atoms - (((atoms % unit) + unit) % unit)) / unit;
}

/** Writes units of a number of decimals: `-2.50` for -250 of two. */
export function decimalText(units: bigint, decimals: number, least = decimals): string {
  const size = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const whole = size.slice(0, size.length - decimals);
  const fraction = size
    .slice(size.length - decimals)
    .replace(/0+$/, '')
    .padEnd(least, '0');
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** A sum as a format with few decimals writes it. */
export interface Rounded {
  readonly currency: string;
  /** Signed units of the format's decimals. */
  readonly units: bigint;
}

/**
 * Rounds the entries of a file to fewer decimals, and carries the remainders, so that the file's
 * entries still add up to its rounded balances.
 */
export class Rounding {
  readonly #opening: bigint;
  readonly #decimals: number;
  /** The atoms of the entries that are written in USD, and what was not written of the others. */
  #atoms = 0n;
  #written = 0n;

  constructor(opening: bigint, decimals: number) {
    this.#opening = opening;
    this.#decimals = decimals;
  }

  /** Returns an entry in USD. */
  inUsd({ amount }: Entry): Rounded {
    const units = roundedDown(amount, this.#decimals);
    this.#atoms += amount;
    this.#written += units;
    return { currency: 'USD', units };
  }

  /** Returns an entry in the shop's currency if its sale has one, otherwise in USD. */
  inOwn(entry: Entry): Rounded {
    const { amount, currency, minor } = entry;
    if (currency === null || minor === null || minor === 0n) return this.inUsd(entry);
    const digits = digitsOf(currency);
    const more = BigInt(Math.max(0, digits - this.#decimals));
    const less = BigInt(Math.max(0, this.#decimals - digits));
    const size = (minor / 10n ** more) * 10n ** less;
    // Digits that a currency with three decimals loses are counted in USD, for the rounding.
    this.#atoms += (amount * (minor % 10n ** more)) / minor;
    return { currency: currency.toUpperCase(), units: amount < 0n ? -size : size };
  }

  /** Returns the units of USD that rounding has left out. */
  left(): bigint {
    const decimals = this.#decimals;
    const closing = floored(this.#opening + this.#atoms, decimals);
    return closing - floored(this.#opening, decimals) - this.#written;
  }
}

/** Returns a balance with few decimals, as `Rounding` counts it. */
export function roundedBalance(atoms: bigint, decimals: number): bigint {
  return floored(atoms, decimals);
}
