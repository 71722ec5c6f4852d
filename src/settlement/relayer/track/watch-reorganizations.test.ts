import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import type { Block } from '#settlement/chain/chain.ts';
import { timeoutBlocks } from '#settlement/relayer/state-machine/chain-view.ts';
import type { RelayerState } from '#settlement/relayer/state-machine/relayer-state.ts';
import { collectReceipts } from '#settlement/relayer/track/collect-receipts.ts';
import { watchBlocks } from '#settlement/relayer/track/watch-reorganizations.ts';
import { idleRelayer } from '#testkit/fixtures/settlement/idle-relayer.ts';
import { sendPaymentsNow } from '#testkit/fixtures/settlement/relayer-turns.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';

let world: RelayerWorld;
let payer: PrivateKeyAccount;
let worker: RelayerState;

before(async () => {
  world = await startRelayerWorld();
  payer = await world.network.addPayer();
  worker = await idleRelayer(world);
});
after(() => world.stop());

const newest = async () => present(await world.network.chain.block('latest'), 'head');
const withStatus = (status: string) =>
  world.countRows(`chain_transactions where status = '${status}'`);

const look = (head: Block, isReorganized: boolean) => watchBlocks(worker, head, isReorganized);

async function settle(): Promise<void> {
  await sendPaymentsNow(present(worker.senders.get(0), 'sender'));
  await world.network.mine();
  await collectReceipts(worker, await newest());
}

test('a block that left the chain is never marked final: its payments are sent again', async () => {
  const id = await world.pay({ payer, settleWithinS: 600 });
  await settle();
  assert.equal((await world.outcome(id))?.succeeded, true);
  await world.network.rpc.call('anvil_reorg', [1, []]);
  assert.equal(await world.balance(), 0n);
  // Mine enough blocks that the transaction's block is final when the relayer polls again.
  await world.network.mine(80);
  worker.see({ head: await newest() });
  await look(present(worker.head, 'head'), false);
  assert.deepEqual([await withStatus('finalized'), await withStatus('signed')], [0, 1]);
  await world.network.mine();
  await collectReceipts(worker, await newest());
  assert.equal(await withStatus('mined'), 1);
  assert.equal(await world.balance(), 1_000_000n);
});

test('a lagging node may lack the newest block; a shorter chain has lost that block', async () => {
  await world.pay({ payer, settleWithinS: 600 });
  await settle();
  const head = await newest();
  const waiting = await withStatus('mined');
  await world.network.rpc.call('anvil_rollback', [1]);
  await look(head, true);
  assert.equal(await withStatus('mined'), waiting);
  await look(await newest(), true);
  assert.equal(await withStatus('mined'), waiting - 1);
  assert.equal(await withStatus('signed'), 1);
});

test('a block counts as missing once no lagging node can lack it, and no sooner', async () => {
  await world.pay({ payer, settleWithinS: 600 });
  await settle();
  const waiting = await withStatus('mined');
  const lag = timeoutBlocks(worker, 3);
  await world.network.mine(Number(lag));
  const head = await newest();
  await world.network.rpc.call('anvil_rollback', [Number(lag) + 1]);
  await look(head, true);
  assert.equal(await withStatus('mined'), waiting, 'a node may be so many blocks behind');
  await look({ ...head, number: head.number + 1n }, true);
  assert.equal(await withStatus('mined'), waiting - 2, 'both payments of that block');
});
