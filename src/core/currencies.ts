import { UNUSUAL } from './currency-digits.ts';

/**
 * The ISO 4217 currencies of everyday payments, by their number of decimals. Omits funds, metals
 * and test codes.
 */
const BY_DIGITS: Readonly<Record<number, string>> = {
  ...UNUSUAL,
  2: `aed afn all amd aoa ars aud awg azn bam bbd bdt bmd bnd bob brl bsd btn bwp byn bzd cad cdf
    chf cny cop crc cup cve czk dkk dop dzd egp ern etb eur fjd fkp gbp gel ghs gip gmd gtq gyd
    hkd hnl htg huf idr ils inr irr jmd kes kgs khr kpw kyd kzt lak lbp lkr lrd lsl mad mdl mga
    mkd mmk mnt mop mru mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd pab pen pgk php pkr pln
    qar ron rsd rub sar sbd scr sdg sek sgd shp sle sos srd ssp stn svc syp szl thb tjs tmt top
    try ttd twd tzs uah usd uyu uzs ved ves wst xcd xcg yer zar zmw zwg`,
};

const DIGITS: ReadonlyMap<string, number> = new Map(
  Object.entries(BY_DIGITS).flatMap(([digits, codes]) =>
    codes.split(/\s+/).map((code) => [code, Number(digits)] as const),
  ),
);

/** Every known currency, in alphabetical order. */
export const CURRENCIES: readonly string[] = [...DIGITS.keys()].sort();

/** Returns the number of decimals of a currency; undefined if the currency is unknown. */
export function minorDigits(currency: string): number | undefined {
  return DIGITS.get(currency);
}
