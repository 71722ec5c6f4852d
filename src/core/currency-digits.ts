/**
 * The ISO 4217 currencies whose minor unit is not a hundredth, by their number of minor digits.
 * `Intl` is not used: CLDR's digits follow usage (no cents for IDR), and a wrong digit would make
 * a sale ten or a hundred times too large. Screens import this file without the whole list of
 * currencies, because the API returns known currencies only.
 */
export const UNUSUAL: Readonly<Record<number, string>> = {
  0: 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx vnd vuv xaf xof xpf',
  3: 'bhd iqd jod kwd lyd omr tnd',
};

/** Returns the decimals of a currency of ISO 4217. */
export function digitsOf(currency: string): number {
  if (UNUSUAL[0]?.includes(currency) === true) return 0;
  return UNUSUAL[3]?.includes(currency) === true ? 3 : 2;
}

/** Returns `2.50` for 250 minor units of EUR, `0.250` for 250 of KWD. */
export function minorText(amount: number, currency: string): string {
  const digits = digitsOf(currency);
  const text = String(amount).padStart(digits + 1, '0');
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}
