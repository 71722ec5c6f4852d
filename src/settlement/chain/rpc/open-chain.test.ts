import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { generatePrivateKey } from 'viem/accounts';
import { StartError } from '#core/start-error.ts';
import { type Log, silentLog } from '#observability/log.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { requireRoles } from '#settlement/chain/fees/configure-senders.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { startFaultyNode } from '#testkit/network/faulty-node.ts';
import type { Behavior } from '#testkit/network/provider-behaviors.ts';
import { startProviderProxy } from '#testkit/network/provider-proxy.ts';
import { type ScriptedNode, startScriptedNode } from '#testkit/network/scripted-node.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';

const NOWHERE = 'http://127.0.0.1:1/v2/secret-key';
let network: TestNetwork;
let foreign: ScriptedNode;

before(async () => {
  network = await startTestNetwork();
  foreign = await startScriptedNode('of another chain', 8);
});

after(async () => {
  foreign.stop();
  await network.stop();
});

/** @returns the log lines about providers. */
async function linesOfStart(rpcUrls: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  const log: Log = { ...silentLog, warn: (line) => lines.push(line) };
  const chain = await openChain({ ...network.config, rpcUrls }, log);
  await chain.close();
  return lines.filter((line) => line.includes('RPC_URL'));
}

test('an unreachable address is named in one line, and startup continues', async () => {
  const [good = ''] = network.config.rpcUrls;
  assert.deepEqual(await linesOfStart([good]), []);
  const [line = '', ...more] = await linesOfStart([good, NOWHERE]);
  assert.match(line, /^address 2 of CHAIN_TESTNET_RPC_URL \(127\.0\.0\.1:1\) cannot be used yet: /);
  assert(!line.includes('secret-key') && !line.includes('\n'));
  assert.deepEqual(more, []);
});

test('startup continues if no address is reachable', async () => {
  assert.equal((await linesOfStart([NOWHERE, NOWHERE])).length, 2);
});

test('a chain that answers only after startup is checked before anything is signed', async () => {
  const node = await startFaultyNode(network.node.rpcUrl);
  node.mood = 'down';
  const told = { rpcUrls: [node.url], usdcDomain: { name: null, version: null } };
  const [good, wrong] = await Promise.all([
    openChain({ ...network.config, ...told }, silentLog),
    openChain({ ...network.config, ...told, settlement: `0x${'12'.repeat(20)}` }, silentLog),
  ]);
  assert.equal(good.isChecked(), false);
  assert.equal(good.config.usdcDomain.name, 'USD Coin');
  node.mood = 'well';
  assert.match(await wrong.refuted, /^there is no contract at 0x1212.* of CHAIN_TESTNET_RPC_URL$/);
  assert.equal(wrong.isChecked(), false);
  assert(await waitUntil(() => good.isChecked(), 30_000));
  assert.deepEqual(good.config.usdcDomain, { name: 'Test USD Coin', version: '1' });
  await Promise.all([good.close(), wrong.close(), node.stop()]);
});

describe('a USDC address without code', () => {
  const usdc = `0x${'34'.repeat(20)}` as const;
  const [missing, present] = ['0x', `0x${'00'.repeat(32)}`];
  /** A provider that shows no code of the network's token. */
  const blind: Behavior = {
    answer: ({ method, params }, real) => {
      const text = JSON.stringify(params).toLowerCase();
      if (!text.includes(network.config.usdc.slice(2).toLowerCase())) return real;
      if (method === 'eth_getCode') return { result: missing };
      return method === 'eth_call' && text.includes('3b5f5260205ff3') ? { result: present } : real;
    },
  };

  /** Opens the chain with one provider for each behavior. @returns how the start ended. */
  async function startWith(behaviors: readonly (Behavior | null)[], token: Hex = usdc) {
    const proxies = await Promise.all(
      behaviors.map(async (behavior) => {
        const proxy = await startProviderProxy(network.node.rpcUrl);
        proxy.behavior = behavior;
        return proxy;
      }),
    );
    const rpcUrls = proxies.map(({ url }) => url);
    try {
      const chain = await openChain({ ...network.config, usdc: token, rpcUrls }, silentLog);
      const isChecked = chain.isChecked();
      await chain.close();
      return isChecked ? 'checked' : 'waits';
    } catch (error) {
      assert(error instanceof StartError);
      return error.message;
    } finally {
      for (const proxy of proxies) await proxy.stop();
    }
  }

  test('ends the start only if two providers say so', async () => {
    assert.match(await startWith([null, null]), /^there is no contract at 0x3434/);
    assert.equal(await startWith([null]), 'waits');
    assert.equal(await startWith([null, { whole: () => 'cut' }]), 'waits');
  });

  test('does not end the start if another provider shows the code', async () => {
    const token = network.config.usdc;
    assert.equal(await startWith([blind], token), 'waits');
    assert.notEqual(await startWith([blind, null], token), 'checked');
    assert.match(await startWith([blind, blind], token), /^there is no contract at/);
    assert.equal(await startWith([null, blind], token), 'checked');
  });

  test('does not end the start if the other provider is still syncing', async () => {
    const answer: Behavior['answer'] = ({ method }, real) => {
      if (method !== 'eth_getBlockByNumber' || !('result' in real)) return real;
      return { result: { ...(real.result as object), number: '0x1', timestamp: '0x1' } };
    };
    assert.equal(await startWith([null, { answer }]), 'waits');
  });
});

test('roles that no node could show at startup are checked once one answers', async () => {
  const node = await startFaultyNode(network.node.rpcUrl);
  const told = { ...network.config, rpcUrls: [node.url] };
  const [good, wrong] = await Promise.all([
    openChain(told, silentLog),
    openChain({ ...told, relayerKeys: [generatePrivateKey()] }, silentLog),
  ]);
  assert(good.isChecked() && wrong.isChecked());
  node.mood = 'down';
  for (const chain of [good, wrong]) await chain.checkAtStart(() => requireRoles(chain));
  assert(!good.isChecked() && !wrong.isChecked());
  node.mood = 'well';
  assert.match(await wrong.refuted, /has no OPERATOR_ROLE/);
  assert.equal(wrong.isChecked(), false);
  assert(await waitUntil(() => good.isChecked(), 30_000));
  await Promise.all([good.close(), wrong.close(), node.stop()]);
});

test('startup fails if any provider serves another chain, even the second one', async () => {
  const [good = ''] = network.config.rpcUrls;
  const opening = openChain({ ...network.config, rpcUrls: [good, foreign.url] }, silentLog);
  await assert.rejects(opening, (error) => {
    assert(error instanceof StartError);
    assert.match(error.message, /RPC_URL \(address 2, 127\.0\.0\.1:\d+\) leads to chain 8, but/);
    assert(!error.message.includes('secret'));
    return true;
  });
});

test('startup fails if the configured fee ceiling is below the base fee', async () => {
  const low = { ...network.config, maxFeePerGasCeiling: 5n };
  await assert.rejects(openChain({ ...low, isFeeSet: true }, silentLog), (error) => {
    assert(error instanceof StartError);
    assert.match(
      error.message,
      /^CHAIN_TESTNET_MAX_FEE_GWEI=0\.000000005 is below the base fee of the /,
    );
    return true;
  });
  // The profile's own ceiling is accepted, because a day of high fees must not prevent a restart.
  await (await openChain({ ...low, isFeeSet: false }, silentLog)).close();
});
