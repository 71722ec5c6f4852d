import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { openCommandDatabase } from '#ops/command-database.ts';
import { startOutsideChain } from '#testkit/apis/outside-chain.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';

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

test('reconcile and reseal need no key', async (t) => {
  const { url, close } = await testDatabase();
  t.after(close);
  const chain = await startOutsideChain({ chainId: 31_337, token: 'test' });
  t.after(() => chain.stop());
  const given = Object.entries((await chain.deploySettlement()).env);
  const testnet = given.filter(([name]) => !/_KEYS?$/.test(name));
  const mainnet = testnet.map(([name, value]) => [name.replace('TESTNET', 'MAINNET'), value]);
  const env = {
    ...{ NODE_ENV: 'production', PATH: process.env.PATH, DATABASE_URL: url },
    TAPLINE_SECRET: randomBytes(32).toString('hex'),
    TAPLINE_SECRET_PREVIOUS: randomBytes(32).toString('hex'),
    ...Object.fromEntries([...testnet, ...mainnet]),
  };
  const run = async (command: string) => {
    const file = path.join(import.meta.dirname, `${command}-command.ts`);
    return (await promisify(execFile)(process.execPath, [file], { env })).stdout;
  };
  const agree = ': blocks \\d+ to \\d+, \\d+ events: chain and database agree\n';
  assert.match(await run('reconcile'), new RegExp(`^testnet${agree}mainnet${agree}$`));
  assert.match(await run('reseal'), /: 0 sealed again, 0 already current, 0 undecryptable\n$/);
});
