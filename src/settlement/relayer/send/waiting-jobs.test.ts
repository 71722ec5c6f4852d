import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { present } from '#core/assert.ts';
import { sendUnbatched } from '#settlement/relayer/send/send-jobs.ts';
import { idleRelayer } from '#testkit/fixtures/settlement/idle-relayer.ts';
import { askWithdrawal } from '#testkit/fixtures/settlement/relayer-scene.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';

/** More jobs than one poll prepares. */
const WAITING = 12;
/** Longer than a deferred job waits until it is tried again. */
const DUE_MS = 2_100;

describe('jobs that wait for a node', () => {
  let world: RelayerWorld;

  before(async () => {
    world = await startRelayerWorld();
  });

  after(() => world.stop());

  it('delay no younger job, even if all of them are due again', async () => {
    const relayer = await idleRelayer(world);
    const sender = present([...relayer.senders.values()][0], 'sender');
    // The chain does not have the refund's payment, so each poll defers the refund.
    const payload = { paymentId: 'pay_missing', paymentNumber: '1', amount: '1' };
    for (let i = 0; i < WAITING; i++) {
      await world.ask({
        kind: 'refund',
        payload: { ...payload, reference: `0x${'1'.repeat(32)}` },
      });
    }
    // The first polls find the jobs, eight at a time, and the last one finds none.
    for (let i = 0; i < 3; i++) assert.equal(await sendUnbatched(sender), 0);
    await sleep(DUE_MS);
    const younger = await askWithdrawal(world, 1n);
    assert.equal(await sendUnbatched(sender), 1);
    assert.notEqual(await world.outcome(younger), null);
  });
});
