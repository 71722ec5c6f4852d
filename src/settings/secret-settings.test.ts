import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { getAddress } from 'viem';
import { stderrLog } from '#observability/log.ts';
import { readConfig } from '#settings/config.ts';
import { secretValues } from '#settings/secret-settings.ts';
import type { Env } from '#settings/setting-names.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';

const hex = (digit: string, length: number) => `0x${digit.repeat(length)}`;

/** The settings of a real start. The tests below list the secret parts. */
const ENV: Env = {
  METRICS_TOKEN: 'scrape-me-0123456789',
  TAPLINE_SECRET: 'a1b2'.repeat(16),
  TAPLINE_SECRET_PREVIOUS: 'c3d4'.repeat(16),
  DATABASE_URL: 'postgresql://tapline:dat%2Fabase-pass@db.internal/tapline',
  REDIS_URL: 'rediss://:redis-pass@cache.internal',
  SMTP_URL: 'smtps://mailer:mail-pass@mail.example.com',
  AUDIT_ANCHORS: 'https://audit.example.com/anchors/anchor-key-0123456789',
  CHAIN_TESTNET_RPC_URL:
    'https://one.example.com/v2/node-key-0123456789,https://two.example.com/?k=node-key-2',
  CHAIN_TESTNET_RPC_HEADERS: '[{"authorization": "Bearer header-key"}]',
  CHAIN_TESTNET_CHAIN_ID: '1',
  CHAIN_TESTNET_USDC: hex('1', 40),
  CHAIN_TESTNET_SETTLEMENT: hex('2', 40),
  CHAIN_TESTNET_RELAYER_KEYS: `${hex('3', 64)}, ${hex('4', 64)}`,
  CHAIN_TESTNET_REGISTRAR_KEY: hex('5', 64),
  CHAIN_TESTNET_SPONSOR_KEY: hex('6', 64),
};

const SECRETS = [
  'scrape-me-0123456789',
  ...['a1b2'.repeat(16), 'c3d4'.repeat(16), 'dat%2Fabase-pass', 'dat/abase-pass', 'redis-pass'],
  ...['mail-pass', 'anchor-key-0123456789', 'node-key-0123456789', 'node-key-2', 'header-key'],
  ...['3', '4', '5', '6'].map((digit) => hex(digit, 64)),
];

test('no line of the log contains a secret of the settings, whatever an error says', (context) => {
  // Checks that a real start accepts these settings.
  readConfig(ENV, []);
  const lines: string[] = [];
  context.mock.method(process.stderr, 'write', (line: string) => lines.push(line));
  const log = stderrLog(undefined, { secrets: secretValues(ENV) });
  for (const [name, value] of Object.entries(ENV)) {
    log.error('the start failed', { error: new Error(`${name}: ${value}`), value });
  }
  for (const secret of SECRETS) log.error(`no: ${secret}`, { why: [secret] });
  context.mock.restoreAll();
  assert.equal(lines.length, Object.keys(ENV).length + SECRETS.length);
  const all = lines.join('');
  for (const secret of SECRETS) assert(!all.includes(secret), `${secret} is in the log`);
  assert(all.includes('db.internal'), 'the rest stays');
});

test('keys are read from files, and masked as if they were in the settings', async (t) => {
  const folder = testFolder(t);
  const [relayers, watcher] = ['relayers', 'watcher'].map((name) => path.join(folder, name));
  await writeFile(relayers ?? '', `${hex('7', 64)}\n${hex('8', 64)}\n`);
  await writeFile(watcher ?? '', `${hex('9', 64)}\n`);
  const env = {
    ...ENV,
    CHAIN_TESTNET_RELAYER_KEYS: `${hex('3', 64)},file:${relayers}`,
    CHAIN_TESTNET_WATCHER_KEY: `file:${watcher}`,
  };
  const config = readConfig(env, []);
  const keys = ['3', '7', '8'].map((digit) => hex(digit, 64));
  assert.deepEqual(config.chains.testnet?.relayerKeys, keys);
  assert.equal(config.watch.testnet.key, hex('9', 64));
  for (const digit of ['7', '8', '9']) assert.ok(secretValues(env).includes(hex(digit, 64)));
  const lost = { ...env, CHAIN_TESTNET_REGISTRAR_KEY: `file:${folder}/none` };
  assert.throws(() => readConfig(lost, []), /CHAIN_TESTNET_REGISTRAR_KEY: .*none cannot be read/);
  assert.ok(secretValues(lost).length > 0);
  const wrong = { ...env, CHAIN_TESTNET_SPONSOR_KEY: `file:${relayers}` };
  assert.throws(() => readConfig(wrong, []), /CHAIN_TESTNET_SPONSOR_KEY must be a private key/);
});

test('keys can be left to a signer, and its token is masked', () => {
  const CHAIN_TESTNET_WATCHER_KEY = `https://signer.internal/${hex('a', 40)}`;
  const CHAIN_TESTNET_SIGNER_TOKEN = 'token-of-a-signer-0123456789';
  const env = { ...ENV, CHAIN_TESTNET_WATCHER_KEY, CHAIN_TESTNET_SIGNER_TOKEN };
  const at = (digit: string) => {
    const address = getAddress(hex(digit, 40));
    return { url: 'https://signer.internal', address, token: CHAIN_TESTNET_SIGNER_TOKEN };
  };
  assert.deepEqual(readConfig(env, []).watch.testnet.key, at('a'));
  const senders = {
    CHAIN_TESTNET_RELAYER_KEYS: `https://signer.internal/${hex('b', 40)},${hex('3', 64)}`,
    CHAIN_TESTNET_REGISTRAR_KEY: `https://signer.internal/${hex('c', 40)}`,
    CHAIN_TESTNET_SPONSOR_KEY: `https://signer.internal/${hex('d', 40)}`,
  };
  const { testnet } = readConfig({ ...env, ...senders }, []).chains;
  assert.deepEqual(testnet?.relayerKeys, [at('b'), hex('3', 64)]);
  assert.deepEqual([testnet?.registrarKey, testnet?.sponsorKey], [at('c'), at('d')]);
  assert.ok(secretValues(env).includes(CHAIN_TESTNET_SIGNER_TOKEN));
  const tokenless = { ...ENV, CHAIN_TESTNET_WATCHER_KEY };
  assert.throws(
    () => readConfig(tokenless, []),
    /CHAIN_TESTNET_WATCHER_KEY needs the signer's token/,
  );
});
