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
