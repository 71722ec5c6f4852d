import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { bytesToHex, hexToBytes } from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';
import { isCurrentContract, knownContract } from '#settlement/contract/contract-code.ts';
import version1 from '../../../contracts/test/settlement-version-1.json' with { type: 'json' };

const artifact = new URL('../../../contracts/artifacts/Settlement.json', import.meta.url);
const { deployedBytecode, immutables } = JSON.parse(readFileSync(artifact, 'utf8')) as {
  readonly deployedBytecode: Hex;
  readonly immutables: readonly (readonly [start: number, length: number])[];
};

/** Returns the contract's code, with the bytes from `at` on overwritten. */
function written(at: number, values: Uint8Array): Hex {
  const bytes = hexToBytes(deployedBytecode);
  bytes.set(values, at);
  return bytesToHex(bytes);
}

it("this release's contract is recognized, whatever values its constructor wrote into it", () => {
  assert.equal(isCurrentContract(deployedBytecode), true);
  assert.ok(immutables.length >= 4, 'token, delays and domain');
  for (const [start, length] of immutables) {
    assert.equal(isCurrentContract(written(start, new Uint8Array(length).fill(0xab))), true);
  }
});

it('a changed, additional or missing byte makes it a different contract', () => {
  const isImmutable = (at: number) =>
    immutables.some(([start, length]) => at >= start && at < start + length);
  const original = hexToBytes(deployedBytecode);
  for (let at = 0; at < original.length; at += 997) {
    if (isImmutable(at)) continue;
    const other = new Uint8Array([(original[at] ?? 0) ^ 1]);
    assert.equal(isCurrentContract(written(at, other)), false, `byte ${at}`);
  }
  // Code with all selectors of the current contract, but other bytes.
  assert.equal(isCurrentContract(`${deployedBytecode}00`), false);
  assert.equal(isCurrentContract(deployedBytecode.slice(0, -2) as Hex), false);
  assert.equal(isCurrentContract('0x'), false);
});

it('version 1 is known, and is not the current contract', () => {
  const code = version1.deployedBytecode as Hex;
  assert.equal(knownContract(code)?.signatureGas, 500_000n);
  assert.equal(isCurrentContract(code), false);
  assert.equal(knownContract(`${code}00`), null);
  assert.equal(knownContract(deployedBytecode)?.signatureGas, 500_000n);
});
