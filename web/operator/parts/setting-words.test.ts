import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingsOf } from './setting-words.ts';

test('settings are shown as plain text without JSON, and null if they are not set', () => {
  const settings = {
    roles: ['api', 'worker'],
    production: false,
    cell_addresses: [],
    smtp_url: null,
    testnet: { chain_id: 31_337, rpc_urls: ['http://one', 'http://two'] },
  };
  assert.deepEqual(settingsOf(settings), [
    ['roles', 'api, worker'],
    ['production', 'No'],
    ['cell addresses', null],
    ['smtp url', null],
    ['testnet › chain id', '31337'],
    ['testnet › rpc urls', 'http://one, http://two'],
  ]);
});
