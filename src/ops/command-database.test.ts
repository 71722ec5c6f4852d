import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { openCommandDatabase } from '#ops/command-database.ts';
import { testDatabase } from '#testing/database.ts';

test('a command reads the settings of all processes, and needs no key', async () => {
  const { url, close } = await testDatabase();
  const network = (name: string) => ({
    [`CHAIN_${name}_RPC_URL`]: 'http://127.0.0.1:1',
    [`CHAIN_${name}_CHAIN_ID`]: '31337',
    [`CHAIN_${name}_USDC`]: `0x${'1'.repeat(40)}`,
    [`CHAIN_${name}_SETTLEMENT`]: `0x${'2'.repeat(40)}`,
    [`CHAIN_${name}_DEPLOYED_AT_BLOCK`]: '1',
  });
  const db = openCommandDatabase({
    ...{
      NODE_ENV: 'production',
      DATABASE_URL: url,
      TAPLINE_SECRET: randomBytes(32).toString('hex'),
    },
    ...{ TAPLINE_PUBLIC_URL: 'https://pay.example.com', SMTP_URL: 'smtp://127.0.0.1:1' },
    ...network('TESTNET'),
    ...network('MAINNET'),
  });
  assert.deepEqual(await db.query('select 1 as one'), [{ one: 1 }]);
  await db.close();
  await close();
});
