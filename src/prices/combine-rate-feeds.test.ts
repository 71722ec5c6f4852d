import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { addMs, addSeconds } from '#core/clock.ts';
import { minorDigits } from '#core/currencies.ts';
import { readRate, writeRate } from '#core/currency-conversion.ts';
import {
  afterAnswer,
  type Comparison,
  compareFeeds,
  type FeedAnswer,
  type KnownRate,
  readFeedNumber,
} from '#prices/combine-rate-feeds.ts';

const NOW = new Date('2026-10-01T12:00:00.000Z');
const RULES = { maxAgeMs: 120_000, maxSpread: 100 };

function answer(rates: Readonly<Record<string, string>>, asOf = NOW): FeedAnswer {
  const entries = Object.entries(rates).map(
    ([code, text]) => [code, readFeedNumber(text)] as const,
  );
  return { asOf, marketAt: null, rates: new Map(entries) };
}

function euro(one: FeedAnswer, other: FeedAnswer): string | null | undefined {
  const result = compareFeeds([one, other], RULES, NOW).find(({ currency }) => currency === 'eur');
  if (result === undefined) return undefined;
  return result.rate === null ? null : writeRate(result.rate);
}

test('minor units are those of ISO 4217', () => {
  const digits = [
    'jpy',
    'krw',
    'eur',
    'idr',
    'huf',
    'bhd',
    'kwd',
    'usdc',
    'xau',
    'EUR',
    'toString',
  ];
  assert.deepEqual(digits.map(minorDigits), [
    ...[0, 0, 2, 2, 2, 3, 3],
    ...[undefined, undefined, undefined, undefined],
  ]);
});

test('only decimal text above 0 is a rate', () => {
  for (const text of ['0.9213', '1', '152.35', '0.00000000000000000001', '100000000000000']) {
    assert.notEqual(readFeedNumber(text), null, text);
  }
  const wrong = ['', '0', '0.0', '-1', '+1', '1e3', '.5', '5.', '01', '1,5', ' 1', '٣', 'NaN'];
  for (const text of [...wrong, 0.9213, null, {}, ['1']]) {
    assert.equal(readFeedNumber(text), null, String(text));
  }
});

test('a rate is the same after it was written and read', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }), (rate) => {
      assert.equal(readRate(writeRate(rate)), rate);
    }),
  );
});

describe('two feeds', () => {
  test('that agree produce their common rate', () => {
    assert.equal(euro(answer({ eur: '0.8' }), answer({ eur: '0.80' })), '1.25');
  });
  test('that differ by up to the spread produce a rate between the two', () => {
    assert.equal(euro(answer({ eur: '1' }), answer({ eur: '1.01' })), '0.995024875622');
  });
  test('that differ by more than the spread produce no rate', () => {
    assert.equal(euro(answer({ eur: '1' }), answer({ eur: '1.0100001' })), null);
  });
  test('produce no rate if one is too old, or too far ahead of our clock', () => {
    const at = (ms: number) => euro(answer({ eur: '1' }), answer({ eur: '1' }, addMs(NOW, ms)));
    assert.deepEqual([at(-120_000), at(-120_001), at(60_000), at(60_001)], ['1', null, '1', null]);
  });
  test('produce rates only for the currencies that both include', () => {
    assert.equal(euro(answer({ eur: '1' }), answer({ gbp: '1' })), undefined);
    const dollars = compareFeeds([answer({}), answer({})], RULES, NOW);
    assert.deepEqual(
      dollars.map(({ currency, rate }) => [currency, rate && writeRate(rate)]),
      [['usd', '1']],
    );
  });
  test('produce a rate with the time of the older one', () => {
    const older = addSeconds(NOW, -50);
    const [result] = compareFeeds([answer({}), answer({}, older)], RULES, NOW);
    assert.ok(result !== undefined && result.rate !== null);
    assert.deepEqual(result.quotedAt, older);
  });
});

describe('a rate that jumps', () => {
  /**
   * Returns the accepted rate after the feeds returned these rates at these seconds. `null` as a
   * rate means that the feeds differed.
   */
  function after(said: readonly (readonly [second: number, rate: string | null])[]): string | null {
    let known: KnownRate | undefined;
    for (const [second, text] of said) {
      const now = addSeconds(NOW, second);
      const rate = text === null ? null : readRate(text);
      const apart = { feed: null, reason: 'the feeds differ' };
      const result: Comparison =
        rate === null
          ? { currency: 'eur', rate, problem: apart }
          : { currency: 'eur', rate, quotedAt: now, marketAt: null };
      known = afterAnswer(known, result, { now, maxAgeMs: RULES.maxAgeMs });
    }
    return known?.good ? writeRate(known.good.rate) : null;
  }
  const every30 = (from: number, to: number, rate: string) =>
    Array.from({ length: (to - from) / 30 + 1 }, (_, n) => [from + n * 30, rate] as const);

  test('by up to 10 percent is accepted at once, and the first rate always is', () => {
    assert.equal(after([[0, '1']]), '1');
    assert.equal(
      after([
        [0, '1'],
        [30, '1.1'],
      ]),
      '1.1',
    );
    assert.equal(
      after([
        [0, '1'],
        [30, '0.9'],
      ]),
      '0.9',
    );
  });
  test('by more is accepted once the feeds have returned it for five minutes', () => {
    assert.equal(after([[0, '1'], ...every30(30, 300, '1.3')]), '1');
    assert.equal(after([[0, '1'], ...every30(30, 330, '1.3')]), '1.3');
  });
  test('waits again after it jumped further, came back, or paused for the maximum age', () => {
    const jumped = every30(30, 300, '1.3');
    assert.equal(after([[0, '1'], ...jumped, ...every30(330, 600, '1.5')]), '1');
    assert.equal(after([[0, '1'], ...jumped, [330, '1.01'], [360, '1.3']]), '1.01');
    assert.equal(
      after([
        [0, '1'],
        [30, '1.3'],
        [200, '1.3'],
        [331, '1.3'],
        [360, '1.3'],
      ]),
      '1',
    );
  });
  test('keeps waiting while the feeds differ for a moment', () => {
    assert.equal(after([[0, '1'], ...every30(30, 270, '1.3'), [300, null], [330, '1.3']]), '1.3');
  });
  test('never replaces a quote with an older one', () => {
    const now = addSeconds(NOW, 60);
    const good = { rate: readRate('1'), quotedAt: NOW, marketAt: null };
    const older = { quotedAt: addSeconds(NOW, -1), marketAt: null };
    const result = { currency: 'eur', rate: readRate('1.01'), ...older };
    const known = afterAnswer({ good, jumped: null }, result, { now, maxAgeMs: RULES.maxAgeMs });
    assert.deepEqual(known.good, good);
  });
});
