import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paysGas } from '#apis/payer/transfer-routes.ts';
import { readConfig } from '#settings/config.ts';

const KEY = `0x${'11'.repeat(32)}`;
const EXTERNAL = {
  CHAIN_MAINNET_RPC_URL: 'http://127.0.0.1:8545',
  CHAIN_MAINNET_CHAIN_ID: '1',
  CHAIN_MAINNET_USDC: `0x${'22'.repeat(20)}`,
  CHAIN_MAINNET_SETTLEMENT: `0x${'33'.repeat(20)}`,
  CHAIN_MAINNET_DEPLOYED_AT_BLOCK: '1',
  CHAIN_MAINNET_RELAYER_KEYS: KEY,
  CHAIN_MAINNET_REGISTRAR_KEY: KEY,
  CHAIN_MAINNET_SPONSOR_KEY: KEY,
};

/**
 * Returns two booleans, for test and live mode: true if the operator pays for transfers with these
 * settings.
 */
function paid(env: Readonly<Record<string, string>>): boolean[] {
  const config = readConfig(env, []);
  return [false, true].map((livemode) => paysGas(config, livemode));
}

test('by default a sandbox pays the gas of transfers on its own chains only', () => {
  assert.deepEqual(paid({}), [true, true]);
  assert.deepEqual(paid(EXTERNAL), [true, false]);
  assert.deepEqual(paid({ ...EXTERNAL, GASLESS_TRANSFERS: 'mainnet' }), [false, true]);
  assert.deepEqual(paid({ GASLESS_TRANSFERS: 'none' }), [false, false]);
});
