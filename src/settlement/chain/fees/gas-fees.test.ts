import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bumpFees, type Fees, lowerTips, suggestFees } from '#settlement/chain/fees/gas-fees.ts';

const GWEI = 1_000_000_000n;
const CEILING = 500n * GWEI;
const LIMITS = { ceiling: CEILING, highestTip: CEILING };

describe('fees', () => {
  it('suffice for five full blocks, with the median tip', () => {
    const recentTips = [3n * GWEI, 1n * GWEI, 2n * GWEI];
    assert.deepEqual(suggestFees({ baseFeePerGas: 10n * GWEI, recentTips, ...LIMITS }), {
      maxFeePerGas: 22n * GWEI,
      maxPriorityFeePerGas: 2n * GWEI,
    });
  });

  it("include no tip above the profile's, whatever nodes report", () => {
    const reported = { recentTips: [12n * GWEI], ceiling: CEILING, highestTip: GWEI };
    const { maxPriorityFeePerGas } = suggestFees({ baseFeePerGas: GWEI / 200n, ...reported });
    assert.equal(maxPriorityFeePerGas, GWEI);
  });

  it('follow the cheaper of two nodes, or the one that answers', () => {
    const [dear, cheap] = [[12n * GWEI, 12n * GWEI], [GWEI / 1_000n]];
    assert.deepEqual(lowerTips([dear, cheap]), cheap);
    assert.deepEqual(lowerTips([cheap, dear]), cheap);
    assert.deepEqual(lowerTips([[], dear]), dear);
    assert.deepEqual(lowerTips([[]]), []);
    assert.equal(lowerTips([]), null);
  });

  it("never exceed the ceiling, however high the chain's fees are", () => {
    const wei = fc.bigInt({ min: 0n, max: 10n ** 15n });
    fc.assert(
      fc.property(wei, fc.array(wei, { maxLength: 12 }), wei, (baseFeePerGas, tips, ceiling) => {
        const fees = suggestFees({ ...LIMITS, baseFeePerGas, recentTips: tips, ceiling });
        assert(fees.maxFeePerGas <= ceiling);
        assert(fees.maxPriorityFeePerGas <= fees.maxFeePerGas);
      }),
    );
  });

  it('of a replacement are a tenth higher and within the ceiling, or it is not made', () => {
    const wei = fc.bigInt({ min: 1n, max: 10n ** 12n });
    const fees = fc
      .tuple(wei, wei)
      .map(([a, b]): Fees => ({ maxFeePerGas: a + b, maxPriorityFeePerGas: b }));
    fc.assert(
      fc.property(fees, fees, wei, (before, suggested, ceiling) => {
        const bumped = bumpFees(before, suggested, ceiling);
        if (bumped === null) return;
        assert(bumped.maxFeePerGas * 10n >= before.maxFeePerGas * 11n);
        assert(bumped.maxPriorityFeePerGas * 10n >= before.maxPriorityFeePerGas * 11n);
        assert(bumped.maxFeePerGas <= ceiling);
      }),
    );
  });

  it("follow the chain's fees if they have risen by more", () => {
    const before = { maxFeePerGas: 10n * GWEI, maxPriorityFeePerGas: GWEI };
    const suggested = { maxFeePerGas: 80n * GWEI, maxPriorityFeePerGas: GWEI };
    assert.equal(bumpFees(before, suggested, CEILING)?.maxFeePerGas, 80n * GWEI);
  });

  it('stay as they are when the ceiling is reached', () => {
    const before = { maxFeePerGas: CEILING, maxPriorityFeePerGas: GWEI };
    assert.equal(bumpFees(before, before, CEILING), null);
  });
});
