import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertNever, assert as assertOwn, Bug, only, present } from '#core/assert.ts';

test('a failed assertion throws a Bug with the broken promise', () => {
  assert.throws(() => assertOwn(0, 'one row'), { name: 'Bug', message: 'one row' });
  assertOwn(1, 'never seen');
});

test('null and undefined are missing; 0, false and the empty string are present', () => {
  for (const gone of [null, undefined]) assert.throws(() => present(gone, 'row'), Bug);
  for (const there of [0, false, '', 0n]) assert.equal(present(there, 'row'), there);
});

test('exactly one row is required: neither none nor two', () => {
  assert.equal(only(['a'], 'row'), 'a');
  assert.throws(() => only([], 'row'), /expected one row, got 0/);
  assert.throws(() => only(['a', 'b'], 'row'), /expected one row, got 2/);
});

test('a value that no case expects throws', () => {
  assert.throws(() => assertNever('lost' as never), /unexpected value: "lost"/);
});
