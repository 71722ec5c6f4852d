import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { StartError } from '#core/start-error.ts';
import { silentLog } from '#observability/log.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import { profileOfChain } from '#settlement/chain-profiles.ts';
import type { NetworkSettings } from '#settlement/network-config.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';
import { renameToken, takePermit } from '#testkit/network/token-without-permit.ts';

let network: TestNetwork;

before(async () => {
  network = await startTestNetwork();
});

after(() => network.stop());

type DomainSettings = NetworkSettings['usdcDomain'];
const BASE_CHAIN = 8453;
const UNSET: DomainSettings = { name: null, version: null };

async function openedDomain(usdcDomain: DomainSettings): Promise<DomainSettings> {
  const chain = await openChain({ ...network.config, usdcDomain }, silentLog);
  await chain.close();
  return chain.config.usdcDomain;
}

async function refusal(settings: Partial<NetworkSettings>): Promise<string> {
  const opening = openChain({ ...network.config, ...settings }, silentLog);
  const error = await opening.then(
    () => null,
    (fault: unknown) => fault,
  );
  assert.ok(error instanceof StartError, String(error));
  assert.doesNotMatch(error.message, /\n/);
  return error.message;
}

test("a token's name and version are read from the token if they are not set", async () => {
  const told = { name: 'Test USD Coin', version: '1' };
  assert.deepEqual(await openedDomain(UNSET), told);
  assert.deepEqual(await openedDomain({ ...UNSET, name: told.name }), told);
  assert.deepEqual(await openedDomain(told), told);
});

test('startup fails if name or version does not match the DOMAIN_SEPARATOR', async () => {
  const version = await refusal({ usdcDomain: { name: null, version: '2' } });
  assert.match(version, /CHAIN_TESTNET_USDC_VERSION: "Test USD Coin", "2" do not match/);
  const name = await refusal({ usdcDomain: { name: 'USD Coin', version: '1' } });
  assert.match(name, /which calls itself "Test USD Coin", "1"/);
});

test('startup fails if the settlement contract uses another token', async () => {
  const { usdc, settlement } = network.config;
  // Both addresses have code, but the token's is not a settlement contract.
  assert.match(await refusal({ settlement: usdc }), /is not a settlement contract of this release/);
  const other = await refusal({ usdc: settlement });
  assert.match(other, new RegExp(`settles in ${usdc}, but CHAIN_TESTNET_USDC is`, 'i'));
});

test('startup continues with the settings if no node answers', async () => {
  const away = { rpcUrls: ['http://127.0.0.1:1'], usdcDomain: { name: 'Set', version: null } };
  const chain = await openChain({ ...network.config, ...away }, silentLog);
  await chain.close();
  assert.deepEqual(chain.config.usdcDomain, { name: 'Set', version: '2' });
});

test('payers of a token without permits approve by a transaction', async () => {
  const told: string[] = [];
  const log = { ...silentLog, info: (message: string) => void told.push(message) };
  const open = async (settings: Partial<NetworkSettings> = {}) => {
    const chain = await openChain({ ...network.config, usdcDomain: UNSET, ...settings }, log);
    await chain.close();
    return chain.config;
  };
  assert.deepEqual((await open()).token, { hasPermit: true, domainProblem: null });
  const giveBack = await takePermit({ rpc: network.rpc, usdc: network.config.usdc });
  try {
    assert.deepEqual((await open()).token, { hasPermit: false, domainProblem: null });
    assert.match(told.join('\n'), /has no permit/);
    // This chain's USDC is known to have permits, so the node is wrong.
    assert.match(await refusal({ profile: profileOfChain(BASE_CHAIN) }), /DOMAIN_SEPARATOR/);
  } finally {
    await giveBack();
  }
});

const RENAMED = 'Real USD Coin';

for (const [given, usdcDomain] of [
  ['it was read', UNSET],
  ['it was set', { name: 'Test USD Coin', version: '1' }],
] as const) {
  test(`a renamed token is signed for under its new name, though ${given}`, async () => {
    const chain = await openChain({ ...network.config, usdcDomain }, silentLog);
    const undo = await renameToken(
      { rpc: network.rpc, usdc: network.config.usdc },
      { name: RENAMED },
    );
    try {
      await chain.refreshToken();
      assert.deepEqual(chain.config.usdcDomain, { name: RENAMED, version: '1' });
      assert.equal(chain.config.token.domainProblem, null);
    } finally {
      await undo();
      await chain.close();
    }
  });
}

test('a renamed token that does not report its name is a problem until it does so', async (t) => {
  const chain = await openChain(network.config, silentLog);
  const token = { rpc: network.rpc, usdc: network.config.usdc };
  const undo = await renameToken(token, { name: RENAMED, isReported: false });
  try {
    await chain.refreshToken();
    assert.match(chain.config.token.domainProblem ?? '', /USDC_NAME must be set: the token at 0x/);
    await undo();
    const now = performance.now() + 30_000;
    t.mock.method(performance, 'now', () => now);
    await chain.refreshToken();
    assert.equal(chain.config.token.domainProblem, null);
    assert.equal(chain.config.usdcDomain.name, 'Test USD Coin');
  } finally {
    await undo();
    await chain.close();
  }
});
