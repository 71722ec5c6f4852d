import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import {
  askRefund,
  type OddWorld,
  postSwitch,
  startOddWorld,
  switchContract,
} from '#testkit/fixtures/settlement/relayer-scene.ts';
import { headFollowed } from '#testkit/fixtures/settlement/relayer-turns.ts';
import { assertSucceeded } from '#testkit/fixtures/settlement/relayer-world.ts';
import { type FaultyNode, type NodeCall, startFaultyNode } from '#testkit/network/faulty-node.ts';

const GONE = 'missing trie node: the state is not available';

/** Nodes that cannot answer one kind of request, but answer all others. */
describe('one request that a node cannot answer', () => {
  const database = databaseForTests(12);
  let world: OddWorld<FaultyNode>;
  let node: FaultyNode;
  let payers: PrivateKeyAccount[];
  let reverted: string;
  let revertedIn: number;

  beforeEach(async () => {
    world = await startOddWorld(startFaultyNode, { database });
    [node] = world.nodes as [FaultyNode];
    payers = await world.network.addPayers(3);
    world.startRelayer();
  });

  afterEach(() => world.stop());

  /** Mines blocks one by one, and waits until the relayer has followed each. */
  async function passHeads(): Promise<void> {
    for (let i = 0; i < 4; i++) {
      await world.network.mine();
      await headFollowed(node);
    }
  }

  /** Makes a refund whose transaction reverts, while the node refuses the given calls about it. */
  async function revertRefund(refuse: (call: NodeCall) => boolean): Promise<void> {
    const [payer] = payers as [PrivateKeyAccount];
    const sale = await world.pay({ payer, amount: 5_000_000n });
    await world.mineOutcomes([sale]);
    const paymentId = await world.recordPayment(sale);
    reverted = await askRefund(world, paymentId, 1_000_000n);
    await world.network.pending();
    node.refuse = (call) => (refuse(call) ? GONE : null);
    const baseFee = (await world.network.chain.block('latest'))?.baseFeePerGas ?? 0n;
    await postSwitch(world.network, 'pauseRefunding', baseFee * 9n);
    await world.network.mine();
    revertedIn = Number(await world.network.rpc.call('eth_blockNumber', []));
  }

  async function settleAll(): Promise<void> {
    const ids = await world.payMany(payers.map((payer) => ({ payer })));
    assertSucceeded(await world.mineOutcomes(ids));
  }

  const isCall = ({ method }: NodeCall) => method === 'eth_call';
  const isOldCall = (call: NodeCall) =>
    isCall(call) && call.params[1] !== 'latest' && Number(call.params[1]) <= revertedIn;

  it('does not delay other results, and operators are alerted', async () => {
    await revertRefund(isCall);
    await settleAll();
    assert.equal(await world.outcome(reverted), null);
    await world.mineUntilRows(1, `chain_alarms where kind = 'outcome_unreadable'`);
    const foreign = `select count(*) from chain_transactions where status = 'foreign'`;
    assert.equal(await world.count(foreign), 0);
    await switchContract(world.network, 'unpauseRefunding');
    await passHeads();
    node.refuse = () => null;
    assertSucceeded(await world.mineOutcomes([reverted]));
  });

  it("is decided from the head's state if its block's state was pruned", async () => {
    await revertRefund(isCall);
    await switchContract(world.network, 'unpauseRefunding');
    await passHeads();
    node.refuse = (call) => (isOldCall(call) ? GONE : null);
    assertSucceeded(await world.mineOutcomes([reverted]));
    assert.equal(await world.balance(), 4_000_000n);
  });

  it('for one receipt leaves the other receipts readable', async () => {
    const [payer] = payers as [PrivateKeyAccount];
    const request = await world.pay({ payer });
    await world.network.pending();
    const [{ tx_hash: hash } = { tx_hash: '' }] = await database.db.query<{ tx_hash: string }>(
      'select tx_hash from chain_attempts',
    );
    node.refuse = ({ method, params }) =>
      method === 'eth_getTransactionReceipt' && params[0] === hash ? 'indexing' : null;
    await settleAll();
    assert.equal(await world.outcome(request), null);
    node.refuse = () => null;
    await world.mineOutcomes([request]);
  });
});
