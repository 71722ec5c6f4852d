import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import {
  decideForeign,
  selectKeptBack,
  selectNewestForeign,
} from '#settlement/foreign-settlement-queries.ts';
import {
  finishRecovery,
  requestRecovery,
  selectUnknownHere,
  takeRecovery,
  updateRecovery,
} from '#settlement/network-recovery-queries.ts';
import { reconcileOnce } from '#settlement/reconciliation/reconcile-once.ts';
import { acceptDifference } from '#settlement/reconciliation/reconcile-queries.ts';
import { reportReconciliation } from '#settlement/reconciliation/reconcile-report.ts';
import { readRelayerStatus } from '#settlement/status/relayer-status.ts';
import {
  addAccount,
  askRefund,
  askWithdrawal,
  refundPayload,
} from '#testkit/fixtures/settlement/relayer-scene.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

const WISH = { livemode: false, requestCount: null } as const;
/**
 * A negative grace period: the test mines more than one block a second, so the chain's time is
 * ahead of the test's clock.
 */
const NO_GRACE = { graceMs: -86_400_000 };

describe('reconciliation', () => {
  let world: RelayerWorld;
  let payer: PrivateKeyAccount;
  let stopMining: () => Promise<void>;

  before(async () => {
    world = await startRelayerWorld();
    payer = await world.network.addPayer();
    stopMining = world.network.mineEvery(60);
    world.startRelayer();
    await addAccount(world);
  });

  after(() => world.stop());

  const kinds = async (options = {}) => {
    const { differences } = await reconcileOnce(world.deps, { ...NO_GRACE, ...options });
    return differences.map((difference) => difference.kind);
  };
  const settle = async (amount: bigint): Promise<{ intent: string; paymentId: string }> => {
    const intent = await world.pay({ payer, amount });
    await world.outcomes([intent]);
    return { intent, paymentId: await world.recordPayment(intent) };
  };
  /** Stores a paid refund and its event, in the way that the refunds domain does. */
  const refundOf = async (paymentId: string, amount: bigint): Promise<void> => {
    const id = await askRefund(world, paymentId, amount);
    const [outcome] = await world.outcomes([id]);
    await query(`update chain_requests set applied_at = now() where subject_id = '${id}'`);
    await query(
      `insert into refunds (id, account_id, livemode, position, created, updated, payment_id,
         amount, status, tx_hash, source, metadata)
       select '${id}', 'acct_test', false, count(*) + 100, now(), now(), '${paymentId}', ${amount},
         'succeeded', '${outcome?.facts?.txHash}', 'api', '{}' from refunds`,
    );
  };
  const query = (sql: string) => world.database.db.query(sql);

  it('finds nothing when chain and database agree', async () => {
    await settle(5_000_000n);
    await settle(6_000_000n);
    assert.deepEqual(await kinds(), []);
  });

  it('finds nothing when a node shows the newest block before its events', async () => {
    await settle(3_000_000n);
    const { chain } = world.network;
    let looks = 0;
    const late: Chain = {
      ...chain,
      async *logPortions(range) {
        const isLate = looks++ === 0;
        for await (const portion of chain.logPortions(range)) {
          yield isLate ? { ...portion, logs: portion.logs.slice(0, -1) } : portion;
        }
      },
    };
    const { differences } = await reconcileOnce({ ...world.deps, chain: late });
    assert.deepEqual(differences, []);
    assert.equal(looks, 2, 'the events were read again');
  });

  it('reads a final block again until a node returns its events', async () => {
    await settle(2_000_000n);
    const { chain } = world.network;
    const final: Chain = {
      ...chain,
      block: (tag) => chain.block(tag === 'finalized' ? 'latest' : tag),
    };
    const late: Chain = {
      ...final,
      async *logPortions(range) {
        for await (const portion of chain.logPortions(range)) {
          yield { ...portion, logs: portion.logs.slice(0, -1) };
        }
      },
    };
    const first = await reconcileOnce({ ...world.deps, chain: late }, NO_GRACE);
    assert.ok(first.differences.length > 0, 'the last payment is missing');
    const second = await reconcileOnce({ ...world.deps, chain: final }, NO_GRACE);
    assert.deepEqual(second.differences, []);
  });

  it('finds a payment that the database lacks, until it is booked', async () => {
    const intent = await world.pay({ payer, amount: 7_000_000n });
    await world.outcomes([intent]);
    assert.deepEqual(await kinds(), ['payment_unknown_here']);
    assert.deepEqual(await kinds(), ['payment_unknown_here']);
    const open = 'select count(*) from reconciliation_differences where resolved_at is null';
    assert.equal(await world.count(open), 1);
    await world.recordPayment(intent);
    assert.deepEqual(await kinds(), []);
    assert.equal(await world.count(open), 0);
  });

  it('records unexplained events as foreign until two operators decide', async () => {
    const tenant = { accountId: 'acct_test', livemode: false };
    const { db } = world.database;
    const intent = await world.pay({ payer, amount: 7_050_000n });
    await world.outcomes([intent]);
    await query(
      `update chain_attempts set tx_hash = 'not ' || tx_hash where tx_hash = (
         select tx_hash from chain_payments where amount = 7050000)`,
    );
    assert.deepEqual(await kinds(), ['payment_unknown_here']);
    assert.deepEqual(await kinds(), ['payment_unknown_here']);
    const alarms = `select count(*) from chain_alarms where kind = 'foreign_key_used'`;
    assert.equal(await world.count(alarms), 1);
    assert.equal(await selectKeptBack(db, tenant), 7_050_000n);
    assert.equal((await selectUnknownHere(db, false)).count, 0, 'no recovery is requested');
    const upTo = present(await selectNewestForeign(db, tenant), 'foreign payment');
    const decided = { decision: 'refused', now: new Date() } as const;
    assert.equal(await db.transaction((tx) => decideForeign(tx, { ...tenant, upTo }, decided)), 1);
    assert.equal(await selectKeptBack(db, tenant), 7_050_000n, 'it stays out of payouts');
    await kinds();
    assert.deepEqual(await kinds(), [], 'a refused foreign settlement is not reported again');
    await query('delete from foreign_settlements');
    await query('update reconciliation_differences set resolved_at = now()');
    await query(`delete from chain_alarms where kind = 'foreign_key_used'`);
    await query(
      `update chain_attempts set tx_hash = substr(tx_hash, 5) where tx_hash like 'not %'`,
    );
    await world.recordPayment(intent);
    assert.deepEqual(await kinds(), []);
  });

  it('finds later a difference in a final block that was too young to compare', async () => {
    const intent = await world.pay({ payer, amount: 7_100_000n });
    await world.outcomes([intent]);
    await world.network.mine(70);
    assert.deepEqual(await kinds({ graceMs: 3_600_000 }), []);
    assert.deepEqual(await kinds(), ['payment_unknown_here']);
    await world.recordPayment(intent);
    assert.deepEqual(await kinds(), []);
  });

  it('finds a payment whose amount differs, and one that the chain lacks', async () => {
    const { paymentId } = await settle(8_000_000n);
    await query(`update payments set amount = 8000001 where id = '${paymentId}'`);
    assert.deepEqual(await kinds(), ['payment_differs']);
    await query(`update payments set amount = 8000000 where id = '${paymentId}'`);
    await query(`update payments set settlement_number = 999999 where id = '${paymentId}'`);
    assert.deepEqual((await kinds()).sort(), ['payment_missing_on_chain', 'payment_unknown_here']);
    await kinds();
    const corrections = `select amount from balance_entries
      where object_id = '${paymentId}' and type = 'correction' order by position`;
    assert.deepEqual(await query(corrections), [{ amount: -8_000_000n }]);
    await query(
      `update payments p set settlement_number = r.number from chain_requests r
       where p.id = '${paymentId}' and r.subject_id = p.payment_intent_id`,
    );
    assert.deepEqual(await kinds(), []);
    const both = [{ amount: -8_000_000n }, { amount: 8_000_000n }];
    assert.deepEqual(await query(corrections), both, 'the chain shows it again');
  });

  it('does not report a difference that an operator has accepted, until it changes', async () => {
    const { paymentId } = await settle(8_500_000n);
    await query(`update payments set fee_protocol = fee_protocol + 1 where id = '${paymentId}'`);
    assert.deepEqual(await kinds(), ['payment_differs']);
    const rows = await world.database.db.query<{ id: bigint }>(
      'select id from reconciliation_differences where resolved_at is null',
    );
    assert.equal(await acceptDifference(world.database.db, rows[0]?.id ?? 0n, new Date()), true);
    assert.deepEqual(await kinds(), []);
    await query(`update payments set fee_protocol = fee_protocol + 1 where id = '${paymentId}'`);
    assert.deepEqual(await kinds(), ['payment_differs']);
    await query(`update payments set fee_protocol = fee_protocol - 2 where id = '${paymentId}'`);
    assert.deepEqual(await kinds(), []);
  });

  it('moves a payment to its new position on the chain after a reorganization', async () => {
    const { paymentId } = await settle(8_700_000n);
    const { db } = world.database;
    const place = () =>
      db.query('select tx_hash, block_number, log_index from payments where id = $1', [paymentId]);
    const before = await place();
    await query(`update payments set log_index = log_index + 1 where id = '${paymentId}'`);
    assert.deepEqual(await kinds(), []);
    assert.deepEqual(await place(), before);
  });

  /**
   * Records a recovery after a loss. The recovery booked nothing, because no payment was booked
   * yet.
   */
  const readAfterLoss = async (block: bigint) => {
    const { db } = world.database;
    await requestRecovery(db, { ...WISH, reason: 'nonce', lossShown: true });
    const lease = { livemode: false, owner: 'test', leaseMs: 60_000 };
    const run = present(await takeRecovery(db, lease), 'recovery that was asked for');
    const clusterId = present(db.watch.clusterId, 'cluster id');
    // The final block is far below the last block that the recovery read.
    const finished = { clusterId, comparedBlock: 0n, now: new Date() };
    const isDone = await db.transaction(async (tx) => {
      await updateRecovery(tx, false, { read_to: block });
      return finishRecovery(tx, run, finished);
    });
    assert.ok(isDone);
  };

  it('records foreign refunds and withdrawals as foreign, too', async () => {
    const tenant = { accountId: 'acct_test', livemode: false };
    const { db } = world.database;
    const { paymentId } = await settle(8_900_000n);
    const refund = await askRefund(world, paymentId, 900_000n);
    const withdrawal = await askWithdrawal(world, 70_000n);
    await world.outcomes([refund, withdrawal]);
    const both = ['refund_unknown_here', 'withdrawal_unknown_here'];
    assert.deepEqual(await kinds(), both);
    assert.equal(
      (await selectUnknownHere(db, false)).count,
      2,
      'our own bytes paid them: they were lost',
    );
    assert.equal(await selectKeptBack(db, tenant), 0n);
    await query(
      `update chain_attempts set tx_hash = 'not ' || tx_hash where tx_hash in (
         select tx_hash from chain_transfers)`,
    );
    await readAfterLoss(1_000_000n);
    assert.deepEqual(await kinds(), both);
    const refunds = `select count(*) from foreign_settlements where kind = 'refund'`;
    assert.equal(await world.count(refunds), 0, 'it belongs to the lost time');
    assert.equal((await selectUnknownHere(db, false)).count, 1, 'the next recovery books it');
    // Requests a recovery as the reconciler does, without evidence that data was lost. The recovery
    // then reads the refund again.
    await requestRecovery(db, { ...WISH, reason: 'reconciliation', lossShown: false });
    assert.deepEqual(await kinds(), both);
    assert.equal(await world.count(refunds), 0, 'it still belongs to the lost time');
    await query(
      `update network_recoveries set status = 'done', lost_to = null, compared_block = null
       where not livemode`,
    );
    assert.deepEqual(await kinds(), both);
    const result = await db.query<{ found: string }>(
      `select kind || ' ' || amount as found from foreign_settlements order by kind`,
    );
    assert.deepEqual(
      result.map((row) => row.found),
      ['refund 900000', 'withdrawal 70000'],
    );
    assert.equal((await selectUnknownHere(db, false)).count, 0, 'no recovery is requested');
    assert.equal(await selectKeptBack(db, tenant), 970_000n);
    const alarms = `select count(*) from chain_alarms where kind = 'foreign_key_used'`;
    assert.equal(await world.count(alarms), 1, 'one for the merchant');
    const upTo = present(await selectNewestForeign(db, tenant), 'foreign transfer');
    const decided = { decision: 'refused', now: new Date() } as const;
    assert.equal(await db.transaction((tx) => decideForeign(tx, { ...tenant, upTo }, decided)), 2);
    assert.equal(await selectKeptBack(db, tenant), 0n, 'they have left the balance');
    await kinds();
    assert.deepEqual(await kinds(), [], 'a refused foreign settlement is not reported again');
  });

  it('finds refunds and withdrawals that only the chain or only the ledger has', async () => {
    const { paymentId } = await settle(9_000_000n);
    const refund = await world.ask({
      kind: 'refund',
      subjectId: 're_test',
      payload: await refundPayload(world, paymentId, 1_000_000n),
    });
    const withdrawal = await world.ask({
      kind: 'withdrawal',
      subjectId: 'wdr_test',
      payload: {
        merchantNumber: world.merchant.merchantNumber.toString(),
        wallet: world.merchant.wallet.address,
        amount: '2000000',
      },
    });
    const [paid, withdrawn] = await world.outcomes([refund, withdrawal]);
    assert.deepEqual(await kinds(), ['refund_unknown_here', 'withdrawal_unknown_here']);
    await query(
      `insert into refunds (id, account_id, livemode, position, created, updated, payment_id,
         amount, status, tx_hash, source, metadata)
       values ('re_test', 'acct_test', false, 1, now(), now(), '${paymentId}', 1000000,
         'succeeded', '${paid?.facts?.txHash}', 'api', '{}')`,
    );
    await query(
      `insert into withdrawals (id, account_id, livemode, position, created, updated, amount,
         wallet, status, tx_hash, requested_by)
       values ('wdr_test', 'acct_test', false, 1, now(), now(), 2000000,
         '${world.merchant.wallet.address}', 'succeeded', '${withdrawn?.facts?.txHash}', 'owner')`,
    );
    assert.deepEqual(await kinds(), []);
    await query(`update refunds set amount = 1000001 where id = 're_test'`);
    await query(`update chain_requests set number = number + 1 where subject_id = 'wdr_test'`);
    assert.deepEqual((await kinds()).sort(), [
      'refund_differs',
      'withdrawal_missing_on_chain',
      'withdrawal_unknown_here',
    ]);
    await query(`update refunds set amount = 1000000 where id = 're_test'`);
    await query(`update chain_requests set number = number - 1 where subject_id = 'wdr_test'`);
  });

  it('compares old refunds and withdrawals that change, and all of them on command', async () => {
    const change = async (set: string) => {
      await query(`update refunds set ${set} where id = 're_test'`);
      await query(`update withdrawals set ${set} where id = 'wdr_test'`);
    };
    const both = ['refund_differs', 'withdrawal_differs'];
    await world.network.mine(80);
    await change(`updated = now() - interval '2 days'`);
    assert.deepEqual(await kinds(), []);
    await change('amount = amount + 1');
    assert.deepEqual(await kinds(), [], 'nothing says that they have changed');
    assert.deepEqual(await kinds({ everything: true }), both);
    assert.deepEqual(await kinds(), both, 'what differs is compared again');
    await change('amount = amount - 1');
    assert.deepEqual(await kinds(), []);
    await change('amount = amount + 1, updated = now()');
    assert.deepEqual(await kinds(), both);
    await change('amount = amount - 1');
    assert.deepEqual(await kinds(), []);
  });

  it('follows old and new refunds through a reorganization of the newest blocks', async () => {
    const { mine } = world.network;
    const alarms = await world.countRows('chain_alarms');
    const { paymentId } = await settle(9_200_000n);
    await refundOf(paymentId, 100_000n);
    await mine(80);
    assert.deepEqual(await kinds(), []);
    const { paymentId: fresh } = await settle(9_300_000n);
    for (const id of [paymentId, fresh]) await refundOf(id, 200_000n);
    await query(`update chain_requests set applied_at = now() where status = 'succeeded'`);
    assert.deepEqual(await kinds(), []);
    const places = () =>
      world.database.db.query<{ block: bigint }>(
        `select block_number as block from payments where id = $1
         union all select t.block_number from refunds f join chain_transactions t using (tx_hash)
         where f.payment_id in ($1, $2) and f.amount = 200000 and t.status <> 'signed'`,
        [fresh, paymentId],
      );
    const before = await places();
    const first = Math.min(...before.map(({ block }) => Number(block)));
    await stopMining();
    const head = await world.network.head();
    await world.network.reorganize(first);
    stopMining = world.network.mineEvery(60);
    const areMoved = async () => {
      const now = await places();
      return now.length === before.length && now.every(({ block }) => block > head);
    };
    assert.ok(await waitUntil(areMoved, 20_000), 'they were not mined again');
    assert.deepEqual(await kinds(), []);
    assert.deepEqual(await kinds({ everything: true }), []);
    assert.equal(await world.countRows('chain_alarms'), alarms);
    const paid = `select count(*) from chain_transfers where amount in (100000, 200000)`;
    assert.equal(await world.count(paid), 3);
  });

  it('later compares the blocks that an interrupted run has read', async () => {
    const intent = await world.pay({ payer, amount: 9_500_000n });
    await world.outcomes([intent]);
    await world.network.mine(80);
    const { chain } = world.network;
    const calls = () => Promise.reject(new Error('cut off'));
    await assert.rejects(reconcileOnce({ ...world.deps, chain: { ...chain, calls } }, NO_GRACE));
    assert.deepEqual(await kinds(), ['payment_unknown_here']);
    await world.recordPayment(intent);
    assert.deepEqual(await kinds(), []);
  });

  it('books a withdrawal that a wallet makes without the service once it is final', async () => {
    const { network, merchant } = world;
    await network.rpc.call('anvil_setBalance', [merchant.wallet.address, '0xde0b6b3a7640000']);
    const known = await world.countRows('foreign_settlements');
    const args = [Number(merchant.merchantNumber), 1_000_000n];
    await network.callSettlement(merchant.wallet, 'withdrawOwn', args);
    assert.deepEqual(await kinds(), []);
    assert.equal(await world.countRows('foreign_settlements'), known);
    const payouts = `select count(*) from balance_entries
      where object_id like 'own_%' and type = 'payout' and amount = -1000000`;
    assert.equal(await world.count(payouts), 0);
    await network.mine(80);
    for (let run = 0; run < 2; run++) {
      assert.deepEqual(await kinds(), []);
      assert.equal(await world.count(payouts), 1);
    }
  });

  it('finds the same after reading everything again, and rebuilds lost rows', async () => {
    const before = await query('select * from chain_payments order by number');
    await query('delete from chain_payments');
    await query('update settlement_number_blocks set next_block = 1 where not livemode');
    assert.deepEqual(await kinds({ rebuild: true }), []);
    assert.deepEqual(await query('select * from chain_payments order by number'), before);
    const rows = await query(
      `select 1 as above from settlement_number_blocks where not livemode
         and next_block * 256 > (select max(number) from chain_payments) + 1000000`,
    );
    assert.equal(rows.length, 1, 'new numbers lie above those of the chain');
    assert.deepEqual(await kinds(), []);
  });

  it('finds no balance wrong when blocks become final', async () => {
    await settle(4_000_000n);
    await world.network.mine(80);
    assert.deepEqual(await kinds(), []);
    await settle(4_000_000n);
    assert.deepEqual(await kinds(), []);
    await query('update reconciliation_balances set balance = balance + 1');
    assert.deepEqual(await kinds(), ['balance_differs', 'token_balance_differs']);
    assert.deepEqual(await kinds({ rebuild: true }), []);
  });

  describe('tokens that the contract does not owe', () => {
    const give = (amount: bigint) => {
      const { config, send } = world.network;
      const args = [config.settlement, amount] as const;
      const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'transfer', args });
      return send(payer, config.usdc, data);
    };
    const accept = async () => {
      const [row] = await world.database.db.query<{ id: bigint }>(
        `select id from reconciliation_differences
         where kind = 'token_balance_differs' and resolved_at is null`,
      );
      assert.equal(await acceptDifference(world.database.db, row?.id ?? 0n, new Date()), true);
    };
    const found = async () => {
      const { differences } = await reconcileOnce(world.deps, NO_GRACE);
      return differences.map(({ kind, details }) => [kind, details]);
    };
    const surplus = (details: object) => [['token_balance_differs', details]];

    it('are reported until an operator accepts them', async () => {
      await give(2n);
      assert.deepEqual(await found(), surplus({ surplus: '2' }));
      await accept();
      await settle(4_000_000n);
      assert.deepEqual(await found(), [], 'a sale changes nothing about it');
    });

    it('are reported again after growing by a whole USDC, but not by dust', async () => {
      await give(600_000n);
      assert.deepEqual(await found(), []);
      await give(399_999n);
      assert.deepEqual(await found(), [], 'in all it is an atom less than 1 USDC more');
      await give(1n);
      assert.deepEqual(await kinds({ tokens: false }), [], 'not looked for');
      const more = surplus({ surplus: '1000002', accepted: '2' });
      assert.deepEqual(await found(), more);
      assert.deepEqual(await kinds({ tokens: false }), ['token_balance_differs'], 'it stays');
      assert.deepEqual(await found(), more, 'until a person accepts it');
      await accept();
      assert.deepEqual(await found(), []);
    });

    it('are reported immediately if there are fewer than an operator has accepted', async () => {
      const { db } = world.database;
      const told = { surplus: '1000003' };
      await db.query(
        `update reconciliation_differences set details = $1::text::jsonb
         where kind = 'token_balance_differs' and resolved_at is null`,
        [JSON.stringify(told)],
      );
      assert.deepEqual(await found(), surplus({ surplus: '1000002', accepted: '1000003' }));
      await accept();
      assert.deepEqual(await found(), []);
    });
  });

  it('prints a line per difference and exits with 1', async () => {
    const lines: string[] = [];
    const print = (line: string) => lines.push(line);
    assert.equal(await reportReconciliation([world.deps], print, NO_GRACE), 0);
    const intent = await world.pay({ payer });
    await world.outcomes([intent]);
    assert.equal(await reportReconciliation([world.deps], print, NO_GRACE), 1);
    assert.match(lines.at(-1) ?? '', /^ {2}payment_unknown_here \d+ \{/);
  });

  it('shows operators senders, balances, queues and differences', async () => {
    const status = await readRelayerStatus(world.database.db, world.network.chain);
    assert.equal(status.senders.length, 5);
    assert(status.senders.every((sender) => sender.owner !== null && sender.low === false));
    assert.equal(status.openDifferences, 1);
    assert(status.queues.some((queue) => queue.kind === 'payment' && queue.status === 'answered'));
  });
});
