import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Abi, concat, type Hex, hexToBigInt, keccak256, numberToHex } from 'viem';
import { compileContract } from './compile.ts';
import {
  PACKED_PAYMENT_BYTES,
  type PackedPaymentFields,
  packPayment,
  paymentLeaf,
  paymentProof,
  paymentTreeRoot,
  splitPayments,
  unpackCharges,
  unpackTerms,
} from './payment-tree.ts';
import { startTestNode } from './test/test-node.ts';

/** All sizes up to a full tree of 32 leaves, one more, and the largest batch in gas.ts. */
const SIZES = [...Array.from({ length: 33 }, (_, i) => i + 1), 100];

/** The address at which the test node places the code of test/TreeProbe.sol. */
const PROBE = numberToHex(0x7ee_0000, { size: 20 });

const paymentOf = (index: number): PackedPaymentFields => ({
  number: BigInt(index) + 1n,
  payer: numberToHex(0xabc_000 + index, { size: 20 }),
  merchant: 1 + (index % 10),
  amount: 2_500_000n + BigInt(index),
  orderId: `A-${index}`,
});

const leavesOf = (count: number): Hex[] =>
  Array.from({ length: count }, (_, i) => paymentLeaf(packPayment(paymentOf(i))));

/**
 * Reimplements OpenZeppelin's `MerkleProof.processProof` from its documentation, independently of
 * the code under test: each step hashes the node and its sibling, the smaller one first.
 */
function processProof(proof: readonly Hex[], leaf: Hex): Hex {
  return proof.reduce(
    (node, sibling) =>
      keccak256(
        hexToBigInt(node) < hexToBigInt(sibling)
          ? concat([node, sibling])
          : concat([sibling, node]),
      ),
    leaf,
  );
}

const verifies = ({ proof, leaf, root }: { proof: readonly Hex[]; root: Hex; leaf: Hex }) =>
  processProof(proof, leaf) === root;

/** Returns the leaf or node with one bit flipped. */
function turnBit(node: Hex, bit: number): Hex {
  return numberToHex(hexToBigInt(node) ^ (1n << BigInt(bit)), { size: 32 });
}

/** Returns the leaf at `index`, its proof, and the resulting root. */
function provenIn(leaves: readonly Hex[], index: number) {
  const leaf = leaves[index];
  assert.ok(leaf !== undefined);
  return { leaf, root: paymentTreeRoot(leaves), proof: paymentProof(leaves, index) };
}

/** For each size, a batch with the proofs of all leaves. */
const BATCHES = SIZES.map((size) => {
  const leaves = leavesOf(size);
  return { size, leaves, proven: leaves.map((_, index) => provenIn(leaves, index)) };
});

test("each payment's proof leads to the root and is at most as long as the tree is high", () => {
  for (const { size, proven } of BATCHES) {
    const height = Math.ceil(Math.log2(size));
    for (const one of proven) {
      assert.ok(verifies(one), `of ${size}`);
      assert.ok(one.proof.length <= height, `${one.proof.length} steps of ${height}`);
    }
  }
});

test('the contract computes the same root, and its check accepts the same proofs', async () => {
  await using node = await startTestNode();
  const { abi, deployedBytecode } = compileContract('test/TreeProbe');
  await node.client.setCode({ address: PROBE, bytecode: deployedBytecode });
  const ask = (functionName: string, args: readonly unknown[]) =>
    node.client.readContract({ address: PROBE, abi: abi as Abi, functionName, args });
  for (const { size, leaves, proven } of BATCHES) {
    const root = paymentTreeRoot(leaves);
    assert.equal(await ask('root', [leaves]), root, `of ${size}`);
    // The first, middle and last leaf, whose proofs begin on different sides and at different
    // heights.
    for (const index of new Set([0, size >> 1, size - 1])) {
      const { proof, leaf } = proven[index] ?? assert.fail();
      assert.equal(await ask('rootOf', [proof, leaf]), root, `${index} of ${size}`);
    }
  }
});

test('no payment is proved by the proof of another', () => {
  for (const { size, proven } of BATCHES) {
    for (const [index, { leaf, root }] of proven.entries()) {
      for (const [other, { proof }] of proven.entries()) {
        const isOwn = other === index;
        assert.equal(verifies({ leaf, root, proof }), isOwn, `${index} by ${other} of ${size}`);
      }
    }
  }
});

test('no payment is proved if a bit of it or of its proof is flipped', () => {
  for (const { proven } of BATCHES) {
    for (const { leaf, root, proof } of proven) {
      for (const bit of [0, 127, 255]) {
        assert.ok(!verifies({ leaf: turnBit(leaf, bit), root, proof }));
        for (const step of proof.keys()) {
          const turned = proof.map((node, at) => (at === step ? turnBit(node, bit) : node));
          assert.ok(!verifies({ leaf, root, proof: turned }));
        }
      }
    }
  }
});

test('no payment is proved if its proof is longer, shorter or in another order', () => {
  for (const { leaf, root, proof } of BATCHES.flatMap(({ proven }) => proven)) {
    for (const more of [leaf, root, ...proof.slice(0, 1)]) {
      assert.ok(!verifies({ leaf, root, proof: [...proof, more] }));
      assert.ok(!verifies({ leaf, root, proof: [more, ...proof] }));
    }
    if (proof.length === 0) continue;
    assert.ok(!verifies({ leaf, root, proof: proof.slice(1) }));
    assert.ok(!verifies({ leaf, root, proof: proof.slice(0, -1) }));
    if (proof.length > 1) assert.ok(!verifies({ leaf, root, proof: proof.toReversed() }));
  }
});

test('the root of a batch of one payment is its leaf, and the proof is empty', () => {
  const [leaf] = leavesOf(1);
  assert.ok(leaf !== undefined);
  assert.equal(paymentTreeRoot([leaf]), leaf);
  assert.deepEqual(paymentProof([leaf], 0), []);
});

test('a last node without a neighbor moves up unchanged, over as many levels as needed', () => {
  const leaves = leavesOf(5);
  const [a, b, c, d, e] = leaves as [Hex, Hex, Hex, Hex, Hex];
  const pair = (left: Hex, right: Hex) => processProof([right], left);
  const four = pair(pair(a, b), pair(c, d));
  assert.equal(paymentTreeRoot(leaves), pair(four, e));
  assert.deepEqual(paymentProof(leaves, 4), [four]);
  assert.deepEqual(paymentProof(leaves, 2), [d, pair(a, b), e]);
});

test('the leaves of a pair may be swapped, but no leaf may move to another pair', () => {
  const [a, b, c, d] = leavesOf(4) as [Hex, Hex, Hex, Hex];
  const root = paymentTreeRoot([a, b, c, d]);
  assert.equal(paymentTreeRoot([b, a, d, c]), root);
  assert.equal(paymentTreeRoot([c, d, a, b]), root);
  assert.notEqual(paymentTreeRoot([a, c, b, d]), root);
  assert.notEqual(paymentTreeRoot([a, d, c, b]), root);
});

test('the last payment of an odd batch is not counted twice', () => {
  const [a, b, c] = leavesOf(3) as [Hex, Hex, Hex];
  assert.notEqual(paymentTreeRoot([a, b, c]), paymentTreeRoot([a, b, c, c]));
});

test("the letter case of a leaf's hex digits changes nothing", () => {
  const leaves = leavesOf(7);
  const capitals = leaves.map((leaf): Hex => `0x${leaf.slice(2).toUpperCase()}`);
  assert.equal(paymentTreeRoot(capitals), paymentTreeRoot(leaves));
});

test('an empty batch has no tree, and a leaf outside the batch has no proof', () => {
  assert.throws(() => paymentTreeRoot([]), RangeError);
  for (const index of [-1, 3, 0.5, Number.NaN]) {
    assert.throws(() => paymentProof(leavesOf(3), index), RangeError);
  }
});

test('a payment packs into 45 bytes, each field where the contract reads it', () => {
  const packed = packPayment({
    number: 0x0102030405060708n,
    payer: `0x${'a1'.repeat(20)}`,
    merchant: 0xb1b2b3b4,
    amount: 10n ** 12n,
    orderId: 'A-7',
  });
  const order = '412d370000000000';
  assert.equal(packed, `0x0102030405060708${'a1'.repeat(20)}b1b2b3b4e8d4a51000${order}`);
  assert.equal(paymentLeaf(packed), keccak256(packed));
  assert.deepEqual(unpackTerms(`0x${packed.slice(-34)}`), {
    merchant: 0xb1b2b3b4,
    amount: 10n ** 12n,
    orderId: 'A-7',
  });
});

test('a field that does not fit is refused, not truncated', () => {
  const good = paymentOf(0);
  const wrong = [
    { number: 2n ** 64n },
    { number: -1n },
    { merchant: 2 ** 32 },
    { amount: 2n ** 40n },
    { orderId: '123456789' },
    { payer: '0xabc' as const },
  ];
  for (const field of wrong) {
    assert.throws(() => packPayment({ ...good, ...field }), `${Object.entries(field)}`);
  }
});

test("for any bytes of an order id, the leaf equals the contract's", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 8, maxLength: 8 }), (bytes) => {
      const order = Buffer.from(bytes).toString('hex');
      const terms: Hex = `0x${'00'.repeat(3)}07${'00'.repeat(4)}05${order}`;
      const { orderId } = unpackTerms(terms);
      assert.ok(!orderId.includes('\0'), 'PostgreSQL can store the order id as text');
      assert.equal(packPayment({ ...paymentOf(0), orderId }).slice(-16), order);
    }),
  );
  assert.equal(unpackTerms(`0x${'00'.repeat(9)}${'41004200ff000000'}`).orderId, 'A\u0100B\u0100ÿ');
});

test('a packed batch splits into the payments that it was made of, or is refused', () => {
  const packed = Array.from({ length: 33 }, (_, i) => packPayment(paymentOf(i)));
  assert.deepEqual(splitPayments(concat(packed)), packed);
  for (const bytes of [PACKED_PAYMENT_BYTES - 1, PACKED_PAYMENT_BYTES + 1]) {
    const shorter: Hex = `0x${'00'.repeat(bytes)}`;
    assert.throws(() => splitPayments(shorter), RangeError);
    assert.throws(() => paymentLeaf(shorter), RangeError);
  }
});

test('each of the four charges is read from its own 64 bits', () => {
  const most = 2n ** 64n - 1n;
  assert.deepEqual(unpackCharges((7n << 192n) | (most << 128n) | (5n << 64n) | 3n), {
    batch: 7n,
    acquirerFee: most,
    protocolFee: 5n,
    cashback: 3n,
  });
});
