import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { compileInput, standardInput } from './compile.ts';
import { contractsFolder } from './forge.ts';

test('the input for verifying the source compiles to the deployed code', () => {
  const read = (name: string) => readFileSync(join(contractsFolder, 'artifacts', name), 'utf8');
  const { contracts } = compileInput(standardInput('Settlement'));
  const evm = contracts['Settlement.sol']?.Settlement?.evm;
  const { deployedBytecode } = JSON.parse(read('Settlement.json')) as Record<string, string>;
  assert.equal(`0x${evm?.deployedBytecode.object}`, deployedBytecode);
});
