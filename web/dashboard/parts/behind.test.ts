import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBehind } from './behind.ts';

const till = (software_version: string | null, platform = 'browser') => ({
  platform,
  software_version,
});

test('a till in a browser is behind when its release is older than the service’s', () => {
  for (const older of ['0.1.9', '0.1.10', '0.2.0-beta.1']) {
    assert.equal(isBehind(till(older), '0.2.0'), true, older);
  }
  for (const other of ['0.2.0', '0.10.0', '1.0.0', null, '2026-10-01', 'abc']) {
    assert.equal(isBehind(till(other), '0.2.0'), false, String(other));
  }
  assert.equal(isBehind(till('0.1.0', 'reader'), '0.2.0'), false, 'it has releases of its own');
});
