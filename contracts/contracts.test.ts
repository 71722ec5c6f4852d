import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { staleArtifacts } from './compile.ts';
import { contractsFolder, runForge } from './forge.ts';
import { GAS_CEILINGS, measureGas, readGasTable } from './gas.ts';
import { MUTATIONS } from './mutation-list.ts';
import { mutate } from './mutations.ts';

test('the committed artifacts are those of the sources', () => {
  assert.deepEqual(staleArtifacts(), [], 'run: node contracts/compile.ts');
});

test('the contracts keep their promises in all forge tests', async () => {
  const { passed, output } = await runForge([]);
  assert.ok(passed, output);
  // A run that found no tests would pass as well.
  const suites = output.match(/^Ran \d+ tests? for /gm)?.length ?? 0;
  assert.ok(suites >= 9, `forge ran ${suites} suites`);
  assert.match(output, /runs: \d+, calls: 100000, reverts: 0/);
});

test('no operation costs other gas than gas.json says, nor more than its ceiling', async () => {
  const measured = await measureGas();
  assert.deepEqual(measured, readGasTable(), 'run: node contracts/gas.ts');
  for (const [operation, ceiling] of Object.entries(GAS_CEILINGS)) {
    const gas = measured.plainToken[operation];
    assert.ok(gas !== undefined && gas <= ceiling, `${operation}: ${gas} of ${ceiling}`);
  }
});

test('every seeded mutation still has its place in the sources', () => {
  for (const mutation of MUTATIONS) {
    const source = readFileSync(join(contractsFolder, mutation.file), 'utf8');
    assert.notEqual(mutate(source, mutation), source, mutation.name);
  }
});
