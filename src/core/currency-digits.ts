/**
 * The ISO 4217 currencies whose minor unit is not a hundredth, by their number of decimals. Not
 * taken from `Intl`: its data (CLDR) follows usage (no cents for IDR), and a wrong number would
 * make a sale ten or a hundred times too large. Screens import this file rather than the list of
 * all currencies, because the API returns only known currencies.
 */
export const UNUSUAL: Readonly<Record<number, string>> = {
  0: 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx vnd vuv xaf xof xpf',
  3: 'bhd iqd jod kwd lyd omr tnd',
};

/** Returns the number of decimals of an ISO 4217 currency. */
export function digitsOf(currency: string): number {
  if (UNUSUAL[0]?.includes(currency) === true) return 0;
  return UNUSUAL[3]?.includes(currency) === true ? 3 : 2;
}

/** Formats minor units as a decimal: 250 is `2.50` in EUR and `0.250` in KWD. */
export function minorText(amount: bigint | number, currency: string): string {
  const digits = digitsOf(currency);
  const text = String(amount).padStart(digits + 1, '0');
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/**
 * Formats minor units with their currency, for example `€2.50`, `¥250` or `−KWD 2.500`, with the
 * decimals of ISO 4217, from which `Intl` sometimes differs.
 */
export function priceText(
  minor: bigint | number,
  { currency, locale }: { readonly currency: string; readonly locale: string },
): string {
  const digits = digitsOf(currency);
  const size = minorText(minor < 0 ? -minor : minor, currency);
  return decimalText(`${minor < 0 ? '-' : ''}${size}`, locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/**
 * Formats a decimal. Its minus is the same on every screen and paper; the invisible mark that
 * `Intl` writes before it in Arabic keeps it on the left of its digits. Takes text, because a
 * double would round large amounts.
 */
export function decimalText(
  decimal: string,
  locale: string,
  shape: Intl.NumberFormatOptions,
): string {
  return new Intl.NumberFormat(locale, shape).format(decimal as `${number}`).replace('-', '−');
}
