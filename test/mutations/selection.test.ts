import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createReach, selectTests } from '../reached.ts';
import { testsAndSources } from '../selection-command.ts';
import { FILES } from './files.ts';
import { readResults } from './mutation.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/** Lower bound that detects lost results. */
const FEWEST_MUTANTS = 200;
/** Found each promise that was not awaited in a transaction. */
const AWAITS = 'test/tidy.test.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

test('--changed names the test that caught each planted bug whose line still exists', () => {
  const { tests } = testsAndSources();
  const texts = tests.map((file) => ({ file, text: read(file).replaceAll("\\'", "'") }));
  const reach = createReach(ROOT);
  /** If the title is no longer there, any of the tests that were run for the file caught it. */
  const catchersOf = (file: string, name: string, title: string): readonly string[] => {
    if (name === 'await') return [AWAITS];
    const titled = texts.filter(({ text }) => text.includes(title)).map((one) => one.file);
    return titled.length > 0 ? titled : (FILES[file] ?? []);
  };
  let seen = 0;
  const lost: string[] = [];
  for (const { verdict, name, file, from, by } of readResults(
    path.join(ROOT, 'test/mutations/results.json'),
  ).values()) {
    const isThere = existsSync(path.join(ROOT, file)) && read(file).includes(from.trim());
    if (verdict !== 'caught' || !isThere) continue;
    seen++;
    const { run, leftOut } = selectTests([file], tests, ROOT, reach);
    const named = new Set([...run, ...leftOut]);
    if (!catchersOf(file, name, by).some((one) => named.has(one))) lost.push(`${file}: ${by}`);
  }
  assert.ok(seen >= FEWEST_MUTANTS, `only ${seen} mutants were seen`);
  assert.deepEqual(lost, []);
});
