import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FIRST_PORTION, inPortions } from '#settlement/relayer/track/collect-receipts.ts';

const divide = (sizes: readonly number[]) => inPortions(sizes, (size) => size);

describe('the results of one block', () => {
  it('are stored together if they are few', () => {
    assert.deepEqual(divide([1, 20, 43]), [[1, 20, 43]]);
  });

  it('are divided where a group is closest to its target size', () => {
    assert.deepEqual(divide([40, 47, 10]), [[40, 47], [10]]);
    assert.deepEqual(divide([40, 49, 10]), [[40], [49, 10]]);
  });

  it('of one transaction stay together, however many they are', () => {
    assert.deepEqual(divide([FIRST_PORTION * 3, 1]), [[FIRST_PORTION * 3], [1]]);
  });

  it('are stored in groups of increasing size', () => {
    const sizes = divide(Array.from({ length: 500 }, () => 1)).map(({ length }) => length);
    assert.deepEqual(sizes, [FIRST_PORTION, FIRST_PORTION * 2, FIRST_PORTION * 4, 52]);
  });

  it('of transactions without any belong to the first group', () => {
    assert.deepEqual(divide([0, 0, 1]), [[0, 0, 1]]);
    assert.deepEqual(divide([]), [[]]);
  });
});
