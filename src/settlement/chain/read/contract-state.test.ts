import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeFunctionData } from 'viem';
import { NUMBERS_PER_CELL } from '#core/ids.ts';
import { silentLog } from '#observability/log.ts';
import {
  keepOwnContracts,
  requireOwnContract,
  requireSafeContract,
  requireTimelock,
} from '#settlement/chain/check/check-contract.ts';
import { readContractState } from '#settlement/chain/read/contract-state.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import { roleId } from '#settlement/contract/contract-roles.ts';
import { timelockOf } from '#settlement/contract/timelock-calls.ts';
import { hasContracts } from '#settlement/contract-queries.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import { outsideService } from '#testkit/fixtures/settlement/outside-service.ts';
import { startFaultyNode } from '#testkit/network/faulty-node.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';
import { timelockAbi } from '../../../../contracts/artifacts/Timelock.ts';

let network: TestNetwork;

before(async () => {
  network = await startTestNetwork();
  network.mineEvery(30);
});

after(() => network.stop());

test('the contract’s state and pending changes are read from the chain', async () => {
  await network.addMerchant();
  const before = await readContractState(network.chain);
  assert.equal(before.settlingPaused, false);
  assert.equal(before.refundingPaused, false);
  assert.equal(before.admin, timelockOf(network.config.settlement));
  assert.equal(before.guardians, 1);
  assert.deepEqual(before.announced, []);
  await network.callSettlement(network.guardian, 'pauseRefunding');
  await network.callSettlement(network.guardian, 'lowerCeiling', [500]);
  const after = await readContractState(network.chain);
  assert.deepEqual([after.settlingPaused, after.refundingPaused], [false, true]);
  assert.deepEqual(after.sales, { perHour: 500_000_000n, used: 0n });
  assert.deepEqual(after.outflow, { perHour: 500_000_000n, used: 0n });
});

/** Contracts that a start in production must refuse. */
test('a contract needs its delays, and guardians who can cancel operations', async () => {
  await assert.rejects(requireSafeContract(network.chain), {
    name: 'StartError',
    message: /^WALLET_DELAY of the settlement contract of testnet is 60 s; production needs 86400/,
  });
  const { settlement } = network.config;
  const timelock = timelockOf(settlement);
  await requireTimelock(network.chain);
  const call = { abi: timelockAbi, functionName: 'revokeRole' } as const;
  const data = encodeFunctionData({ ...call, args: [roleId('canceller'), settlement] });
  await network.govern(data, timelock);
  await assert.rejects(requireTimelock(network.chain), {
    name: 'StartError',
    message: /its guardians cannot cancel operations$/,
  });
});

test('a contract belongs to the cell in whose range its newest payment’s number is', async () => {
  await requireOwnContract(network.chain, 1);
  const outside = outsideService(network.config);
  const merchantNumber = await outside.addMerchant();
  const payer = await outside.addPayer();
  const number = NUMBERS_PER_CELL + 17n;
  await outside.settle([{ number, payer, merchantNumber, amount: 1_000_000n, orderId: 'A1' }]);
  await requireOwnContract(network.chain, 1);
  await assert.rejects(requireOwnContract(network.chain, 0), {
    name: 'StartError',
    message: /^CELL=0, but cell 1 settles at 0x[0-9a-fA-F]{40} \(testnet\)/,
  });
});

test('a first start without a node records no contract before its cell is proven', async () => {
  const { db, close } = await testDatabase();
  const node = await startFaultyNode(network.node.rpcUrl);
  const chain = await openChain({ ...network.config, rpcUrls: [node.url] }, silentLog);
  node.mood = 'down';
  await keepOwnContracts(db, chain);
  assert.equal(chain.isChecked(), false);
  node.mood = 'well';
  assert.match(await chain.refuted, /^CELL=0, but cell 1 settles at /);
  assert.equal(await hasContracts(db, false), false);
  await Promise.all([chain.close(), node.stop(), close()]);
});
