import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeAt } from './compute-rotating-code.ts';

test('codes match the test vectors of RFC 6238, appendix B', async () => {
  const key = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
  const table = [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [20_000_000_000, '65353130'],
  ] as const;
  for (const [seconds, code] of table) assert.equal(await codeAt(key, seconds * 1000), code);
});
