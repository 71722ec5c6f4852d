import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getAddress } from 'viem';
import { StartError } from '#core/start-error.ts';
import { readConfig } from '#settings/config.ts';
import {
  describeProfile,
  PROFILE_NAMES,
  profileFor,
  profileNamed,
} from '#settlement/chain-profiles.ts';

const KEY = `0x${'1f'.repeat(32)}`;
const ADDRESS = `0x${'ab'.repeat(20)}`;

/** The minimal settings of an external network. */
const EXTERNAL = {
  CHAIN_TESTNET_RPC_URL: 'http://127.0.0.1:8545',
  CHAIN_TESTNET_CHAIN_ID: '4217',
  CHAIN_TESTNET_USDC: ADDRESS,
  CHAIN_TESTNET_SETTLEMENT: ADDRESS,
  CHAIN_TESTNET_RELAYER_KEYS: KEY,
  CHAIN_TESTNET_REGISTRAR_KEY: KEY,
};

function testnet(more: Readonly<Record<string, string>>) {
  const settings = readConfig({ ...EXTERNAL, ...more }, []).chains.testnet;
  assert.ok(settings !== null);
  return settings;
}

function refused(env: Readonly<Record<string, string>>): string {
  try {
    readConfig(env, []);
  } catch (error) {
    assert.ok(error instanceof StartError);
    assert.doesNotMatch(error.message, /\n/);
    return error.message;
  }
  throw new assert.AssertionError({ message: `taken: ${JSON.stringify(env)}` });
}

test('a chain id determines the profile; an unknown one is custom, for any id', () => {
  const name = (chainId: string) => testnet({ CHAIN_TESTNET_CHAIN_ID: chainId }).profile.name;
  assert.deepEqual(['8453', '84532', '5042', '1', '4217', '31337', '10'].map(name), [
    'base',
    'base-sepolia',
    'arc',
    'ethereum',
    'custom',
    'custom',
    'custom',
  ]);
  for (const profile of PROFILE_NAMES) {
    assert.equal(testnet({ CHAIN_TESTNET_PROFILE: profile }).profile.name, profile);
  }
});

test('a worker that pays the gas of transfers needs a key for it, others do not', () => {
  const env = { ...EXTERNAL, GASLESS_TRANSFERS: 'testnet' };
  assert.match(refused(env), /^CHAIN_TESTNET_SPONSOR_KEY must be a private key .*: it is missing/);
  const api = readConfig(env, ['--roles', 'api']);
  assert.deepEqual([api.gaslessTransfers, api.chains.testnet?.sponsorKey], [['testnet'], null]);
  const worker = readConfig({ ...env, CHAIN_TESTNET_SPONSOR_KEY: KEY }, []);
  assert.equal(worker.chains.testnet?.sponsorKey, KEY);
});

test('wallet factories default to the chain’s profile, and a setting replaces them', () => {
  const factoriesOf = (env: Readonly<Record<string, string>>) => testnet(env).walletFactories;
  assert.equal(factoriesOf({ CHAIN_TESTNET_CHAIN_ID: '8453' }).length, 3);
  assert.deepEqual(factoriesOf({ CHAIN_TESTNET_CHAIN_ID: '1' }), []);
  const base = { CHAIN_TESTNET_CHAIN_ID: '8453' };
  assert.deepEqual(factoriesOf({ ...base, CHAIN_TESTNET_WALLET_FACTORIES: 'none' }), []);
  const listed = `${MIXED}, ${ADDRESS}`;
  assert.deepEqual(factoriesOf({ ...base, CHAIN_TESTNET_WALLET_FACTORIES: listed }), [
    MIXED,
    getAddress(ADDRESS),
  ]);
  const wrong = { ...EXTERNAL, CHAIN_TESTNET_WALLET_FACTORIES: '0x12' };
  assert.match(refused(wrong), /^CHAIN_TESTNET_WALLET_FACTORIES=0x12 must be addresses/);
});

/** An address in mixed case, as in EIP-55. */
const MIXED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

test('an address may be set in one case, and is printed with its checksum', () => {
  for (const given of [MIXED, MIXED.toLowerCase(), `0x${MIXED.slice(2).toUpperCase()}`]) {
    const env = { CHAIN_TESTNET_USDC: given, CHAIN_TESTNET_PREVIOUS_CONTRACTS: given };
    const { usdc, settlement, formerSettlements } = testnet({ ...env });
    assert.deepEqual([usdc, formerSettlements[0]?.settlement], [MIXED, MIXED]);
    assert.equal(settlement, getAddress(ADDRESS));
  }
  for (const profile of PROFILE_NAMES) {
    const { usdc } = profileNamed(profile);
    if (usdc !== null) assert.equal(usdc.address, getAddress(usdc.address));
  }
});

test('mixed case with a wrong checksum ends the start', () => {
  const mistyped = MIXED.replace('5aA', '5AA');
  const key = `https://signer.example/${mistyped}`;
  const settings = {
    CHAIN_TESTNET_USDC: mistyped,
    CHAIN_TESTNET_SETTLEMENT: mistyped,
    CHAIN_TESTNET_PREVIOUS_CONTRACTS: `${mistyped}@7`,
    CHAIN_TESTNET_RELAYER_KEYS: key,
  };
  const token = { CHAIN_TESTNET_SIGNER_TOKEN: 'a token of the signer' };
  for (const [name, text] of Object.entries(settings)) {
    const message = refused({ ...EXTERNAL, ...token, [name]: text });
    assert.equal(
      message.startsWith(`${name}: the checksum of ${mistyped} is wrong`),
      true,
      message,
    );
  }
});

test('a profile that contradicts the chain id ends the start with one line', () => {
  const env = { ...EXTERNAL, CHAIN_TESTNET_CHAIN_ID: '8453', CHAIN_TESTNET_PROFILE: 'arc' };
  const why = 'contradicts the chain id: 8453 has the profile base';
  assert.equal(refused(env), `CHAIN_TESTNET_PROFILE=arc ${why}`);
  assert.match(refused({ CHAIN_MAINNET_PROFILE: 'Base' }), /^CHAIN_MAINNET_PROFILE=Base must be/);
  assert.equal(profileFor('custom', 8453)?.name, 'custom');
});

test('a profile supplies the settings that are omitted', () => {
  const { CHAIN_TESTNET_USDC: _, ...without } = EXTERNAL;
  const env = { ...without, CHAIN_TESTNET_CHAIN_ID: '8453' };
  const base = readConfig(env, []).chains.testnet;
  assert.equal(base?.usdc, profileNamed('base').usdc?.address);
  assert.equal(base?.explorerUrl, 'https://basescan.org');
  assert.equal(base?.maxFeePerGasCeiling, 5_000_000_000n);
  assert.equal(testnet({ CHAIN_TESTNET_CHAIN_ID: '8453' }).usdc, getAddress(ADDRESS));
  assert.match(refused(without), /^CHAIN_TESTNET_USDC must be the address/);
});

test('on a chain whose blocks cannot be undone one address is enough', () => {
  const arc = { CHAIN_TESTNET_CHAIN_ID: '5042', CHAIN_TESTNET_CONFIRMATIONS: '0' };
  assert.equal(testnet(arc).receiptProviders, 1);
  assert.match(refused({ ...EXTERNAL, CHAIN_TESTNET_CONFIRMATIONS: '0' }), /two URLs/);
});

test('confirmations are a number of blocks or a time', () => {
  const depth = (text: string) => {
    const { confirmations, confirmationsMs } = testnet({ CHAIN_TESTNET_CONFIRMATIONS: text });
    return [confirmations, confirmationsMs];
  };
  assert.deepEqual(['3', '1000', '400ms', '2s', '1ms', '600s'].map(depth), [
    [3, 0],
    [1_000, 0],
    [0, 400],
    [0, 2_000],
    [0, 1],
    [0, 600_000],
  ]);
});

test('amounts decide how long to wait', () => {
  const text = '0:inclusion, 500000000:1s,10000000000:safe,20000000000:finalized';
  assert.deepEqual(testnet({ CHAIN_TESTNET_CONFIRMATION_TIERS: text }).countsFrom, [
    { from: 0n, waitsFor: 'inclusion', ms: 0 },
    { from: 500_000_000n, waitsFor: 'time', ms: 1_000 },
    { from: 10_000_000_000n, waitsFor: 'safe', ms: 0 },
    { from: 20_000_000_000n, waitsFor: 'finalized', ms: 0 },
  ]);
  assert.deepEqual(testnet({}).countsFrom, []);
});

test('a rule that is out of range or malformed ends the start with one line', () => {
  const wrong = {
    CONFIRMATIONS: ['-1', '1001', '1.5', '0ms', '601s', '2 s', '2m', 'two', '2S'],
    CONFIRMATION_TIERS: [
      '1s',
      '0:',
      ':1s',
      '0:1h',
      '0:later',
      '5:1s,5:safe',
      '9:1s,3:safe',
      '0:1s,',
      '-1:1s',
    ],
    SETTLE_EVERY_MS: ['-1', '10001', '1.5', '1s'],
    MAX_FEE_GWEI: ['0', '0.0', '-1', '1e3', '100001', '.5', '1.0000000001', '5gwei'],
    LOW_BALANCE: ['-1', '1000000001', '0.05', 'many'],
  };
  for (const [setting, values] of Object.entries(wrong)) {
    for (const value of values) {
      for (const base of [{}, EXTERNAL]) {
        const line = refused({ ...base, [`CHAIN_TESTNET_${setting}`]: value });
        assert.ok(line.startsWith(`CHAIN_TESTNET_${setting}=${value} must be `), line);
      }
    }
  }
  for (const value of ['99', '60001', '0', '200ms', '200,99', '200,500,500', '200,', ',200', ',']) {
    assert.match(refused({ SANDBOX_BLOCK_MS: value }), /^SANDBOX_BLOCK_MS=.* from 100 to 60000$/);
  }
});

test('these settings keep the embedded chain, and apply to it', () => {
  const config = readConfig(
    {
      CHAIN_TESTNET_PROFILE: 'arc',
      CHAIN_TESTNET_CONFIRMATIONS: '400ms',
      CHAIN_TESTNET_CONFIRMATION_TIERS: '1000:safe',
      CHAIN_TESTNET_SETTLE_EVERY_MS: '250',
      CHAIN_TESTNET_MAX_FEE_GWEI: '12.5',
      CHAIN_TESTNET_LOW_BALANCE: '10',
      SANDBOX_BLOCK_MS: '200',
    },
    [],
  );
  assert.equal(config.chains.testnet, null);
  const { testnet: rules, mainnet } = config.embedded;
  assert.deepEqual(
    [rules.profile.name, rules.confirmationsMs, rules.settleEveryMs, rules.maxFeePerGasCeiling],
    ['arc', 400, 250, 12_500_000_000n],
  );
  assert.deepEqual([rules.lowBalance, rules.blockMs, rules.countsFrom.length], [10, 200, 1]);
  assert.deepEqual([mainnet.profile.name, mainnet.lowBalance], ['custom', 5_000]);
  assert.equal(mainnet.blockMs, 200, 'one number applies to both');
  const own = readConfig({ SANDBOX_BLOCK_MS: '200,500' }, []).embedded;
  assert.deepEqual([own.testnet.blockMs, own.mainnet.blockMs], [200, 500]);
  assert.match(refused({ CHAIN_TESTNET_CHAIN_ID: '8453' }), /^CHAIN_TESTNET_RPC_URL: /);
});

test('one line names the detected profile, and its facts', () => {
  const line = describeProfile(testnet({ CHAIN_TESTNET_CHAIN_ID: '8453' }));
  assert.match(line, /^testnet: profile base for chain 8453: a block every 200 ms, /);
  assert.match(line, /fees in ETH of 18 decimals, 200 million gas a second, USDC has permit/);
  assert.match(
    describeProfile(testnet({})),
    /profile custom for chain 4217: the time between blocks is/,
  );
});
