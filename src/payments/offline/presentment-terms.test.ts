import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { addMs, addSeconds } from '#core/clock.ts';
import { toAtomsUp } from '#core/currency-conversion.ts';
import { HOUR_MS } from '#core/durations.ts';
import { toIdKey } from '#core/ids.ts';
import {
  idOfTerms,
  presentmentTerms,
  quoteOfRecord,
  readTermsId,
} from '#payments/offline/presentment-terms.ts';
import type { RateRow } from '#prices/rate-queries.ts';

const NOW = new Date('2026-10-01T12:00:00.000Z');
const KEY = toIdKey(randomBytes(32));
const TENANT = { accountId: 'acct_one', livemode: false };

function rated(currency: string, rate: string, more: Partial<RateRow> = {}): RateRow {
  const quoted_at = addSeconds(NOW, -10);
  const usable_until = addSeconds(NOW, 110);
  const market = { source: 'feeds', market_at: null, closed_margin: 0 };
  return { currency, rate, quoted_at, usable_until, ...market, ...more };
}

const EURO = rated('eur', '1.08542277217');
const by = { hours: 24, margin: 100, now: NOW };

function eurTerms(more: Partial<typeof by> = {}) {
  const terms = presentmentTerms(EURO, { ...by, ...more });
  assert.ok(terms !== null);
  return terms;
}

test('a rate is raised by the margin, and a price is rounded up to atoms', () => {
  const rows = [
    ['eur', '1.08542277217', 100, 990, '1.096276999892', 10_853_143n],
    ['jpy', '0.006563833279', 100, 1_300, '0.006629471612', 8_618_314n],
    ['eur', '1.08542277217', 0, 990, '1.08542277217', 10_745_686n],
    ['kwd', '3.255208333333', 1_000, 1, '3.580729166667', 3_581n],
  ] as const;
  for (const [currency, market, margin, amount, rate, atoms] of rows) {
    const terms = presentmentTerms(rated(currency, market), { ...by, margin });
    assert.equal(terms?.rate, rate, `${currency} ${margin}`);
    assert.equal(toAtomsUp(BigInt(amount), { currency, rate }), atoms, `${currency} ${margin}`);
  }
});

test('terms end their hours after the time of the rate, whenever a till reads them', () => {
  const { quotedAt, validUntil } = eurTerms({ hours: 3 });
  assert.equal(validUntil.getTime() - quotedAt.getTime(), 3 * HOUR_MS);
});

test('the last usable rate gives terms for the hours that the till may sell, not longer', () => {
  const until = EURO.usable_until ?? NOW;
  const at = (now: Date) => presentmentTerms(EURO, { ...by, hours: 2, now });
  assert.notEqual(at(addMs(until, 2 * HOUR_MS)), null);
  assert.equal(at(addMs(until, 2 * HOUR_MS + 1)), null);
  assert.equal(presentmentTerms({ ...EURO, rate: null }, by), null);
  assert.equal(presentmentTerms(undefined, by), null);
});

test('the margin for a closed market counts if the market was closed when the rate ended', () => {
  const closed = { closed_margin: 200, market_at: addSeconds(NOW, -3_500) };
  const early = presentmentTerms({ ...EURO, ...closed }, { ...by, margin: 0 });
  assert.equal(early?.rate, '1.08542277217', 'open until the hour is over');
  const later = { ...by, margin: 0, now: addMs(NOW, HOUR_MS) };
  const stale = presentmentTerms({ ...EURO, ...closed }, later);
  assert.equal(stale?.rate, '1.107131227614', 'closed when the rate ended');
  const open = { ...closed, market_at: NOW };
  assert.equal(presentmentTerms({ ...EURO, ...open }, later)?.rate, '1.08542277217');
});

describe('the id of terms', () => {
  const terms = eurTerms();
  const id = idOfTerms(KEY, TENANT, terms);

  test('holds them, so that the service needs no row', () => {
    assert.deepEqual(readTermsId(KEY, TENANT, id), terms);
  });

  test('is unknown to another account, mode or network, and after any change of it', () => {
    assert.equal(readTermsId(KEY, { ...TENANT, accountId: 'acct_two' }, id), null);
    assert.equal(readTermsId(KEY, { ...TENANT, livemode: true }, id), null);
    assert.equal(readTermsId(toIdKey(randomBytes(32)), TENANT, id), null);
    const changed = [
      id.replace('eur', 'usd'),
      id.replace('1.096', '0.096'),
      id.replace('_100_', '_0_'),
      id.slice(0, -1),
      `${id}0`,
      id.toUpperCase(),
      '',
      'oft_',
    ];
    for (const one of changed) assert.equal(readTermsId(KEY, TENANT, one), null, one);
  });

  test('gives a record its price until 72 hours after the terms have ended', () => {
    const price = { terms: id, amount: 990 };
    const latest = BigInt(addMs(terms.validUntil, 72 * HOUR_MS).getTime() / 1_000);
    const at = (validBefore: bigint) =>
      quoteOfRecord(price, { idKey: KEY, tenant: TENANT, validBefore });
    const { quote, problem } = at(latest);
    assert.deepEqual(
      [problem, quote?.currency, quote?.amount, quote?.rate, quote?.margin],
      [null, 'eur', 990, '1.096276999892', 100],
    );
    assert.deepEqual(at(latest + 1n), { quote: null, problem: 'terms_expired' });
    const foreign = { ...TENANT, accountId: 'acct_two' };
    assert.deepEqual(quoteOfRecord(price, { idKey: KEY, tenant: foreign, validBefore: latest }), {
      quote: null,
      problem: 'terms_unknown',
    });
  });
});
