import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { groupFiles, inGoodOrder } from './groups.ts';

const named = (folder: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${folder}/${String(n).padStart(3, '0')}.test.ts`);

describe('the processes of a test run', () => {
  it('run each file once, in its order', () => {
    const files = [...named('src/a', 100), ...named('src/b', 9), ...named('test/faults', 3)];
    assert.deepEqual(groupFiles(files).flat(), files);
  });

  it('have at most sixteen neighboring files each, in similar numbers', () => {
    const groups = groupFiles([...named('src/a', 17), ...named('web/b', 190)]);
    assert.deepEqual(
      groups.slice(0, 2).map((group) => group.length),
      [9, 8],
    );
    assert(groups.every((group) => group.length <= 16));
  });

  it('combine small folders of src, but never waiting and CPU-bound files', () => {
    const small = [...named('src/a', 2), ...named('src/b', 3), ...named('src/ops', 2)];
    const groups = groupFiles([...small, ...named('web/c', 200)]);
    assert.deepEqual(
      groups.slice(0, 2).map((group) => group.length),
      [5, 2],
    );
  });

  it('have one file each where files start and stop processes', () => {
    const groups = groupFiles([...named('src/a', 96), ...named('test/faults', 5)]);
    assert.equal(groups.filter((group) => group[0]?.startsWith('test/faults')).length, 5);
  });

  it('have one file each if only a few run', () => {
    assert(groupFiles(named('src/a', 11)).every((group) => group.length === 1));
  });

  it('spread waiting files evenly over CPU-bound ones, long ones first', () => {
    const names = ['src/a/1', 'src/a/2', 'src/a/3', 'src/a/4', 'test/api/1', 'web/a/1'];
    const all = [...names, 'test/faults/1', 'src/ops/1'].map((name) => [name]);
    const order = inGoodOrder(all, (file) => (file === 'src/a/4' ? 2 : 1));
    assert.deepEqual(order.flat(), [
      'test/api/1',
      'test/faults/1',
      'src/a/4',
      'src/ops/1',
      'src/a/1',
      'src/a/2',
      'web/a/1',
      'src/a/3',
    ]);
  });
});
