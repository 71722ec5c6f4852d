import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { present } from '#core/assert.ts';
import { foreignSettlements } from '#ops/admin-foreign-settlements.ts';
import { bookPayments } from '#recovery/book-payments.ts';
import { bookTransfers } from '#recovery/book-transfers.ts';
import type { RecoveryDeps } from '#recovery/recovery-lease.ts';
import { withdrawCall } from '#settlement/contract/contract-calls.ts';
import { deleteUndecided } from '#settlement/foreign-settlement-queries.ts';
import { selectUnknownHere } from '#settlement/network-recovery-queries.ts';
import { reconcileOnce } from '#settlement/reconciliation/reconcile-once.ts';
import { storedProof } from '#settlement/settled/payment-proof.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';
import { outsideService } from '#testkit/fixtures/settlement/outside-service.ts';
import { heldAccount } from '#testkit/network/held-key.ts';
import {
  startTestNetwork,
  type TestMerchant,
  type TestNetwork,
} from '#testkit/network/test-network.ts';

/** The contract's numbers have 64 bits, unsigned: one bit more than a bigint column. */
const ABOVE_COLUMN = 2n ** 63n;
const LAST = 2n ** 64n - 1n;
/**
 * A merchant number without an account here. Its settlement has an order ID that is not valid text.
 */
const OTHERS = 8n;
const NO_TEXT = 'O\u0100Hÿ\u0001R';
const AMOUNT = 2_500_000n;
/**
 * A negative grace period, because the test mines more than one block a second, so the chain's
 * clock is ahead of the test's.
 */
const NO_GRACE = { graceMs: -86_400_000 };

let store: TestStore;
let network: TestNetwork;
let merchant: TestMerchant;
let deps: RecoveryDeps;

before(async () => {
  network = await startTestNetwork();
  merchant = await network.addMerchant();
  network.mineEvery(60);
  store = await openStore({ merchantNumber: merchant.merchantNumber });
  const clock = new FakeClock(new Date());
  deps = { ...store.ctx, clock, chains: [network.chain], chain: network.chain };
  const payer = await network.addPayer();
  const { merchantNumber } = merchant;
  const sale = { merchantNumber, amount: AMOUNT, payer: payer.address };
  const outside = outsideService(network.config);
  await outside.settle([
    { ...sale, orderId: 'FIRST', number: ABOVE_COLUMN },
    { ...sale, orderId: 'LAST', number: LAST },
    { ...sale, orderId: 'LOW', number: 7n },
  ]);
  const operator = heldAccount(network.config.relayerKeys[0]);
  const { address: wallet } = merchant.wallet;
  const { merchantNumber: unknown } = await network.addMerchant();
  await outside.settle([{ ...sale, merchantNumber: unknown, orderId: NO_TEXT, number: OTHERS }]);
  const paidOut = { merchantNumber, wallet, amount: 1_000_000n, number: LAST - 1n };
  await network.send(operator, network.config.settlement, withdrawCall(paidOut));
});
after(async () => {
  await network.stop();
  await store.database.close();
});

const alarms = async (kind: string): Promise<string[]> => {
  const rows = await store.db.query<{ subject: string }>(
    'select subject from chain_alarms where kind = $1',
    [kind],
  );
  return rows.map(({ subject }) => subject).sort();
};

describe('settlements under numbers that exceed a bigint column', () => {
  it('are found by reconciliation, which continues', async () => {
    const expected = [
      `payment_unknown_here 7`,
      `payment_unknown_here ${OTHERS}`,
      `payment_unknown_here ${ABOVE_COLUMN}`,
      `payment_unknown_here ${LAST}`,
      `withdrawal_unknown_here ${LAST - 1n}`,
    ].sort();
    for (const _run of ['first', 'second']) {
      const { differences } = await reconcileOnce(deps, NO_GRACE);
      assert.deepEqual(
        differences.map(({ kind, subject }) => `${kind} ${subject}`).sort(),
        expected,
      );
    }
    // Mine enough blocks that reconciliation no longer reads the earlier ones; the differences must
    // stay open.
    await network.mine(80);
    for (const _run of ['moves the cursor', 'reads later blocks']) {
      assert.equal((await reconcileOnce(deps, NO_GRACE)).differences.length, expected.length);
    }
  });

  it("are listed as foreign settlements with the chain's numbers", async () => {
    assert.deepEqual(
      await alarms('foreign_key_used'),
      [`merchant ${merchant.merchantNumber}`, `payment ${OTHERS}`],
      'one for the merchant, and each for one without an account',
    );
    const args = ['foreign-settlements'];
    const listed = await foreignSettlements(store.db, { args, now: new Date() } as never);
    assert.ok('lines' in listed);
    for (const number of [ABOVE_COLUMN, LAST, LAST - 1n, 7n]) {
      assert.ok(
        listed.lines.some((line) => line.includes(` ${number} `)),
        listed.lines.join('\n'),
      );
    }
    assert.equal((await selectUnknownHere(store.db, false)).count, 0, 'no recovery is requested');
  });

  it('are included in the refund proof as the contract computes it', async () => {
    const { merchantNumber } = merchant;
    const stored = (number: bigint) => storedProof(deps, { number, merchantNumber, batches: 1n });
    const proof = present(await stored(7n), 'proof');
    const other = await stored(LAST);
    assert.deepEqual([other?.payment.number, other?.nodeIndex], [LAST, proof.nodeIndex]);
  });

  it('raise alarms and are not booked when a loss is recovered', async () => {
    const { db } = store;
    await db.transaction((tx) => deleteUndecided(tx, false));
    const head = present(await network.chain.block('latest'), 'newest block').number;
    const range = { fromBlock: 0n, toBlock: head, events: [], times: new Map<bigint, Date>() };
    const after = { block: -1n, logIndex: -1 };
    await db.transaction((tx) => bookPayments(tx, deps, { range, after, limit: 100 }));
    await db.transaction((tx) => bookTransfers(tx, deps, range));
    assert.deepEqual(
      await alarms('foreign_settlement'),
      [
        `payment ${OTHERS}`,
        `payment ${ABOVE_COLUMN}`,
        `payment ${LAST}`,
        `withdrawal ${LAST - 1n}`,
      ].sort(),
    );
    const booked = await db.query<{ settlement_number: bigint }>(
      'select settlement_number from payments',
    );
    assert.deepEqual(booked, [{ settlement_number: 7n }]);
    assert.equal(
      (await selectUnknownHere(db, false)).count,
      1,
      'until reconciliation finds number 7',
    );
  });
});
