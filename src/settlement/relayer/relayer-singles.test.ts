import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { createPaymentCheck } from '#settlement/chain/check/check-payment.ts';
import { readPayerAccount, readPermitNonce } from '#settlement/chain/read/payer-balance.ts';
import { NOT_IN_TIME, type RequestPayloads } from '#settlement/chain-requests.ts';
import { walletChangeCall } from '#settlement/contract/contract-calls.ts';
import { spendingPolicy, usdcPermit } from '#settlement/contract/signed-messages.ts';
import { signProposal, signRegistration } from '#testkit/fixtures/payers/wallet-consents.ts';
import {
  askRefund,
  askWithdrawal,
  refundPayload,
  settleSale,
  switchContract,
} from '#testkit/fixtures/settlement/relayer-scene.ts';
import {
  assertSucceeded,
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';

const DEADLINE = 4_000_000_000n;

describe('the relayer, for jobs that are sent alone', () => {
  let world: RelayerWorld;
  let payer: PrivateKeyAccount;

  before(async () => {
    world = await startRelayerWorld();
    payer = await world.network.addPayer();
    world.network.mineEvery(60);
    world.startRelayer();
  });

  after(() => world.stop());

  const settle = (amount: bigint) => settleSale(world, { payer, amount });
  const refund = (paymentId: string, amount: bigint) => askRefund(world, paymentId, amount);
  const withdraw = (amount: bigint) => askWithdrawal(world, amount);

  it("pays a refund to the payer, from the merchant's balance", async () => {
    const paymentId = await settle(5_000_000n);
    const before = {
      merchant: await world.balance(),
      payer: await world.network.usdcOf(payer.address),
    };
    assertSucceeded(await world.outcomes([await refund(paymentId, 2_000_000n)]));
    assert.equal(await world.balance(), before.merchant - 2_000_000n);
    assert.equal(await world.network.usdcOf(payer.address), before.payer + 2_000_000n);
  });

  it('never refunds more than was paid, however many refunds are concurrent', async () => {
    const paymentId = await settle(5_000_000n);
    await settle(50_000_000n);
    const before = await world.network.usdcOf(payer.address);
    const refunds: string[] = [];
    for (let i = 0; i < 10; i++) refunds.push(await refund(paymentId, 1_000_000n));
    const outcomes = await world.outcomes(refunds);
    const paid = outcomes.filter((outcome) => outcome.succeeded);
    assert.equal(paid.length, 5);
    assert.equal(await world.network.usdcOf(payer.address), before + 5_000_000n);
    assert(outcomes.every((one) => one.succeeded || one.reason === 'transaction_reverted'));
  });

  it('proves a refund from the chain alone if its own rows are missing', async () => {
    const paymentId = await settle(3_000_000n);
    await world.database.db.query('delete from chain_payments');
    assertSucceeded(await world.outcomes([await refund(paymentId, 3_000_000n)]));
    assert.equal(await world.countRows('chain_payments'), 1);
  });

  it('fails a refund that the balance does not cover', async () => {
    const paymentId = await settle(4_000_000n);
    const all = await world.balance();
    assertSucceeded(await world.outcomes([await withdraw(all)]));
    assert.equal(await world.network.usdcOf(world.merchant.wallet.address), all);
    const [outcome] = await world.outcomes([await refund(paymentId, 1_000_000n)]);
    assert.deepEqual(outcome, {
      succeeded: false,
      reason: 'insufficient_balance',
      txHash: null,
    });
  });

  it('pays no withdrawal to a wallet that is no longer registered', async () => {
    await settle(2_000_000n);
    const before = await world.balance();
    const payload = {
      merchantNumber: world.merchant.merchantNumber.toString(),
      wallet: payer.address,
      amount: '1000000',
    };
    const [outcome] = await world.outcomes([await world.ask({ kind: 'withdrawal', payload })]);
    assert.deepEqual(outcome, { succeeded: false, reason: 'wallet_changed', txHash: null });
    assert.equal(await world.balance(), before);
  });

  it('keeps a withdrawal waiting while a new wallet is proposed, and then pays it', async () => {
    await settle(2_000_000n);
    const { merchantNumber, wallet } = world.merchant;
    const { config } = world.network;
    await world.network.rpc.call('anvil_setBalance', [wallet.address, '0xde0b6b3a7640000']);
    const say = (change: RequestPayloads['wallet_change']) =>
      world.network.send(wallet, config.settlement, walletChangeCall(change));
    await say(await signProposal(config, merchantNumber));
    const before = await world.balance();
    const id = await withdraw(1_000_000n);
    const { db } = world.database;
    // Longer than the longest wait of any other kind of job.
    await db.query(
      `update chain_requests set created = now() - interval '3 days' where subject_id = $1`,
      [id],
    );
    const blocked = `select count(*) from chain_requests
      where subject_id = '${id}' and status = 'queued' and blocked_by like 'Another settlement%'`;
    for (const end = Date.now() + 15_000; Date.now() < end; await sleep(20)) {
      if ((await world.count(blocked)) === 1) break;
    }
    assert.equal(await world.count(blocked), 1);
    assert.equal(await world.balance(), before);
    await say({ step: 'cancel', merchantNumber: `${merchantNumber}` });
    assertSucceeded(await world.outcomes([id]));
    assert.equal(await world.balance(), before - 1_000_000n);
  });

  it('fails a withdrawal with the contract’s reason if another one left no balance', async () => {
    await settle(6_000_000n);
    const all = await world.balance();
    // Request both at the same time, so that usually both are simulated before either is in a
    // block.
    const outcomes = await world.outcomes([await withdraw(all), await withdraw(all)]);
    const [failed, ...others] = outcomes.filter(({ succeeded }) => !succeeded);
    assert.equal(others.length, 0);
    assert.equal(failed?.reason, 'insufficient_balance');
  });

  it('pays a withdrawal once, though its row is queued again', async () => {
    await settle(10_000_000n);
    const withdrawal = await withdraw(4_000_000n);
    const [first] = await world.outcomes([withdrawal]);
    const before = await world.balance();
    await world.database.db.query(
      `update chain_requests set status = 'queued', transaction_id = null, outcome = null
       where subject_id = $1`,
      [withdrawal],
    );
    const [second] = await world.outcomes([withdrawal]);
    assert.deepEqual(second, first);
    assert.equal(await world.balance(), before);
  });

  it('gives an already settled payment its earlier result', async () => {
    const intent = await world.pay({ payer, amount: 1_500_000n });
    const [first] = await world.outcomes([intent]);
    const before = await world.network.usdcOf(payer.address);
    await world.database.db.query(
      `update chain_requests set status = 'queued', transaction_id = null, outcome = null
       where subject_id = $1`,
      [intent],
    );
    const [second] = await world.outcomes([intent]);
    // Ignore the time when the block was seen, which depends on the poll.
    const { seenAt: _, ...facts } = (first?.facts ?? {}) as Readonly<Record<string, unknown>>;
    assert.deepEqual(second?.facts, facts);
    assert.equal(await world.network.usdcOf(payer.address), before);
  });

  it('raises an alarm if another payment has used a number, and charges no payer', async () => {
    const intent = await world.pay({ payer, amount: 1_500_000n });
    await world.outcomes([intent]);
    const before = await world.network.usdcOf(payer.address);
    await world.database.db.query(
      `update chain_requests set status = 'queued', transaction_id = null, outcome = null,
         payload = jsonb_set(payload, '{amount}', '"1600000"') where subject_id = $1`,
      [intent],
    );
    const [outcome] = await world.outcomes([intent]);
    assert.equal(outcome?.reason, 'settlement_failed');
    assert.equal(await world.network.usdcOf(payer.address), before);
    const alarms = `select count(*) from chain_alarms where kind = 'number_taken'`;
    assert.equal(await world.count(alarms), 1);
  });

  it('registers a merchant once, with the consent of its wallet', async () => {
    const payload = await signRegistration(world.network.config, 'acct_new');
    const kind = 'merchant_registration';
    const [first] = await world.outcomes([await world.ask({ kind, payload })]);
    assert.equal(first?.facts?.merchantNumber, '2');
    const [again] = await world.outcomes([await world.ask({ kind, payload })]);
    assert.deepEqual(again, first);
  });

  it('stores a policy of a payer without gas, who can then pay', async () => {
    const { chain, config } = world.network;
    const newcomer = privateKeyToAccount(generatePrivateKey());
    const amount = 9_000_000n;
    // This limit must include the fees.
    const perPayment = 8_000_000n;
    const faucet = { to: newcomer.address, amount: amount.toString() };
    await world.outcomes([await world.ask({ kind: 'faucet', payload: faucet })]);
    const terms = {
      payer: newcomer.address,
      perPayment,
      perPeriod: amount,
      periodSeconds: 86_400,
      expiresAt: new Date(Number(DEADLINE) * 1000),
      maxFeeRate: 100,
      nonce: (await readPayerAccount(chain, newcomer.address)).nonce,
      deadline: DEADLINE,
    };
    const permit = {
      payer: newcomer.address,
      value: amount,
      nonce: present(await readPermitNonce(chain, newcomer.address), 'nonce of permits'),
      deadline: DEADLINE,
    };
    const payload = {
      payer: newcomer.address,
      policy: {
        perPaymentCap: perPayment.toString(),
        periodCap: amount.toString(),
        periodSeconds: '86400',
        expiry: DEADLINE.toString(),
        maxFeeRate: '100',
        nonce: terms.nonce.toString(),
        deadline: DEADLINE.toString(),
        signature: await newcomer.signTypedData(spendingPolicy(config, terms)),
      },
      permit: {
        value: amount.toString(),
        deadline: DEADLINE.toString(),
        signature: await newcomer.signTypedData(usdcPermit(config, permit)),
      },
    };
    assertSucceeded(await world.outcomes([await world.ask({ kind: 'enrolment', payload })]));
    const account = await readPayerAccount(chain, newcomer.address);
    assert.equal(account.allowance, amount);
    assert.equal(account.policy.status, 'set');
    assertSucceeded(await world.outcomes([await world.pay({ payer: newcomer })]));
  });

  it('declines no payment while settling is paused: it waits until its deadline', async () => {
    const { chain, rpc } = world.network;
    await switchContract(world.network, 'pauseSettling');
    const check = createPaymentCheck(chain);
    const { merchantNumber } = world.merchant;
    const sale = { merchantNumber, payer: payer.address, amount: 1_000_000n, orderId: 'X' };
    assert.deepEqual(await check(sale), { status: 'unavailable' });
    const before = await world.network.usdcOf(payer.address);
    const [late = '', inTime = ''] = await world.payMany([{ payer }, { payer }]);
    const tried = `select count(*) from chain_requests where status = 'queued' and tries = 1`;
    while ((await world.count(tried)) < 2) await sleep(20);
    // This poll, or an earlier one, has simulated each of the two jobs alone.
    const faucet = { to: payer.address, amount: '1' };
    await world.outcomes([await world.ask({ kind: 'faucet', payload: faucet })]);
    assert.deepEqual([await world.outcome(late), await world.outcome(inTime)], [null, null]);
    await world.database.db.query(
      'update chain_requests set deadline = now() where subject_id = $1',
      [late],
    );
    await rpc.call('evm_increaseTime', [70]);
    assert.deepEqual(await world.outcomes([late]), [NOT_IN_TIME]);
    assert.equal(await world.network.usdcOf(payer.address), before + 1n);
    await switchContract(world.network, 'unpauseSettling');
    assert.deepEqual(await check(sale), { status: 'ok' });
    assertSucceeded(await world.outcomes([inTime]));
  });

  it('alerts operators if a refund waits for sums that the ledger lacks', async () => {
    const { db } = world.database;
    const paymentId = await settle(3_000_000n);
    const lost = await refund(paymentId, 1_000_000n);
    assertSucceeded(await world.outcomes([lost]));
    await db.query('delete from chain_requests where subject_id = $1', [lost]);
    const alarms = `select count(*) from chain_alarms where kind = 'refund_sums_differ'`;
    const later = await refund(paymentId, 1_000_000n);
    await sleep(500);
    assert.equal(await world.count(alarms), 0, 'it may be explained soon');
    await db.query(`update chain_requests set created = created - interval '2 minutes'
       where subject_id = '${later}'`);
    const end = Date.now() + 15_000;
    while ((await world.count(alarms)) === 0 && Date.now() < end) await sleep(20);
    assert.equal(await world.count(alarms), 1);
    assert.equal(await world.outcome(later), null, 'nothing is paid meanwhile');
    await db.query('delete from chain_requests where subject_id = $1', [later]);
  });

  it('fails no refund because of our own fault: it waits, and operators are alerted', async () => {
    const paymentId = await settle(3_000_000n);
    const { db } = world.database;
    const payload = await refundPayload(world, paymentId, 1_000_000n);
    await db.query('alter table payments rename to payments_away');
    const refunded = await world.ask({ kind: 'refund', payload });
    const alarms = `select count(*) from chain_alarms where kind = 'request_stuck'`;
    while ((await world.count(alarms)) === 0) await sleep(20);
    assert.equal(await world.outcome(refunded), null);
    await db.query('alter table payments_away rename to payments');
    assertSucceeded(await world.outcomes([refunded]));
  });

  it('fails a job that cannot be encoded, and continues with the others', async () => {
    const broken = world.pay({ payer, orderId: 'much too long for the contract' });
    const ids = [await broken, await world.pay({ payer })];
    const outcomes = await world.outcomes(ids);
    assert.deepEqual(
      outcomes.map((outcome) => outcome.reason ?? 'succeeded'),
      ['settlement_failed', 'succeeded'],
    );
  });
});
