import { CURRENCIES } from '#core/currencies.ts';

/**
 * The countries (ISO 3166-1) that use another country's currency. Elsewhere the code of the
 * currency begins with that of the country.
 */
const SHARED: Readonly<Record<string, string>> = {
  eur:
    'ad at ax be bg bl cy de ee es fi fr gf gp gr hr ie it lt lu lv mc me mf mq mt nl pm pt re ' +
    'si sk sm tf va xk yt',
  usd: 'as bq ec fm gu io mh mp pr pw sv tc tl um us vg vi',
  xof: 'bf bj ci gw ml ne sn tg',
  xaf: 'cf cg cm ga gq td',
  xpf: 'nc pf wf',
  xcd: 'ag ai dm gd kn lc ms vc',
  aud: 'au cx cc hm ki nf nr tv',
  nzd: 'ck nu nz pn tk',
  nok: 'bv no sj',
  dkk: 'dk fo gl',
  gbp: 'gb gg im je gs',
  chf: 'ch li',
  ils: 'il ps',
  mad: 'eh ma',
  xcg: 'cw sx',
};

/** Returns the currency of a country's shops; `null` if it is unknown, which proposes USDC. */
export function currencyOf(country: string): string | null {
  if (!/^[A-Z]{2}$/.test(country)) return null;
  const shared = Object.entries(SHARED).find(([, countries]) =>
    countries.includes(country.toLowerCase()),
  );
  if (shared !== undefined) return shared[0];
  return CURRENCIES.find((code) => code.startsWith(country.toLowerCase())) ?? null;
}
