import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { SenderLost, shareHeldSenders } from '#settlement/relayer/jobs/sender-queries.ts';
import { reopenBlocks } from '#settlement/relayer/jobs/transaction-queries.ts';
import { sendUnbatched } from '#settlement/relayer/send/send-jobs.ts';
import { keepSenders } from '#settlement/relayer/senders/keep-senders.ts';
import type { RelayerState } from '#settlement/relayer/state-machine/relayer-state.ts';
import { collectReceipts } from '#settlement/relayer/track/collect-receipts.ts';
import { underWay, waitingForLocks } from '#testkit/fixtures/core/open-transactions.ts';
import { idleRelayer } from '#testkit/fixtures/settlement/idle-relayer.ts';
import { sendPaymentsNow } from '#testkit/fixtures/settlement/relayer-turns.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';

/** A worker whose senders another worker may have taken unnoticed. */
describe('a worker beside others', () => {
  let world: RelayerWorld;
  let payer: PrivateKeyAccount;
  let worker: RelayerState;

  before(async () => {
    world = await startRelayerWorld();
    payer = await world.network.addPayer();
  });

  after(() => world.stop());

  beforeEach(async () => {
    worker = await idleRelayer(world);
    assert.equal(worker.senders.size, 5);
  });

  const sender = () => present(worker.senders.get(0), 'sender');
  /**
   * Takes over the sender as another worker does. The owner's name may stay the same, because only
   * the fencing token counts.
   */
  const takeOver = () =>
    world.database.db.query('update relayer_senders set fencing_token = fencing_token + 1');
  it('with an outdated fencing token signs nothing', async () => {
    const payment = await world.pay({ payer });
    const faucet = await world.ask({
      kind: 'faucet',
      payload: { to: payer.address, amount: '1' },
    });
    await takeOver();
    await assert.rejects(sendPaymentsNow(sender()), SenderLost);
    await assert.rejects(sendUnbatched(sender()), SenderLost);
    assert.equal(await world.countRows('chain_transactions'), 0);
    assert.equal(await world.countRows(`chain_requests where status = 'queued'`), 2);
    await world.database.db.query('delete from chain_requests where subject_id = any($1)', [
      [payment, faucet],
    ]);
  });

  it('takes no job that another worker is working on, and does not wait for it', async () => {
    const payment = await world.pay({ payer });
    const faucet = await world.ask({
      kind: 'faucet',
      payload: { to: payer.address, amount: '1' },
    });
    const subjects = [[payment, faucet]];
    const other = await underWay(world.database.db, (tx) =>
      tx.query(
        'select 1 as held from chain_requests where subject_id = any($1) for update',
        subjects,
      ),
    );
    for (const send of [sendPaymentsNow, sendUnbatched]) {
      const sent = send(sender());
      const waits = waitingForLocks(world.database.db, 1).then(() => 'waits');
      assert.equal(await Promise.race([sent, waits]), 0);
    }
    await other.commit();
    await world.database.db.query(
      'delete from chain_requests where subject_id = any($1)',
      subjects,
    );
  });

  it('with an outdated fencing token stores no result, and its successor does', async () => {
    const payment = await world.pay({ payer });
    assert.equal(await sendPaymentsNow(sender()), 1);
    await world.network.mine();
    const head = present(await world.network.chain.block('latest'), 'head');
    await takeOver();
    await assert.rejects(collectReceipts(worker, head), SenderLost);
    assert.equal(await world.outcome(payment), null);
    worker.letGo(...worker.senders.keys());
    await keepSenders(worker);
    await collectReceipts(worker, head);
    assert.equal((await world.outcome(payment))?.succeeded, true);
  });

  it('keeps its fencing token while it stores a result', async () => {
    const { fencingToken } = sender();
    const held = {
      livemode: false,
      owner: worker.owner,
      senders: [0],
      fencingTokens: [fencingToken],
    };
    const writing = await underWay(world.database.db, (tx) => shareHeldSenders(tx, held));
    const taken = takeOver();
    await waitingForLocks(world.database.db, 1);
    await writing.commit();
    await taken;
    const late = world.database.db.transaction((tx) => shareHeldSenders(tx, held));
    await assert.rejects(late, SenderLost);
  });

  it('reopens no blocks of senders that others hold', async () => {
    const blockHash = `0x${'bb'.repeat(32)}` as const;
    await world.database.db.query(
      `update chain_transactions set status = 'mined', block_hash = $1 where sender = 0`,
      [blockHash],
    );
    assert.equal(await world.countRows(`chain_transactions where status = 'mined'`), 1);
    const mined = { livemode: false, blockHashes: [blockHash] };
    const reopened = (senders: number[]) =>
      world.database.db.transaction((tx) => reopenBlocks(tx, { ...mined, senders }));
    assert.deepEqual(await reopened([1, 2]), []);
    assert.equal(await world.countRows(`chain_transactions where status = 'mined'`), 1);
    assert.deepEqual(await reopened([0, 1]), [{ sender: 0 }]);
  });

  it('with an outdated fencing token renews no lease', async () => {
    await takeOver();
    await world.database.db.query(`update relayer_senders set lease_owner = 'quick'`);
    await keepSenders(worker);
    assert.equal(worker.senders.size, 0);
  });
});
