import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { PLANTED_FAULTS } from '../faults/planted-faults.ts';
import { FILES, GENERATED_INTO } from './files.ts';
import { candidates, generate, KINDS } from './generate.ts';
import { mutate } from './mutation.ts';
import { MUTATIONS } from './mutation-list.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');

const SAMPLE = `
async function pay(tx: Tx, payer: string, wallet: string): Promise<boolean> {
  await lock(payer, wallet);
  await tx.query(
    \`select id from payments where id = $1 and livemode = $2
     and amount > $3 for update skip locked\`,
    [payer],
  );
  return payer.length < 3;
}
`;

function mutants(kind: (typeof KINDS)[number]): string[] {
  return candidates('sample.ts', SAMPLE)
    .filter(({ name }) => name === kind)
    .map((one) => mutate(SAMPLE, one));
}

describe('the generator of mutations', () => {
  test('inverts each comparison of the program, and none of the SQL', () => {
    assert.deepEqual(mutants('comparison'), [SAMPLE.replace('length < 3', 'length <= 3')]);
  });

  test('drops each further condition of a where clause', () => {
    assert.deepEqual(mutants('where term'), [
      SAMPLE.replace(' and livemode = $2', ''),
      SAMPLE.replace('\n     and amount > $3', ''),
    ]);
  });

  test('drops a lock', () => {
    assert.deepEqual(mutants('lock'), [SAMPLE.replace(' for update skip locked', '')]);
  });

  test('swaps neighboring arguments', () => {
    assert.deepEqual(mutants('arguments'), [
      SAMPLE.replace('lock(payer, wallet)', 'lock(wallet, payer)'),
    ]);
  });

  test('removes an await whose value is unused', () => {
    const [first, second] = mutants('await');
    assert.equal(first, SAMPLE.replace('await lock', 'void lock'));
    assert.equal(second, SAMPLE.replace('await tx', 'void tx'));
  });

  test('chooses the same mutations for the same seed, and some of each kind', () => {
    const files = GENERATED_INTO.flatMap((group) => group.files);
    const choice = { root: ROOT, files, seed: 5, count: 40 };
    const chosen = generate(choice);
    assert.deepEqual(chosen, generate(choice));
    assert.notDeepEqual(chosen, generate({ ...choice, seed: 6 }));
    assert.deepEqual(new Set(chosen.map(({ name }) => name)), new Set(KINDS));
  });
});

describe('the list of mutations', () => {
  test('names files that exist, with tests that exist', () => {
    for (const [file, tests] of Object.entries(FILES)) {
      assert.ok(existsSync(path.join(ROOT, file)), file);
      for (const test of tests) assert.ok(existsSync(path.join(ROOT, test)), test);
    }
    for (const { file, by } of MUTATIONS) {
      assert.ok(file in FILES, `${file} is not in files.ts`);
      if (by !== undefined) assert.ok(existsSync(path.join(ROOT, by)), by);
    }
  });

  test('still applies to the code, each in exactly one place', () => {
    assert.ok(MUTATIONS.length >= 30, `only ${MUTATIONS.length} mutations`);
    const planted = PLANTED_FAULTS.map(({ mutation }) => mutation);
    for (const mutation of [...MUTATIONS, ...planted]) {
      const source = readFileSync(path.join(ROOT, mutation.file), 'utf8');
      assert.notEqual(mutate(source, mutation), source);
    }
  });
});
