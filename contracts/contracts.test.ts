import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mutate } from '../test/mutations/mutation.ts';
import { RUNTIME_BYTES_LIMIT, staleArtifacts } from './compile.ts';
import { contractsFolder, runForge } from './forge.ts';
import { GAS_CEILINGS, measureGas, readGasTable } from './measure-gas.ts';
import { candidates, generate, KINDS, SOURCES } from './mutations/generate.ts';
import { MUTATIONS } from './mutations/list.ts';
import { FIAT_TOKEN_MISSING } from './test/fiat-token.ts';

test('the committed artifacts match the sources', () => {
  assert.deepEqual(staleArtifacts(), [], 'run: node contracts/compile.ts');
});

test('all forge tests of the contracts pass', async () => {
  const { passed, output } = await runForge([]);
  assert.ok(passed, output);
  // Requires some tests, because a run that found none would also pass.
  const suites = output.match(/^Ran \d+ tests? for /gm)?.length ?? 0;
  assert.ok(suites >= 9, `forge ran ${suites} suites`);
  // The long run makes 25 times as many calls (foundry.toml).
  const calls = process.env.FOUNDRY_PROFILE === 'long' ? 100_000 : 4_000;
  assert.match(output, new RegExp(`runs: \\d+, calls: ${calls}, reverts: 0`));
});

test('the settlement contract stays 3,000 bytes below the limit, for later fixes', () => {
  const path = join(contractsFolder, 'artifacts', 'Settlement.json');
  const { deployedBytecode } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
  const bytes = ((deployedBytecode?.length ?? 0) - 2) / 2;
  assert.ok(bytes > 15_000 && RUNTIME_BYTES_LIMIT - bytes >= 3_000, `${bytes} bytes`);
});

test('every operation costs the gas that gas.json says', async (t) => {
  const measured = await measureGas();
  const committed = readGasTable();
  for (const token of ['plainToken', 'testUsdc', 'realUsdc'] as const) {
    const skip = token === 'realUsdc' && FIAT_TOKEN_MISSING;
    await t.test(token, { skip }, () => {
      assert.deepEqual(measured[token], committed[token], 'run: node contracts/measure-gas.ts');
    });
  }
});

test('no operation costs more than its ceiling', () => {
  const table = readGasTable();
  for (const token of ['plainToken', 'realUsdc'] as const) {
    for (const [operation, ceiling] of Object.entries(GAS_CEILINGS[token])) {
      const gas = table[token][operation];
      assert.ok(gas !== undefined && gas <= ceiling, `${token}, ${operation}: ${gas}`);
    }
  }
});

test('the generator makes as many bugs as were made by hand, of every kind, from its seed', () => {
  const choice = { root: contractsFolder, seed: 5, count: MUTATIONS.length };
  const chosen = generate(choice);
  assert.ok(chosen.length + MUTATIONS.length >= 100 && chosen.length >= MUTATIONS.length);
  assert.deepEqual(chosen, generate(choice));
  assert.notDeepEqual(chosen, generate({ ...choice, seed: 6 }));
  assert.deepEqual(new Set(chosen.map(({ name }) => name)), new Set(KINDS));
  for (const file of SOURCES) {
    const source = readFileSync(join(contractsFolder, file), 'utf8');
    for (const one of candidates(file, source)) assert.notEqual(mutate(source, one), source);
  }
});

test('the code that each hand-made mutation replaces still exists in the sources', () => {
  for (const mutation of MUTATIONS) {
    const source = readFileSync(join(contractsFolder, mutation.file), 'utf8');
    assert.notEqual(mutate(source, mutation), source, mutation.name);
  }
});
