import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import {
  assertSucceeded,
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';

/** Returns the amount plus the test network's fees, 30 and 20 basis points, minus 5 of cashback. */
function pulled(amount: bigint): bigint {
  const share = (points: bigint) => (amount * points) / 10_000n;
  return amount + share(30n) + share(20n) - share(5n);
}

const USDC = 1_000_000_000n;

describe('the relayer', () => {
  let world: RelayerWorld;

  before(async () => {
    world = await startRelayerWorld();
    world.network.mineEvery(100);
    world.startRelayer();
  });

  after(() => world.stop());

  const addPayer = async (options = {}): Promise<PrivateKeyAccount> => {
    const payer = await world.network.addPayer({ usdc: USDC, ...options });
    return payer;
  };

  it('settles a payment: request, receipt, wallet and balance agree', async () => {
    const payer = await addPayer();
    const before = await world.balance();
    const [outcome] = await world.outcomes([await world.pay({ payer, amount: 2_500_000n })]);
    assert.equal(outcome?.succeeded, true);
    const facts = outcome?.facts;
    assert(facts !== undefined);
    const [receipt] = await world.network.chain.receipts([facts.txHash as `0x${string}`]);
    assert(receipt?.succeeded);
    assert.equal(facts.blockNumber, receipt.blockNumber.toString());
    assert(receipt.logs.some((log) => Number(log.logIndex) === facts.logIndex));
    const block = await world.network.chain.block(receipt.blockNumber);
    assert.equal(facts.blockTime, block?.time.toISOString());
    assert.deepEqual(
      [facts.feeAcquirer, facts.feeProtocol, facts.cashback],
      ['7500', '5000', '1250'],
    );
    assert.equal(await world.balance(), before + 2_500_000n);
    assert.equal(await world.network.usdcOf(payer.address), USDC - pulled(2_500_000n));
  });

  it('declines single payers with the exact reasons, and settles the others', async () => {
    const [good, poor, unapproved, capped, stranger] = await Promise.all([
      addPayer(),
      addPayer({ usdc: 10n }),
      addPayer({ allowance: 10n }),
      addPayer({ perPayment: 100n }),
      addPayer({ perPayment: null }),
    ]);
    const before = await world.balance();
    const payers = [good, poor, unapproved, capped, stranger];
    const ids = await world.payMany(payers.map((payer) => ({ payer })));
    const outcomes = await world.outcomes(ids);
    assert.deepEqual(
      outcomes.map((outcome) => outcome.reason ?? 'succeeded'),
      [
        'succeeded',
        'insufficient_funds',
        'approval_insufficient',
        'limit_exceeded',
        'approval_insufficient',
      ],
    );
    assert.equal(await world.balance(), before + 1_000_000n);
  });

  it('declines a payer who emptied the wallet between check and settlement', async () => {
    const payer = await addPayer({ usdc: pulled(1_000_000n) });
    const ids = await world.payMany([{ payer }, { payer }]);
    const outcomes = await world.outcomes(ids);
    assert.deepEqual(outcomes.map((outcome) => outcome.reason ?? 'succeeded').sort(), [
      'insufficient_funds',
      'succeeded',
    ]);
    assert.equal(await world.network.usdcOf(payer.address), 0n);
  });

  it('lets an intent be paid after a decline, under the same number', async () => {
    const payer = await addPayer({ usdc: 0n });
    const intent = await world.pay({ payer });
    assert.equal((await world.outcomes([intent]))[0]?.reason, 'insufficient_funds');
    const other = await addPayer();
    await world.pay({ payer: other, subjectId: intent });
    while ((await world.outcome(intent))?.succeeded !== true) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const numbers = await world.count(
      `select count(distinct number) from chain_requests where subject_id = '${intent}'`,
    );
    assert.equal(numbers, 1);
  });

  it('settles hundreds of payments, each once', async () => {
    const payers = await world.network.addPayers(10, { usdc: USDC });
    const before = await world.balance();
    const payments = Array.from({ length: 400 }, (_, i) => ({
      payer: payers[i % 10] as PrivateKeyAccount,
    }));
    const ids = await world.payMany(payments);
    assertSucceeded(await world.outcomes(ids));
    assert.equal(await world.balance(), before + 400_000_000n);
    const transactions = await world.count(
      `select count(distinct transaction_id) from chain_requests
       where subject_id = any('{${ids}}')`,
    );
    assert(transactions <= 8, `${transactions} transactions for 400 payments`);
  });
});
