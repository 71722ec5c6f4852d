/**
 * The currencies that a register may name, by ISO 4217 number. The network decides for which of
 * them it has a rate. US dollars (840) need no rate, because one dollar is one USDC here.
 */
const NUMBERS: Readonly<Record<number, string>> = {
  ...{ 36: 'aud', 48: 'bhd', 124: 'cad', 144: 'lkr', 152: 'clp', 156: 'cny', 170: 'cop' },
  ...{ 203: 'czk', 208: 'dkk', 344: 'hkd', 348: 'huf', 352: 'isk', 356: 'inr', 360: 'idr' },
  ...{ 376: 'ils', 392: 'jpy', 400: 'jod', 410: 'krw', 414: 'kwd', 458: 'myr', 484: 'mxn' },
  ...{ 504: 'mad', 512: 'omr', 554: 'nzd', 578: 'nok', 604: 'pen', 608: 'php', 634: 'qar' },
  ...{ 682: 'sar', 702: 'sgd', 710: 'zar', 752: 'sek', 756: 'chf', 764: 'thb', 784: 'aed' },
  ...{ 788: 'tnd', 818: 'egp', 826: 'gbp', 840: 'usd', 933: 'byn', 941: 'rsd', 946: 'ron' },
  ...{ 949: 'try', 975: 'bgn', 977: 'bam', 978: 'eur', 980: 'uah', 981: 'gel', 985: 'pln' },
  ...{ 986: 'brl' },
};

export const EUR = 978;
export const USD = 840;

/** Atoms of USDC in a cent. */
const ATOMS_PER_CENT = 10_000;
/** The network's largest sale, in cents. */
const MOST_CENTS = 100_000_000;

export function isCurrency(number: number): boolean {
  return number in NUMBERS;
}

/** Returns the lowercase code of a currency that {@link isCurrency} knows. */
export function codeOf(number: number): string {
  return NUMBERS[number] ?? '';
}

/** Returns the number of a lowercase code, or `null` if no register can name it. */
export function numberOf(code: string): number | null {
  const entry = Object.entries(NUMBERS).find(([, one]) => one === code);
  return entry === undefined ? null : Number(entry[0]);
}

/** The price fields of a request: minor units of a currency, or atoms for dollars. */
export type Price =
  | { readonly amount: number }
  | { readonly presentment: { readonly currency: string; readonly amount: number } };

/** Returns the price for the network, or `null` if it is larger than any sale. */
export function priceOf({ amount, currency }: Money): Price | null {
  if (currency !== USD) return { presentment: { currency: codeOf(currency), amount } };
  return amount > MOST_CENTS ? null : { amount: amount * ATOMS_PER_CENT };
}

/** A register's amount: minor units, and the number of the currency. */
export interface Money {
  readonly amount: number;
  readonly currency: number;
}

/**
 * The currencies that some registers send in hundredths, and others in whole units or thousandths.
 * 500 yen are `500` or `50000`, so the reader must know the register's scale.
 */
const DOUBTFUL: readonly string[] = [
  ...['bhd', 'clp', 'cop', 'huf', 'idr', 'isk', 'jod', 'jpy', 'krw', 'kwd', 'omr', 'tnd'],
];
const HUNDREDTHS = 2;

/** Decimals of a register's amounts by currency code; `all` for every doubtful currency. */
export type Scales = Readonly<Record<string, number>>;

/** True for a lowercase code in the table above. */
export function isDoubtful(code: string): boolean {
  return DOUBTFUL.includes(code);
}

/** Returns how many decimals the register sends, or `null` if the operator has not said it. */
export function scaleOf(currency: number, scales: Scales): number | null {
  const code = codeOf(currency);
  return isDoubtful(code) ? (scales[code] ?? scales.all ?? null) : HUNDREDTHS;
}

/**
 * Converts a register's amount to minor units. @returns `null` if its scale is unknown, or if it is
 * not a whole number of minor units.
 */
export function fromRegister({ amount, currency }: Money, scales: Scales): number | null {
  const scale = scaleOf(currency, scales);
  if (scale === null || !isCurrency(currency)) return scale === null ? null : amount;
  const shift = digitsOf(codeOf(currency)) - scale;
  if (shift >= 0) return amount * 10 ** shift;
  const unit = 10 ** -shift;
  return amount % unit === 0 ? amount / unit : null;
}

/** Converts minor units to a register's amount, rounded down to a unit that it can show. */
export function toRegister({ amount, currency }: Money, scales: Scales): number {
  const digits = isCurrency(currency) ? digitsOf(codeOf(currency)) : HUNDREDTHS;
  const shift = (scaleOf(currency, scales) ?? digits) - digits;
  return shift >= 0 ? amount * 10 ** shift : Math.floor(amount / 10 ** -shift);
}

/** Formats an amount for people, for example `12.50 EUR`. */
export function moneyText({ amount, currency }: Money): string {
  const digits = digitsOf(codeOf(currency));
  const code = codeOf(currency).toUpperCase();
  const text = String(amount).padStart(digits + 1, '0');
  if (digits === 0) return `${text} ${code}`;
  return `${text.slice(0, -digits)}.${text.slice(-digits)} ${code}`;
}

/** Decimals of a currency as the network counts them (ISO 4217). `Intl` has fewer for HUF. */
function digitsOf(code: string): number {
  if (['bhd', 'jod', 'kwd', 'omr', 'tnd'].includes(code)) return 3;
  return ['clp', 'isk', 'jpy', 'krw'].includes(code) ? 0 : HUNDREDTHS;
}

/** Rounds atoms down to cents, for the totals of sales priced in USDC. */
export function centsOf(atoms: number): number {
  return Math.floor(atoms / ATOMS_PER_CENT);
}
