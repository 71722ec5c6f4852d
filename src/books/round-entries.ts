import type { Entry } from '#books/entry-queries.ts';
import { digitsOf } from '#core/currency-digits.ts';
import { ID_PREFIXES } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { CENT, minorText, plainDecimal } from '#core/sums.ts';
import { floorOf } from '#prices/sale-lines.ts';

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
  /** The number of its entries. */
  readonly count: number;
  /** Returns the day of the shop, `YYYY-MM-DD`, to which an instant belongs. */
  dayOf(at: Date): string;
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

/** False for payouts, and for corrections of payouts. */
export function isSold({ type, object_id }: Entry): boolean {
  return type !== 'payout' && !object_id.startsWith(ID_PREFIXES.withdrawal);
}

/** A part of a sale or refund: one tax rate, the tip, or all of a sale without lines. */
export interface EntryPart {
  /** Basis points; `null` for a tip, and without lines. */
  readonly rate: number | null;
  readonly isTip: boolean;
  /** In the unit of the sale, with the sign of the entry. */
  readonly net: bigint;
  readonly tax: bigint;
  readonly gross: bigint;
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** Returns an entry's sum in the unit of its sale, with the entry's sign. */
export function wholeOf({ amount, minor }: Pick<Entry, 'amount' | 'minor'>): bigint {
  const size = minor ?? absolute(amount);
  return amount < 0n ? -size : size;
}

/** Returns the parts of an entry, the lowest rate first and the tip last. Their gross adds up. */
export function partsOf(entry: Pick<Entry, 'amount' | 'minor' | 'taxes' | 'tip'>): EntryPart[] {
  const whole = wholeOf(entry);
  const sign = entry.amount < 0n ? -1n : 1n;
  const untaxed = (gross: bigint, isTip: boolean): EntryPart => {
    return { rate: null, isTip, net: gross, tax: 0n, gross };
  };
  const { taxes } = entry;
  const rows: EntryPart[] =
    taxes === null || taxes.length === 0
      ? [untaxed(whole - sign * entry.tip, false)]
      : taxes.map(({ rate, net, tax, gross }) => ({
          ...{ rate, isTip: false, net: sign * BigInt(net) },
          ...{ tax: sign * BigInt(tax), gross: sign * BigInt(gross) },
        }));
  const tip = whole - rows.reduce((sum, { gross }) => sum + gross, 0n);
  return tip === 0n ? rows : [...rows, untaxed(tip, true)];
}

/**
 * Distributes a sum over an entry's parts in proportion to their gross: the running sum is rounded
 * down, without its sign, and the last part takes the rest.
 */
export function distribute(sum: bigint, parts: readonly EntryPart[]): bigint[] {
  const whole = parts.reduce((all, { gross }) => all + gross, 0n);
  const [size, sign] = [absolute(sum), sum < 0n ? -1n : 1n];
  let [through, given] = [0n, 0n];
  return parts.map(({ gross }, index) => {
    through += gross;
    const isLast = index === parts.length - 1 || whole === 0n;
    const upTo = isLast ? size : floorOf(size * through, whole);
    const own = upTo - given;
    given = upTo;
    return sign * own;
  });
}

/** Number of decimals that programs accept when they import bank statements. */
export const CENTS = 2;

/** Returns atoms as whole cents, rounded toward zero. */
export function toCents(atoms: bigint): bigint {
  return atoms / CENT;
}

/** Returns minor units of a currency as hundredths of its unit, rounded toward zero. */
export function toHundredths(minor: bigint, currency: string): bigint {
  const digits = digitsOf(currency);
  return digits > CENTS
    ? minor / 10n ** BigInt(digits - CENTS)
    : minor * 10n ** BigInt(CENTS - digits);
}

/** Formats hundredths: `-2.50`. */
export function centsText(cents: bigint): string {
  return plainDecimal(cents, CENTS);
}

/**
 * Rounds a file's entries to cents and tracks the remainders, so that the entries, including the
 * one for rounding, add up to the rounded balances.
 */
export class Rounding {
  readonly #opening: bigint;
  #atoms = 0n;
  #written = 0n;

  constructor(opening: bigint) {
    this.#opening = opening;
  }

  /** Returns the entry's amount in cents of USD. */
  inCents({ amount }: Entry): bigint {
    const cents = toCents(amount);
    this.#atoms += amount;
    this.#written += cents;
    return cents;
  }

  /** Returns the remainder from rounding, in cents of USD. */
  left(): bigint {
    return toCents(this.#opening + this.#atoms) - toCents(this.#opening) - this.#written;
  }
}

/** Returns the price in the shop's currency, as a bank text shows it: `EUR 21.74`. */
export function priceOf(entry: Entry): string | null {
  const { currency, minor } = entry;
  if (currency === null || minor === null) return null;
  return `${currency.toUpperCase()} ${minorText(minor, currency)}`;
}
