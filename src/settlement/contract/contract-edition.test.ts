import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { toFunctionSelector } from 'viem';
import { isPresentEdition } from '#settlement/contract/contract-edition.ts';
import type { Hex } from '#settlement/requests.ts';

const artifact = new URL('../../../contracts/artifacts/Settlement.json', import.meta.url);
const code: Hex = JSON.parse(readFileSync(artifact, 'utf8')).deployedBytecode;

it('the contract of this release is told from one that lacks a function of ours', () => {
  assert.equal(isPresentEdition(code), true);
  const refund = 'refund(uint256,bytes,bytes32[],uint64,uint64,bytes16)';
  const former = 'refund(uint256,bytes,uint8,bytes32[],uint256)';
  const selector = (signature: string) => toFunctionSelector(signature).slice(2);
  const earlier = code.replaceAll(selector(refund), selector(former));
  assert.equal(isPresentEdition(earlier as Hex), false);
});
