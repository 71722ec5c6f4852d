import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import type { RelayerState } from '#settlement/relayer/state-machine/relayer-state.ts';
import { collectReceipts } from '#settlement/relayer/track/collect-receipts.ts';
import { idleRelayer } from '#testkit/fixtures/settlement/idle-relayer.ts';
import { sendPaymentsNow } from '#testkit/fixtures/settlement/relayer-turns.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';

let world: RelayerWorld;
let payer: PrivateKeyAccount;

before(async () => {
  world = await startRelayerWorld();
  payer = await world.network.addPayer();
});
after(() => world.stop());

const senderOf = (worker: RelayerState, sender: number) =>
  present(worker.senders.get(sender), 'sender');
async function mine(worker: RelayerState): Promise<void> {
  await world.network.mine();
  await collectReceipts(worker, present(await world.network.chain.block('latest'), 'head'));
}

async function settle(worker: RelayerState, sender: number): Promise<void> {
  await world.pay({ payer, settleWithinS: 600 });
  assert.equal(await sendPaymentsNow(senderOf(worker, sender)), 1);
  await mine(worker);
}

test('a sender ahead of the chain resends its transactions, and fills empty nonces', async () => {
  const { db } = world.database;
  const first = await idleRelayer(world);
  await settle(first, 1);
  await settle(first, 0);
  assert.equal(await world.balance(), 2_000_000n);
  // Simulates a chain that has lost blocks that seemed final, and a ledger that has lost the
  // transactions signed afterwards.
  await db.query(`update chain_transactions set status = 'finalized', finalized_at = now()`);
  await db.query('update relayer_senders set next_nonce = 3 where sender = 0');
  await world.network.rpc.call('anvil_reorg', [1, []]);
  assert.equal(await world.balance(), 1_000_000n);

  const second = await idleRelayer(world);
  const sender = senderOf(second, 0);
  assert.deepEqual([...sender.open.keys()], [0n, 1n, 2n]);
  const apart = `chain_transactions t
    join chain_attempts a on a.transaction_id = t.id where cancels and t.xmin <> a.xmin`;
  assert.equal(await world.countRows(apart), 0, 'a nonce is stored with the bytes that fill it');
  assert.equal(senderOf(second, 1).open.size, 0, 'nothing of the other sender was undone');
  await mine(second);
  assert.equal(await world.balance(), 2_000_000n);
  assert.deepEqual(await world.network.chain.nonces([sender.address]), [3n]);
  const rows = await db.query(
    `select t.sender, t.nonce, t.status, a.cancels from chain_transactions t
     join chain_attempts a on a.transaction_id = t.id order by t.sender, t.nonce`,
  );
  assert.deepEqual(rows, [
    { sender: 0, nonce: 0n, status: 'mined', cancels: false },
    { sender: 0, nonce: 1n, status: 'mined', cancels: true },
    { sender: 0, nonce: 2n, status: 'mined', cancels: true },
    { sender: 1, nonce: 0n, status: 'finalized', cancels: false },
  ]);
});
