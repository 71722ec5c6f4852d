import assert from 'node:assert/strict';
import { test } from 'node:test';
import { perProcess } from '#core/once-per-process.ts';

test('a context has one part for all callers, and a copy of the context has its own', () => {
  let created = 0;
  const partOf = perProcess(({ name }: { readonly name: string }) => ({ name, place: ++created }));
  const ctx = { name: 'api' };
  assert.equal(partOf(ctx), partOf(ctx));
  assert.deepEqual(partOf({ ...ctx }), { name: 'api', place: 2 });
  assert.equal(created, 2);
});
