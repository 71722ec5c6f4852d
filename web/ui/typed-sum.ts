import { localDecimal } from '#core/sums.ts';
import { t, textLocale } from './text/t.ts';

/**
 * Parses amounts that people type. Confusing 1500 with 1.50 costs a factor of a thousand, so
 * ambiguous input is refused with both readings, and nothing is sent.
 */

/** The currency of the amount and the user's locale. Defaults to USDC and the page's locale. */
export interface SumRules {
  readonly decimals?: number;
  /** A BCP 47 tag, for the separators of written amounts, and for `1.500` with three decimals. */
  readonly locale?: string;
  /**
   * The amount that the form wrote into the field. While the field contains that text, it means
   * exactly this amount.
   */
  readonly wrote?: bigint | null;
  /** True for numbers that may be 0, such as a percentage, a limit or the price of an item. */
  readonly allowsZero?: boolean;
}

type SumRefusal =
  | { readonly why: 'malformed' }
  | { readonly why: 'zero' }
  | { readonly why: 'too_many_decimals' }
  /** `decimal` is `null` if the currency does not have that many decimals. */
  | { readonly why: 'two_readings'; readonly whole: string; readonly decimal: string | null };

export type TypedSum =
  | { readonly is: 'empty' }
  /**
   * In the currency's smallest units, for example atoms of USDC. `isWritten`: the form wrote it.
   */
  | { readonly is: 'sum'; readonly units: bigint; readonly isWritten: boolean }
  | { readonly is: 'refused'; readonly words: string };

const USDC_DECIMALS = 6;
/** Amounts show two decimals, or more if the others are not zero. */
const USUAL_DECIMALS = 2;

/** Arabic writes `٫` before decimals and `٬` between groups, and each has no other meaning. */
const SHAPE = /^[\d.,'’ ٫٬]*\d[\d.,'’ ٫٬]*$/;
const ONE_SEPARATOR = /^(\d*)([.,])(\d{3})$/;

function oneOf({ decimals = USDC_DECIMALS }: SumRules): bigint {
  return 10n ** BigInt(decimals);
}

/**
 * Returns the value of a decimal digit in any script: Unicode lists the ten digits of each in
 * order.
 */
function digitOf(letter: string): string {
  let code = letter.codePointAt(0) ?? 0;
  const own = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - 1))) code -= 1;
  return String((own - code) % 10);
}

/**
 * Trims the text of a field for a number or a PIN. Writes its digits as 0 to 9, the no-break blanks
 * that Intl puts between French groups as blanks, and the full stop and commas of Japanese and
 * Arabic keyboards as `.` and `,`.
 */
export function plainText(text: string): string {
  return text
    .trim()
    .replaceAll(/\p{Nd}/gu, digitOf)
    .replaceAll(/[\u00a0\u202f]/g, ' ')
    .replaceAll('．', '.')
    .replaceAll(/[，،]/g, ',');
}

/**
 * Returns the separators of amounts in the locale. A locale such as `en-DE` has others in prices
 * than in numbers, and an amount in USDC is written as a number.
 */
function separatorsOf({ decimals = USDC_DECIMALS, locale = textLocale() }: SumRules) {
  const price = { style: 'currency', currency: 'EUR' } as const;
  // Seven digits, because some languages group no four.
  const text = localDecimal('1234567.5', locale, {
    numberingSystem: 'latn',
    ...(decimals === USDC_DECIMALS ? {} : price),
  });
  const [, group = '', decimal = ''] = /(\D)567(\D)5/.exec(text) ?? [];
  return { group, decimal };
}

/**
 * Returns the decimal key of a keypad for the shop's currency: the separator that its amounts have
 * in the reader's locale. `null` if the currency has no decimals.
 */
export function decimalKey(rules: SumRules): string | null {
  return rules.decimals === 0 ? null : separatorsOf(rules).decimal;
}

/**
 * Removes the separators from groups of three after one to three digits that do not begin with 0.
 * @returns `null` if the text has another form.
 */
function ungroup(whole: string): string | null {
  if (/^\d*$/.test(whole)) return whole;
  return /^[1-9]\d{0,2}([.,'’ ٬])\d{3}(\1\d{3})*$/.test(whole) ? whole.replaceAll(/\D/g, '') : null;
}

interface Parts {
  readonly whole: string;
  readonly decimals: string;
}

function split(plain: string, decimal: string | null): Parts | null {
  const at = decimal === null ? -1 : plain.lastIndexOf(decimal);
  const before = at < 0 ? plain : plain.slice(0, at);
  const decimals = at < 0 ? '' : plain.slice(at + 1);
  const whole = ungroup(before);
  if (whole === null || !/^\d*$/.test(decimals)) return null;
  return { whole, decimals };
}

/**
 * Returns the decimal separator: `٫`, or `.` or `,` if it occurs once and no other separator
 * follows it.
 */
function decimalOf(plain: string): string | null {
  if (plain.includes('٫')) return '٫';
  const last = /[.,](?=[^.,]*$)/.exec(plain)?.[0];
  if (last === undefined) return null;
  return plain.indexOf(last) === plain.lastIndexOf(last) ? last : null;
}

function unitsOf({ whole, decimals }: Parts, rules: SumRules): bigint | SumRefusal {
  const { decimals: most = USDC_DECIMALS, allowsZero = false } = rules;
  if (decimals.length > most) return { why: 'too_many_decimals' };
  const units = BigInt(whole || '0') * oneOf(rules) + BigInt(decimals.padEnd(most, '0') || '0');
  return units === 0n && !allowsZero ? { why: 'zero' } : units;
}

type Meaning = 'decimals' | 'group' | 'either';

/** Returns the meaning of a single separator followed by exactly three digits. */
function meaningOf(whole: string, separator: string, rules: SumRules): Meaning {
  const { decimals = USDC_DECIMALS } = rules;
  // `0,500` has decimals, because no group begins with 0.
  if (whole === '0') return 'decimals';
  if (decimals === 0) return 'group';
  if (decimals !== 3) return 'either';
  return separator === separatorsOf(rules).decimal ? 'decimals' : 'group';
}

/** Returns both readings in a form that the user can type. */
function bothReadings(whole: string, digits: string, rules: SumRules): SumRefusal {
  const big = BigInt(whole + digits);
  if (big === 0n) return { why: 'zero' };
  const small = unitsOf({ whole, decimals: digits.replace(/0+$/, '') }, rules);
  const decimal = typeof small === 'bigint' ? writeSum(small, rules, false) : null;
  return { why: 'two_readings', whole: String(big), decimal };
}

function readUnits(text: string, rules: SumRules): bigint | SumRefusal {
  const plain = plainText(text);
  if (!SHAPE.test(plain)) return { why: 'malformed' };
  const [, whole = '', separator, digits = ''] = ONE_SEPARATOR.exec(plain) ?? [];
  const meaning = separator === undefined ? null : meaningOf(whole, separator, rules);
  if (meaning === 'either') return bothReadings(whole, digits, rules);
  const parts = split(plain, meaning === 'group' ? null : decimalOf(plain));
  return parts === null ? { why: 'malformed' } : unitsOf(parts, rules);
}

function refusalWords(refusal: SumRefusal, rules: SumRules): string {
  const { decimals = USDC_DECIMALS } = rules;
  switch (refusal.why) {
    case 'malformed':
      return t('sum.malformed', { example: decimals === 0 ? '250' : `2${decimalKey(rules)}50` });
    case 'zero':
      return t('sum.zero');
    case 'too_many_decimals':
      return decimals === 0
        ? t('sum.no_decimals')
        : t('sum.too_many_decimals', { count: decimals });
    case 'two_readings':
      return refusal.decimal === null
        ? t('sum.two_readings_whole', { whole: refusal.whole, count: decimals })
        : t('sum.two_readings', { whole: refusal.whole, decimal: refusal.decimal });
  }
}

export function readSum(text: string, rules: SumRules = {}): TypedSum {
  const { wrote = null } = rules;
  if (wrote !== null && text === writeSum(wrote, rules)) {
    return { is: 'sum', units: wrote, isWritten: true };
  }
  if (text.trim() === '') return { is: 'empty' };
  const read = readUnits(text, rules);
  if (typeof read === 'bigint') return { is: 'sum', units: read, isWritten: false };
  return { is: 'refused', words: refusalWords(read, rules) };
}

/** Returns the amount, or `null` if the field is empty or refused. */
export function sumIn(typed: TypedSum): bigint | null {
  return typed.is === 'sum' ? typed.units : null;
}

/**
 * Formats an amount for an input field, for example `1,500.00` or `2.005000`: with two decimals or
 * all of them.
 */
export function writeSum(units: bigint, rules: SumRules = {}, isGrouped = true): string {
  const { decimals = USDC_DECIMALS } = rules;
  const one = oneOf(rules);
  const all = (units % one).toString().padStart(decimals, '0').slice(0, decimals);
  const usual = Math.min(USUAL_DECIMALS, decimals);
  const digits = decimals === 3 || /[^0]/.test(all.slice(usual)) ? decimals : usual;
  const { group, decimal } = separatorsOf(rules);
  // Not grouped by Intl, because Indian English groups two digits, which nobody may type.
  const whole = String(units / one).replaceAll(/\B(?=(?:\d{3})+$)/g, isGrouped ? group : '');
  return digits === 0 ? whole : `${whole}${decimal}${all.slice(0, digits)}`;
}
