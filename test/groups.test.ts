import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { groupFiles, inGoodOrder } from './groups.ts';
import { LATER } from './later.ts';

const ROOT = path.join(import.meta.dirname, '..');

const named = (folder: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${folder}/${String(n).padStart(3, '0')}.test.ts`);

describe('what npm test leaves to the long run', () => {
  it('is there', () => {
    for (const file of Object.keys(LATER)) assert.ok(existsSync(path.join(ROOT, file)), file);
  });
});

describe('the processes of a test run', () => {
  it('run each file once, in its order', () => {
    const files = [...named('src/a', 100), ...named('src/b', 9), ...named('test/faults', 3)];
    assert.deepEqual(groupFiles(files).flat(), files);
  });

  it('are shared by at most twelve neighbours, about as many in each', () => {
    const groups = groupFiles([...named('src/a', 13), ...named('web/b', 150)]);
    assert.deepEqual(
      groups.slice(0, 2).map((group) => group.length),
      [7, 6],
    );
    assert(groups.every((group) => group.length <= 12));
  });

  it('are not shared where files start processes and stop them', () => {
    const groups = groupFiles([...named('src/a', 96), ...named('test/faults', 5)]);
    assert.equal(groups.filter((group) => group[0]?.startsWith('test/faults')).length, 5);
  });

  it('are one for each file where only a few run', () => {
    assert(groupFiles(named('src/a', 11)).every((group) => group.length === 1));
  });

  it('begin with what takes long, a browser beside what works', () => {
    const names = ['src/a/1', 'src/ops/1', 'test/faults/1', 'web/a/1', 'web/b/1', 'web/c/1'];
    assert.deepEqual(inGoodOrder(names.map((name) => [name])).flat(), [
      'web/a/1',
      'test/faults/1',
      'web/b/1',
      'src/ops/1',
      'web/c/1',
      'src/a/1',
    ]);
    assert.deepEqual(inGoodOrder([['web/a/1'], ['web/b/1'], ['src/a/1']]).flat(), [
      'web/a/1',
      'src/a/1',
      'web/b/1',
    ]);
  });
});
