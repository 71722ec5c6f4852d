import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { generatePrivateKey } from 'viem/accounts';
import type { Failpoint } from '#core/failpoints.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { signTransfer, transferPayload } from '#testkit/fixtures/payers/sign-transfer.ts';
import {
  assertSucceeded,
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';

const VALUE = 1_000_000n;
const FINAL_MS = 30_000;
const POINTS: readonly Failpoint[] = [
  'settlement.signed_committed',
  'settlement.broadcast_sent',
  'settlement.receipt_seen',
  'settlement.outcome_committed',
];

describe('transfers that the operator pays for', () => {
  let world: RelayerWorld;

  before(async () => {
    world = await startRelayerWorld(() => ({ sponsorKey: generatePrivateKey() }));
    world.network.mineEvery(60);
  });

  after(() => world.stop());

  async function transfer(): Promise<string> {
    const { network } = world;
    const payer = await network.addPayer({ usdc: VALUE });
    const { config, admin } = network;
    const signed = await signTransfer(config, payer, { to: admin.address, amount: Number(VALUE) });
    return world.ask({ kind: 'transfer', payload: transferPayload(payer.address, signed) });
  }

  const sentBy = (role: string) =>
    world.count(
      `select count(*) from chain_transactions join relayer_senders using (livemode, sender)
        where kind = 'transfer' and role = '${role}'`,
    );

  it('are sent only with the sponsor’s key if there is one', async () => {
    const relayer = world.startRelayer();
    assertSucceeded(await world.outcomes([await transfer()]));
    assert.deepEqual([await sentBy('sponsor'), await sentBy('operator')], [1, 0]);
    // The next test omits this key, and a start without it is refused until its transactions are
    // final.
    const open = "select count(*) from chain_transactions where status <> 'finalized'";
    assert.ok(await waitUntil(async () => (await world.count(open)) === 0, FINAL_MS));
    await relayer.stop();
  });

  it('are sent with an operator’s key if the sponsor’s was removed meanwhile', async () => {
    const accepted = await transfer();
    const relayer = world.startRelayer({ sponsorKey: null });
    assertSucceeded(await world.outcomes([accepted]));
    await relayer.stop();
    assert.deepEqual([await sentBy('sponsor'), await sentBy('operator')], [1, 1]);
  });

  for (const point of POINTS) {
    it(`are made once if the relayer died at ${point}`, async () => {
      const { network } = world;
      const before = await network.usdcOf(network.admin.address);
      const child = world.spawnRelayer(point);
      const request = await transfer();
      await child.ended;
      const relayer = world.startRelayer();
      assertSucceeded(await world.outcomes([request]));
      await relayer.stop();
      assert.equal(await network.usdcOf(network.admin.address), before + VALUE);
    });
  }
});
