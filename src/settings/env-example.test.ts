import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { readConfig } from '#settings/config.ts';
import { SETTING_NAMES } from '#settings/setting-names.ts';

interface Example {
  readonly name: string;
  readonly value: string;
}

const KEY = `0x${'1f'.repeat(32)}`;
const ADDRESS = `0x${'ab'.repeat(20)}`;

/** Returns the minimal settings of an external network. */
function chainOf(prefix: string) {
  return {
    [`${prefix}RPC_URL`]: 'http://127.0.0.1:8545',
    [`${prefix}CHAIN_ID`]: '31337',
    [`${prefix}USDC`]: ADDRESS,
    [`${prefix}SETTLEMENT`]: ADDRESS,
    [`${prefix}RELAYER_KEYS`]: KEY,
    [`${prefix}REGISTRAR_KEY`]: KEY,
    [`${prefix}SPONSOR_KEY`]: KEY,
  };
}

const LEAST = { ...chainOf('CHAIN_TESTNET_'), ...chainOf('CHAIN_MAINNET_') };

/** A valid value for each setting that has no default. `LEAST` contains the required settings. */
const SOME: Readonly<Record<string, string>> = {
  OPS_PORT: '4243',
  METRICS_TOKEN: 'a-token-of-sixteen-or-more',
  TAPLINE_SECRET: '01'.repeat(16) + '02'.repeat(16),
  TAPLINE_PUBLIC_URL: 'https://pay.example.com',
  NODE_ENV: 'test',
  DATABASE_URL: 'postgres://127.0.0.1/tapline',
  DATABASE_DURABILITY: 'managed',
  REDIS_URL: 'redis://127.0.0.1',
  STATIC_PASS_CONFIRM_FROM: '20000000',
  GASLESS_TRANSFERS: 'testnet',
  MAX_ACCOUNT_SHARE_PERCENT: '25',
  WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8',
  TRUSTED_PROXIES: '10.0.0.0/8',
  SMTP_URL: 'smtp://127.0.0.1',
  AUDIT_ANCHORS: 'mail:audit@example.com',
};

async function readExamples(): Promise<Example[]> {
  const lines = (await readFile('.env.example', 'utf8')).split('\n');
  return lines.flatMap((line) => {
    const [, name = '', value = ''] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
    return name === '' ? [] : [{ name, value }];
  });
}

test('.env.example has each setting once, in the order of their names in the code', async () => {
  const names = (await readExamples()).map(({ name }) => name);
  assert.deepEqual(names, SETTING_NAMES);
});

test('.env.example is the defaults: a start with it equals a start without settings', async () => {
  const examples = await readExamples();
  const all = Object.fromEntries(examples.map(({ name, value }) => [name, value]));
  const { TAPLINE_DATA_DIR, ...general } = all;
  assert.equal(readConfig({}, []).dataDir, TAPLINE_DATA_DIR);
  const plain = Object.entries(general).filter(([name]) => !name.startsWith('CHAIN_'));
  assert.deepEqual(readConfig(Object.fromEntries(plain), []), readConfig({}, []));
  const chains = Object.entries(all).filter(([, value]) => value !== '');
  assert.deepEqual(
    readConfig({ ...Object.fromEntries(chains), ...LEAST }, []),
    readConfig(LEAST, []),
  );
});

test('.env.example gives a value to each setting that has a default', async () => {
  const shown = (value: unknown) =>
    JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one));
  const bare = readConfig({}, []);
  for (const { name, value } of await readExamples()) {
    const some = SOME[name];
    if (value !== '' || some === undefined || name === 'NODE_ENV') continue;
    const config = readConfig({ [name]: some }, []);
    const changed = Object.entries(config).filter(
      ([field, now]) => shown(now) !== shown(bare[field as keyof typeof bare]),
    );
    assert.equal(changed.length, 1, `${name} is read into one field`);
    const before = bare[changed[0]?.[0] as keyof typeof bare];
    assert.ok(before === null || (before as readonly unknown[]).length === 0, name);
  }
});
