import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { present } from '#core/assert.ts';
import { batchSize, meters, tapToSettled } from '#observability/process-metrics.ts';
import { sendUnbatched } from '#settlement/relayer/send/send-jobs.ts';
import { collectReceipts } from '#settlement/relayer/track/collect-receipts.ts';
import { idleRelayer } from '#testkit/fixtures/settlement/idle-relayer.ts';
import { sendPaymentsNow } from '#testkit/fixtures/settlement/relayer-turns.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';

let world: RelayerWorld;

before(async () => {
  world = await startRelayerWorld();
});
after(() => world.stop());

test('batch sizes and settlement times count payments, not jobs that are sent alone', async () => {
  const payer = await world.network.addPayer();
  const poor = await world.network.addPayer({ allowance: 0n });
  const worker = await idleRelayer(world);
  const sender = present(worker.senders.get(0), 'sender');
  await world.payMany([payer, payer, poor].map((one) => ({ payer: one, settleWithinS: 600 })));
  await world.ask({ kind: 'faucet', payload: { to: payer.address, amount: '1' } });
  meters.resetMetrics();
  assert.equal(await sendPaymentsNow(sender), 3);
  assert.equal(await sendUnbatched(sender), 1);
  await world.network.mine();
  await collectReceipts(worker, present(await world.network.chain.block('latest'), 'head'));
  const seen = async (histogram: typeof batchSize, part: 'count' | 'sum') =>
    (await histogram.get()).values.find(({ metricName }) => metricName?.endsWith(`_${part}`))
      ?.value;
  assert.deepEqual([await seen(batchSize, 'count'), await seen(batchSize, 'sum')], [1, 3]);
  assert.equal(await seen(tapToSettled, 'count'), 2, 'a declined payment has not settled');
});
