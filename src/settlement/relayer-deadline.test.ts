import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import { type RelayerWorld, startRelayerWorld } from '#testing/relayer-world.ts';

describe('the deadline of a payment', () => {
  let world: RelayerWorld;
  let payer: PrivateKeyAccount;

  beforeEach(async () => {
    world = await startRelayerWorld();
    [payer] = (await world.network.addPayers(1)) as [PrivateKeyAccount];
  });

  afterEach(() => world.stop());

  /** The payment's time as it will be seen from now on. */
  async function setLeft(id: string, left: string): Promise<void> {
    await world.database.db.query(
      'update chain_requests set deadline = now() + $2::interval where subject_id = $1',
      [id, left],
    );
  }

  const signed = () => world.count('select count(*) from chain_transactions');

  for (const left of ['9.5 seconds', '-30 hours']) {
    it(`is obeyed: nothing is signed for a payment with ${left} left`, async () => {
      const late = await world.pay({ payer });
      await setLeft(late, left);
      const inTime = await world.pay({ payer });
      world.startRelayer();
      const stopMining = world.network.mineEvery(50);
      await world.outcomes([inTime]);
      await sleep(1_500);
      await stopMining();
      assert.equal(await signed(), 1);
      assert.equal(await world.outcome(late), null);
      const { merchantNumber } = world.merchant;
      assert.equal(await world.network.merchantBalance(merchantNumber), 1_000_000n);
    });
  }

  it('is obeyed also for one that goes alone because its batch gave no answer', async () => {
    const late = await world.pay({ payer });
    await world.database.db.query('update chain_requests set tries = 1');
    await setLeft(late, '9.5 seconds');
    world.startRelayer();
    const stopMining = world.network.mineEvery(50);
    await sleep(1_500);
    await stopMining();
    assert.equal(await signed(), 0);
  });
});
