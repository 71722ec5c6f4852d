import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeFunctionData } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { NUMBERS_PER_CELL } from '#core/ids.ts';
import { silentLog } from '#core/log.ts';
import { requireOwnContract } from '#settlement/chain/check-contract.ts';
import { readContractState } from '#settlement/chain/contract-state.ts';
import { outsideService } from '#testing/outside-service.ts';
import { startTestNetwork, type TestNetwork } from '#testing/test-network.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';

let network: TestNetwork;
let stopMining: () => Promise<void>;

before(async () => {
  network = await startTestNetwork();
  stopMining = network.mineEvery(30);
});

after(async () => {
  await stopMining();
  await network.stop();
});

function govern(from: PrivateKeyAccount, functionName: string, args: readonly unknown[] = []) {
  const data = encodeFunctionData({ abi: settlementAbi, functionName, args } as never);
  return network.send(from, network.config.settlement, data);
}

test('what governs the contract, and what is announced, is read from the chain', async () => {
  await network.addMerchant();
  const before = await readContractState(network.chain);
  assert.equal(before.settlingPaused, false);
  assert.equal(before.refundingPaused, false);
  assert.equal(before.admin, network.admin.address);
  assert.deepEqual(before.announced, []);
  await govern(network.guardian, 'pauseRefunding');
  await govern(network.guardian, 'lowerCeiling', [500]);
  await govern(network.admin, 'scheduleCeiling', [900]);
  await govern(network.admin, 'scheduleRates', [{ acquirer: 3, protocol: 2, cashback: 1 }]);
  const after = await readContractState(network.chain);
  assert.deepEqual([after.settlingPaused, after.refundingPaused], [false, true]);
  assert.deepEqual(after.sales, { perHour: 500_000_000n, used: 0n });
  assert.deepEqual(
    after.announced.map(({ says, by }) => [says, by]),
    [
      ['Up to 900 USDC settle per hour.', network.admin.address],
      ['Rates become 3, 2 and 1 basis points.', network.admin.address],
    ],
  );
  assert.ok(after.announced.every(({ applicableAt }) => applicableAt.getTime() > 0));
});

test('a contract is the cell’s whose number its newest payment has', async () => {
  await requireOwnContract(network.chain, 1, silentLog);
  const outside = outsideService(network.config);
  const merchantNumber = await outside.addMerchant();
  const payer = await outside.addPayer();
  const number = NUMBERS_PER_CELL + 17n;
  await outside.settle([{ number, payer, merchantNumber, amount: 1_000_000n, orderId: 'A1' }]);
  await requireOwnContract(network.chain, 1, silentLog);
  await assert.rejects(requireOwnContract(network.chain, 0, silentLog), {
    name: 'StartError',
    message: /^CELL=0, but cell 1 settles at 0x[0-9a-fA-F]{40} \(testnet\)/,
  });
});
