import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { type CheckPayment, createPaymentCheck } from '#settlement/chain/check/check-payment.ts';
import { readMerchantBalance } from '#settlement/chain/read/merchant-balance.ts';
import { readPayerAccount } from '#settlement/chain/read/payer-balance.ts';
import { switchContract } from '#testkit/fixtures/settlement/relayer-scene.ts';
import { type FaultyNode, startFaultyNode } from '#testkit/network/faulty-node.ts';
import {
  type PayerOptions,
  startTestNetwork,
  type TestMerchant,
  type TestNetwork,
} from '#testkit/network/test-network.ts';

/**
 * The number of times that one attempt requests data that a node lacks, before the attempt fails.
 */
const LOOKS_WITHIN_A_TRY = 2;

describe('the check before a payment', () => {
  let network: TestNetwork;
  let node: FaultyNode;
  let merchant: TestMerchant;
  let check: CheckPayment;

  before(async () => {
    network = await startTestNetwork(async (rpcUrl) => {
      node = await startFaultyNode(rpcUrl);
      return { rpcUrls: [node.url] };
    });
    merchant = await network.addMerchant();
    check = createPaymentCheck(network.chain);
  });

  after(async () => {
    await network.stop();
    await node.stop();
  });

  const sale = (payer: PrivateKeyAccount, amount = 1_000_000n) => ({
    merchantNumber: merchant.merchantNumber,
    payer: payer.address,
    amount,
    orderId: 'A-1',
  });
  const reasonFor = async (options: PayerOptions, amount?: bigint) => {
    const result = await check(sale(await network.addPayer(options), amount));
    return result.status === 'declined' ? result.reason : result.status;
  };

  it('passes a payment that the contract would settle, to the last atom', async () => {
    // 1,000,000 plus 0.30 % and 0.20 %, minus 0.05 % cashback.
    assert.equal(await reasonFor({ usdc: 1_004_500n, allowance: 1_004_500n }), 'ok');
    assert.equal(await reasonFor({ usdc: 1_004_499n }), 'insufficient_funds');
    assert.equal(await reasonFor({ allowance: 1_004_499n }), 'approval_insufficient');
    assert.equal(await reasonFor({ perPayment: 1_000_000n }), 'ok');
    assert.equal(await reasonFor({ perPayment: 999_999n }), 'limit_exceeded');
    assert.equal(await reasonFor({ perPayment: null }), 'approval_insufficient');
  });

  it('reports a missing approval before funds, and funds before limits', async () => {
    const nothing = { usdc: 0n, allowance: 0n, perPayment: 1n };
    assert.equal(await reasonFor(nothing), 'approval_insufficient');
    assert.equal(await reasonFor({ ...nothing, allowance: 2_000_000n }), 'insufficient_funds');
    const funded = { usdc: 2_000_000n, allowance: 2_000_000n, perPayment: 1n };
    assert.equal(await reasonFor(funded), 'limit_exceeded');
  });

  it('declines payments to a merchant that the contract does not know', async () => {
    const payer = await network.addPayer();
    const result = await check({ ...sale(payer), merchantNumber: 99n });
    assert.deepEqual(result, { status: 'declined', reason: 'settlement_failed' });
  });

  it('notices a revoked policy immediately', async () => {
    const payer = await network.addPayer();
    await network.callSettlement(payer, 'revokePolicy');
    assert.deepEqual(await check(sale(payer)), {
      status: 'declined',
      reason: 'approval_insufficient',
    });
    assert.equal((await readPayerAccount(network.chain, payer.address)).policy.status, 'revoked');
  });

  it('checks many payments in one call', async () => {
    const payer = await network.addPayer();
    const before = node.calls.get('eth_call') ?? 0;
    const results = await Promise.all(Array.from({ length: 80 }, () => check(sale(payer))));
    assert(results.every((result) => result.status === 'ok'));
    const calls = (node.calls.get('eth_call') ?? 0) - before;
    assert(calls <= 12, `${calls} calls for 80 checks`);
  });

  it('is repeated during the tap if a node cannot answer', async () => {
    const payer = await network.addPayer();
    for (const failures of [1, 2]) {
      let left = failures * LOOKS_WITHIN_A_TRY;
      node.refuse = ({ method }) =>
        method === 'eth_call' && left-- > 0 ? 'header not found' : null;
      assert.deepEqual(await check(sale(payer)), { status: 'ok' }, `after ${failures}`);
      assert(left <= 0, 'the node was not asked');
    }
    node.refuse = () => null;
  });

  it('reports `unavailable` when no node answers, and declines nothing', async () => {
    const payer = await network.addPayer();
    node.mood = 'down';
    assert.deepEqual(await check(sale(payer)), { status: 'unavailable' });
    node.mood = 'well';
    assert.deepEqual(await check(sale(payer)), { status: 'ok' });
  });

  it('reports `unavailable` while the contract is paused, and declines nothing', async () => {
    const payer = await network.addPayer();
    await switchContract(network, 'pauseSettling');
    assert.deepEqual(await check(sale(payer)), { status: 'unavailable' });
    await switchContract(network, 'unpauseSettling');
    assert.deepEqual(await check(sale(payer)), { status: 'ok' });
  });

  it('is consistent with a balance read at the same block', async () => {
    const balance = await readMerchantBalance(network.chain, merchant.merchantNumber);
    const block = await network.chain.block(balance.blockNumber);
    assert.equal(balance.available, 0n);
    assert.equal(balance.wallet, merchant.wallet.address);
    assert.deepEqual(balance.asOf, block?.time);
  });
});
