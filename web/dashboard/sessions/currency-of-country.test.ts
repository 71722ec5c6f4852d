import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currencyOf } from './currency-of-country.ts';

test('a country proposes its currency, and an unknown one proposes none', () => {
  const cases: Readonly<Record<string, string | null>> = {
    ...{ DE: 'eur', IE: 'eur', BG: 'eur', US: 'usd', EC: 'usd', JP: 'jpy', KW: 'kwd', GB: 'gbp' },
    ...{ CH: 'chf', LI: 'chf', BR: 'brl', MA: 'mad', SN: 'xof', CM: 'xaf', PL: 'pln', RU: 'rub' },
    ...{ AE: 'aed', SA: 'sar', TR: 'try', KR: 'krw', CL: 'clp', MX: 'mxn', VE: 'ved', GG: 'gbp' },
    ...{ AQ: null, '': null, XX: null, '150': null },
  };
  for (const [country, currency] of Object.entries(cases)) {
    assert.equal(currencyOf(country), currency, country);
  }
});
