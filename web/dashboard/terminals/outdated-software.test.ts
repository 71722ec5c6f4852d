import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBehind } from './outdated-software.ts';

const NEWEST = { browser: '0.2.0', reader: '0.1.0' };

const till = (software_version: string | null, platform = 'browser') => ({
  platform,
  software_version,
});

test('a till in a browser is behind when its release is older than the service’s', () => {
  for (const older of ['0.1.9', '0.1.10', '0.2.0-beta.1']) {
    assert.equal(isBehind(till(older), NEWEST), true, older);
  }
  for (const other of ['0.2.0', '0.10.0', '1.0.0', null, '2026-10-01', 'abc']) {
    assert.equal(isBehind(till(other), NEWEST), false, String(other));
  }
});

test('a reader has its own releases; for other software no newest release is known', () => {
  assert.equal(isBehind(till('0.1.0', 'reader'), NEWEST), false);
  assert.equal(isBehind(till('0.0.9', 'reader'), NEWEST), true);
  for (const platform of ['generic', 'android_webview']) {
    assert.equal(isBehind(till('0.0.1', platform), NEWEST), false, platform);
  }
});
