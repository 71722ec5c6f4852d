import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeFunctionData } from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';
import { outsideWallets } from '#testkit/simulation/ways/outside-wallets.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

let network: TestNetwork;

before(async () => {
  network = await startTestNetwork();
  network.mineEvery(50);
});
after(() => network?.stop());

async function stateOf(wallet: Hex) {
  const { rpc, config } = network;
  const args = [wallet] as const;
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'balanceOf', args });
  const code = String(await rpc.call('eth_getCode', [wallet, 'latest']));
  const usdc = await rpc.call('eth_call', [{ to: config.usdc, data }, 'latest']);
  return { hasCode: code !== '0x', usdc: BigInt(usdc as Hex) };
}

test('wallets and funds that a reorganization removed are sent again', async () => {
  const { rpc } = network;
  const height = async () => Number(await rpc.call('eth_blockNumber', []));
  const before = await height();
  const outside = await outsideWallets(network.config);
  const contract = await outside.add('contract', 7n);
  const key = await outside.add('key', 5n);
  assert.deepEqual(await stateOf(contract.from), { hasCode: true, usdc: 7n });

  await rpc.call('anvil_reorg', [(await height()) - before, []]);
  assert.deepEqual(await stateOf(contract.from), { hasCode: false, usdc: 0n });
  await outside.sendAgain();
  assert.deepEqual(await stateOf(contract.from), { hasCode: true, usdc: 7n });
  assert.deepEqual(await stateOf(key.from), { hasCode: false, usdc: 5n });

  await outside.sendAgain();
  assert.equal((await stateOf(key.from)).usdc, 5n, 'what is on the chain is not sent again');
});

test('a wallet that is added after a reorganization does not replace a lost one', async () => {
  const { rpc } = network;
  const height = async () => Number(await rpc.call('eth_blockNumber', []));
  const outside = await outsideWallets(network.config);
  const before = await height();
  const lost = await outside.add('contract', 7n);
  await rpc.call('anvil_reorg', [(await height()) - before, []]);
  const added = await outside.add('key', 5n);
  assert.equal((await stateOf(added.from)).usdc, 5n);
  assert.deepEqual(await stateOf(lost.from), { hasCode: true, usdc: 7n });
});
