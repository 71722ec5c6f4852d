import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Abi, encodeFunctionData, type Hex, keccak256, numberToHex } from 'viem';
import {
  batchesOnPath,
  LASTING_BATCHES,
  lastingNodeOf,
  nodeIndexOf,
  openRange,
  overwrittenBy,
  peaksOf,
  type RangedBatch,
  rangePath,
} from './batch-range.ts';
import { compileContract } from './compile.ts';
import { parentOf } from './payment-tree.ts';
import { startTestNode } from './test/test-node.ts';

/** The address at which the test node places the code of test/RangeProbe.sol. */
const PROBE = numberToHex(0x7ee_0001, { size: 20 });

/**
 * Wraps around the ring of 256 slots three times and passes the first peak that replaces another of
 * the same height.
 */
const COUNT = 900;
/** Number of batches that one transaction adds to the probe. */
const AT_ONCE = 300;

/** Returns the root of a batch; the probe computes the same one. */
const rootOf = (batch: bigint): Hex => keccak256(numberToHex(batch, { size: 32 }));

function rangeOf(count: number): Map<bigint, RangedBatch> {
  const range = openRange(0n);
  return new Map(
    Array.from({ length: count }, (_, i) => {
      const root = rootOf(BigInt(i) + 1n);
      return [BigInt(i) + 1n, { root, node: range.append(root) }];
    }),
  );
}

const RANGE = rangeOf(COUNT);
const at = (batch: bigint) => RANGE.get(batch) ?? assert.fail(`batch ${batch} is missing`);

const climb = (root: Hex, path: readonly Hex[]) => path.reduce(parentOf, root);

/** Returns all nodes above a batch that existed when there were `count` batches. */
function nodesAbove(batch: bigint, count: bigint): bigint[] {
  const all = Array.from({ length: Number(count) }, (_, i) => BigInt(i) + 1n);
  return all.filter((top) => batch <= top && batch > top - (top & -top));
}

test('the contract keeps the nodes that are computed here, for as long as documented', async () => {
  await using node = await startTestNode();
  const contract = compileContract('test/RangeProbe');
  const abi = contract.abi as Abi;
  await node.client.setCode({ address: PROBE, bytecode: contract.deployedBytecode });
  const from = numberToHex(0xad_0000, { size: 20 });
  await node.client.setBalance({ address: from, value: 10n ** 20n });
  const kept = (batch: bigint) =>
    node.client.readContract({
      ...{ address: PROBE, abi, functionName: 'rangeNode' },
      args: [nodeIndexOf(batch)],
    });
  for (let count = AT_ONCE; count <= COUNT; count += AT_ONCE) {
    const args = [BigInt(AT_ONCE)] as const;
    const data = encodeFunctionData({ abi, functionName: 'appendCounted', args });
    await node.send({ from, to: PROBE, data });
    // Checks every 13th batch, which reaches nodes of all heights because 13 is odd.
    for (let batch = 1n; batch <= count; batch += 13n) {
      const isKept = overwrittenBy(batch) > BigInt(count);
      assert.equal((await kept(batch)) === at(batch).node, isKept, `${batch} of ${count}`);
    }
    for (const peak of peaksOf(BigInt(count))) assert.equal(await kept(peak), at(peak).node);
  }
});

test('a path leads from the batch to each node that covers it, and only to that', () => {
  const batches = fc.bigInt({ min: 1n, max: BigInt(COUNT) });
  fc.assert(
    fc.property(batches, batches, (batch, other) => {
      for (const top of nodesAbove(batch, BigInt(COUNT))) {
        const path = rangePath({ batch, top }, at);
        assert.equal(climb(at(batch).root, path), at(top).node);
        if (other !== batch) assert.notEqual(climb(at(other).root, path), at(top).node);
        assert.equal(2n ** BigInt(path.length), top & -top);
      }
    }),
    { numRuns: 60 },
  );
});

test('a path needs only the batches that batchesOnPath names', () => {
  for (let batch = 1n; batch <= 300n; batch += 13n) {
    for (const top of nodesAbove(batch, BigInt(COUNT))) {
      const told = new Set(batchesOnPath(batch, top));
      const requests = new Set<bigint>();
      rangePath({ batch, top }, (one) => {
        requests.add(one);
        return at(one);
      });
      assert.deepEqual(requests, told);
    }
  }
});

test('the chosen node is the lowest that stays for more than 128 further batches', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 2n ** 36n }),
      fc.bigInt({ min: 0n, max: 2n ** 20n }),
      (batch, later) => {
        const count = batch + later;
        const top = lastingNodeOf(batch, count);
        assert.ok(top <= count, 'the node has been written');
        assert.ok(batch <= top && batch > top - (top & -top), 'the node covers the batch');
        assert.ok(overwrittenBy(top) > count + LASTING_BATCHES, 'it stays');
        for (let lower = batch; lower < top; lower += lower & -lower) {
          assert.ok(
            overwrittenBy(lower) <= count + LASTING_BATCHES,
            `the lower node of batch ${lower} would suffice`,
          );
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

test('a node that does not cover the batch, or is not written yet, is refused', () => {
  assert.throws(() => lastingNodeOf(5n, 4n), RangeError);
  assert.throws(() => lastingNodeOf(0n, 4n), RangeError);
  assert.throws(() => batchesOnPath(3n, 6n), RangeError);
  assert.throws(() => batchesOnPath(7n, 6n), RangeError);
});

test('a range can be continued from its peaks alone', () => {
  for (const count of [1, 6, 127, 128, 511, 898]) {
    const peaks = new Map(peaksOf(BigInt(count)).map((batch) => [batch, at(batch)]));
    const range = openRange(BigInt(count), peaks);
    for (let next = BigInt(count) + 1n; next <= COUNT; next++) {
      assert.equal(range.append(at(next).root), at(next).node);
    }
    if (count % 2 === 0) continue;
    const without = openRange(BigInt(count), new Map());
    assert.throws(() => without.append(at(BigInt(count) + 1n).root), /no peak/);
  }
});
