import { textLocale } from './t.ts';

/** Returns the code and the name of a currency, for example `EUR · Euro`. */
export function currencyName(currency: string | null): string {
  const code = (currency ?? 'usdc').toUpperCase();
  if (currency === null) return code;
  const names = new Intl.DisplayNames(textLocale(), { type: 'currency', fallback: 'none' });
  const name = names.of(code);
  return name === undefined ? code : `${code} · ${name}`;
}
