import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFunctionData, keccak256, toHex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { newId } from '#core/ids.ts';
import { authorizationMessage } from '#settlement/chain/check/authorization-message.ts';
import { readFeeRates } from '#settlement/chain/fees/fee-rates.ts';
import { requestPayments } from '#settlement/chain-requests.ts';
import { createSettlementNumbers } from '#settlement/settlement-numbers.ts';
import {
  applyOutcomes,
  askRefund,
  minedBlock,
  signApproval,
} from '#testkit/fixtures/settlement/relayer-scene.ts';
import {
  assertSucceeded,
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

const AMOUNT = 1_000_000n;
/** The test observes for this long: longer than the pauses of 1 s and 2 s together. */
const WATCHED_MS = 3_500;

/** Sales that must be resent, because the ledger has booked them as paid. */
describe('a booked sale that a reorganization removed and the chain refuses now', () => {
  let world: RelayerWorld;
  let payer: PrivateKeyAccount;
  let intent: string;
  let paymentId: string;

  before(async () => {
    world = await startRelayerWorld();
    payer = await world.network.addPayer();
    world.startRelayer();
    intent = await world.pay({ payer, amount: AMOUNT });
    await world.mineOutcomes([intent]);
    await applyOutcomes(world);
    paymentId = await world.recordPayment(intent);
    await world.network.mine(1);
    await world.network.reorganize(await minedBlock(world), [[await approval(3, 0n), 0]]);
    await until(async () => (await alarms('outcome_changed')) === 1);
  });

  after(() => world.stop());

  const until = (done: () => Promise<boolean>) => world.mineUntil(done);
  const approval = (nonce: number, amount: bigint) =>
    signApproval(world.network, payer, { nonce, amount });
  const alarms = (kind: string) => world.countRows(`chain_alarms where kind = '${kind}'`);
  const sent = () => world.countRows(`chain_transactions where kind = 'payment'`);
  it('is sent again after 1, 2, 4 and more seconds, and not in every block', async () => {
    const before = await sent();
    const stopMining = world.network.mineEvery(100);
    await sleep(WATCHED_MS);
    await stopMining();
    const again = (await sent()) - before;
    assert.ok(again >= 1 && again <= 2, `sent ${again} times in ${WATCHED_MS} ms`);
    assert.equal(await world.balance(), 0n);
  });

  it('waits at most a minute between two tries', async () => {
    const { db } = world.database;
    // Another attempt of the job may still be in progress.
    await until(async () => {
      const rows = await db.query(
        `update chain_requests set tries = 30, next_attempt = now()
         where status = 'queued' returning id`,
      );
      return rows.length === 1;
    });
    const before = await sent();
    const pauses = async () =>
      db.query<{ seconds: number }>(
        `select extract(epoch from next_attempt - now())::float as seconds from chain_requests
         where subject_id = $1 and status = 'queued'`,
        [intent],
      );
    await until(async () => (await sent()) > before && ((await pauses())[0]?.seconds ?? 0) > 50);
    assert.ok(((await pauses())[0]?.seconds ?? 0) <= 60);
  });

  it('is not sent after a day: an alarm names payer, merchant and sum', async () => {
    const { db } = world.database;
    await db.query(
      `update chain_requests set owed_since = now() - interval '25 hours', next_attempt = now()
       where subject_id = $1`,
      [intent],
    );
    const before = await sent();
    await until(async () => (await alarms('sale_not_settled')) === 1);
    const [alarm] = await db.query<{ subject: string; details: Record<string, unknown> }>(
      `select subject, details from chain_alarms
       where kind = 'sale_not_settled' and resolved_at is null`,
    );
    assert.equal(alarm?.subject, intent);
    const { payer: who, account, amount, payment } = alarm?.details ?? {};
    assert.deepEqual([who, amount, payment], [payer.address, `${AMOUNT}`, paymentId]);
    assert.match(String(account), /^acct_/);
    await world.network.mine(10);
    assert.equal(await sent(), before);
    const [row] = await db.query<{ status: string; applied: boolean }>(
      `select status, applied_at is not null as applied from chain_requests where subject_id = $1`,
      [intent],
    );
    assert.deepEqual(row, { status: 'queued', applied: true });
  });

  it('keeps its refund waiting, however old the refund is', async () => {
    const refund = await askRefund(world, paymentId, AMOUNT);
    await world.database.db.query(
      `update chain_requests set created = now() - interval '2 days' where subject_id = $1`,
      [refund],
    );
    const stopMining = world.network.mineEvery(100);
    await sleep(2_500);
    await stopMining();
    assert.equal(await world.outcome(refund), null);
  });

  it('settles immediately if an operator resends it and the payer can pay', async () => {
    const { rpc } = world.network;
    await rpc.call('eth_sendRawTransaction', [await approval(4, 10n ** 12n)]);
    await world.database.db.query(
      `update chain_requests set owed_since = null, next_attempt = null where subject_id = $1`,
      [intent],
    );
    await until(async () => (await world.balance()) === AMOUNT);
    assertSucceeded(await world.mineOutcomes([intent]));
  });

  it('is sent again until its authorization expires, and then an alarm names it', async () => {
    const { db } = world.database;
    const owner = await world.network.addPayer({ usdc: 2n * AMOUNT });
    const sale = await payByAuthorization(owner);
    assertSucceeded(await world.mineOutcomes([sale]));
    await applyOutcomes(world);
    await world.recordPayment(sale);
    const [row] = await db.query<{ block: bigint }>(
      `select t.block_number as block from chain_transactions t
       join chain_requests r on r.transaction_id = t.id where r.subject_id = $1`,
      [sale],
    );
    const first = await moveAway(owner, (3n * AMOUNT) / 2n);
    await world.network.reorganize(Number(row?.block), [[first, 0]]);

    const tries = () =>
      world.count(
        `select tries as count from chain_requests
         where subject_id = '${sale}' and status = 'queued' and next_attempt < 'infinity'`,
      );
    await until(async () => (await tries()) > 1);
    // A sale by pass is no longer resent after a day.
    const before = await tries();
    await db.query(
      `update chain_requests set owed_since = now() - interval '25 hours', next_attempt = now()
       where subject_id = $1`,
      [sale],
    );
    await until(async () => (await tries()) > before);
    assert.equal(await alarms('sale_not_settled'), 1);
    // The authorization's hour passes.
    await db.query(
      `update chain_requests set next_attempt = now(), payload = jsonb_set(payload,
         '{authorization,validBefore}', to_jsonb($2::text)) where subject_id = $1`,
      [sale, String(nowSeconds())],
    );
    await until(async () => (await alarms('sale_not_settled')) === 2);
    const [alarm] = await db.query<{ payer: string; amount: string }>(
      `select details ->> 'payer' as payer, details ->> 'amount' as amount from chain_alarms
       where kind = 'sale_not_settled' and subject = $1 and resolved_at is null`,
      [sale],
    );
    assert.deepEqual(alarm, { payer: owner.address, amount: `${AMOUNT}` });
    assert.equal(await tries(), 0, 'it is not sent any more');
  });

  const nowSeconds = () => Math.floor(Date.now() / 1_000);

  /** Pays by an authorization that is valid for an hour. @returns the intent. */
  async function payByAuthorization(owner: PrivateKeyAccount): Promise<string> {
    const { database, network, merchant, wakeups } = world;
    const { config, chain } = network;
    const { livemode } = config;
    const [drawn] = await createSettlementNumbers(database.db).take([livemode]);
    assert.ok(drawn !== undefined);
    const { number } = drawn;
    const payment = { payer: owner.address, amount: AMOUNT, orderId: 'SIGNED' };
    const terms = { salt: keccak256(toHex(number)), validBefore: nowSeconds() + 3_600 };
    const rates = await readFeeRates(chain);
    const paid = { ...payment, number, merchantNumber: merchant.merchantNumber };
    const message = authorizationMessage(config, paid, { ...terms, rates });
    const signature = await owner.signTypedData(message);
    const authorization = { salt: terms.salt, validBefore: `${terms.validBefore}`, signature };
    const subjectId = newId('paymentIntent', new Date());
    const merchantNumber = `${merchant.merchantNumber}`;
    const payload = { ...payment, amount: `${AMOUNT}`, merchantNumber, authorization };
    const request = { livemode, settleWithinS: 60, subjectId, number, payload };
    await database.db.transaction((tx) => requestPayments(tx, [request], new Date()));
    wakeups.send('chain-requests', config.network);
    return subjectId;
  }

  /** Returns a transaction by which the payer moves the sale's money away. It offers high fees. */
  async function moveAway(owner: PrivateKeyAccount, amount: bigint) {
    const { config, chain, admin } = world.network;
    const [nonce] = await chain.nonces([owner.address]);
    const args = [admin.address, amount] as const;
    return owner.signTransaction({
      type: 'eip1559',
      chainId: config.chainId,
      nonce: Number(nonce),
      to: config.usdc,
      data: encodeFunctionData({ abi: testUsdcAbi, functionName: 'transfer', args }),
      gas: 100_000n,
      maxFeePerGas: 10_000_000_000n,
      maxPriorityFeePerGas: 5_000_000_000n,
    });
  }
});
