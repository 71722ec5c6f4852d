import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPulledAway } from './sheet-close-threshold.ts';

test('a sheet closes after a long or quick pull, and stays after a nudge', () => {
  assert.equal(isPulledAway({ px: 100, ms: 2_000 }), true, 'far, however slowly');
  assert.equal(isPulledAway({ px: 60, ms: 80 }), true, 'briskly');
  assert.equal(isPulledAway({ px: 60, ms: 500 }), false, 'not far, and slowly');
  assert.equal(isPulledAway({ px: 10, ms: 1 }), false, 'a finger that trembles');
});
