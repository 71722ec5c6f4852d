import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeFunctionData } from 'viem';
import { readHoldings } from '#settlement/chain/read/contract-holdings.ts';
import {
  type OutsideService,
  outsideService,
} from '#testkit/fixtures/settlement/outside-service.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';
import { testUsdcAbi } from '../../../../contracts/artifacts/TestUSDC.ts';

let network: TestNetwork;
let outside: OutsideService;

before(async () => {
  network = await startTestNetwork();
  network.mineEvery(30);
  outside = outsideService(network.config);
});

after(() => network.stop());

const sums = async (pageSize?: number) => {
  const { merchants, held, owed, fees } = await readHoldings(
    network.chain,
    pageSize === undefined ? {} : { pageSize },
  );
  return { merchants, held, owed, fees };
};

test('a contract without merchants holds nothing and owes nothing', async () => {
  assert.deepEqual(await sums(), { merchants: 0, held: 0n, owed: 0n, fees: 0n });
});

test('a balance is owed to merchants, booked as fees, or was sent without a payment', async () => {
  const payer = await outside.addPayer();
  const amounts = [1_000_000n, 2_000_000n, 4_000_000n];
  for (const [index, amount] of amounts.entries()) {
    const merchantNumber = await outside.addMerchant();
    const number = BigInt(index + 1);
    await outside.settle([{ number, payer, merchantNumber, amount, orderId: `A-${number}` }]);
  }
  const settled = await sums();
  assert.equal(settled.merchants, 3);
  assert.equal(settled.owed, 7_000_000n);
  assert.ok(settled.fees > 0n);
  assert.equal(settled.held, settled.owed + settled.fees);
  for (const pageSize of [1, 2, 3]) assert.deepEqual(await sums(pageSize), settled);
  const { settlement, usdc } = network.config;
  const args = [settlement, 5n] as const;
  const minted = encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args });
  await network.send(network.admin, usdc, minted);
  assert.deepEqual(await sums(), { ...settled, held: settled.held + 5n });
});
