import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  contractOf,
  contractVersionAt,
  contractVersionOf,
  firstBlockOf,
  knowsMerchant,
  merchantNumberOf,
  numberOnContract,
} from '#settlement/contract-versions.ts';
import { RpcUnavailable } from '#settlement/rpc-unavailable.ts';

const [FIRST, SECOND, OTHER] = ['0xA1', '0xb2', '0xc3'] as const;
const CONTRACTS = {
  settlement: SECOND,
  deployedAtBlock: 900n,
  formerSettlements: [{ settlement: FIRST, deployedAtBlock: 12n }],
} as const;
/** The highest merchant number of a contract. */
const LAST = 2n ** 32n - 1n;

test("a merchant number contains its contract's version and the number on that contract", () => {
  for (const [contractVersion, onContract] of [
    [0, 1n],
    [0, LAST],
    [1, 1n],
    [1, LAST],
    [7, 42n],
  ] as const) {
    const number = merchantNumberOf(contractVersion, onContract);
    assert.deepEqual(
      [contractVersionOf(number), numberOnContract(number)],
      [contractVersion, Number(onContract)],
    );
  }
  assert.equal(merchantNumberOf(0, 5), 5n, 'those of the first contract are as they were');
});

test('a merchant is looked up on its own contract', () => {
  assert.equal(contractOf(CONTRACTS, 5n), FIRST);
  assert.equal(contractOf(CONTRACTS, merchantNumberOf(1, 5)), SECOND);
  assert.equal(contractVersionAt(CONTRACTS, '0xa1'), 0);
  assert.equal(contractVersionAt(CONTRACTS, OTHER), null);
  assert.equal(firstBlockOf(CONTRACTS), 12n);
});

test('a process whose settings lack a later contract reports nothing about it', () => {
  const later = merchantNumberOf(2, 1);
  assert.equal(knowsMerchant(CONTRACTS, later), false);
  assert.throws(() => contractOf(CONTRACTS, later), RpcUnavailable);
});
