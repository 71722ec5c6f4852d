import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import { silentLog } from '#observability/log.ts';
import { createPaymentCheck } from '#settlement/chain/check/check-payment.ts';
import { connectRpc } from '#settlement/chain/rpc/rpc.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';
import { askRefund, askWithdrawal } from '#testkit/fixtures/settlement/relayer-scene.ts';
import {
  type RelayerWorld,
  startRelayerWorld,
} from '#testkit/fixtures/settlement/relayer-world.ts';
import type { StartNode } from '#testkit/network/test-network.ts';
import { startThrowawayChain } from '#testkit/network/throwaway-chain.ts';

const DAY_S = 86_400;
const LAG_S = 7_200;
const BLOCK_MS = 60;
const WAIT_MS = 60_000;
const AMOUNT = 5_000_000n;
const PART = 1_000_000n;
/** The relayer follows the blocks with the wrong clock for this long before the first payment. */
const LEARN_MS = 600;

/** Makes the chain's clock wrong. @returns a function that corrects it again. */
type OddClock = (world: RelayerWorld) => Promise<() => Promise<void>>;

const call = ({ network }: RelayerWorld, method: string, params: readonly unknown[]) =>
  network.rpc.call(method, params);
const nothing = async () => {};

/** Makes the chain's clock differ from ours by this many seconds, from the next block on. */
async function setOff(world: RelayerWorld, seconds: number): Promise<void> {
  await call(world, 'anvil_setTime', [Math.floor(Date.now() / 1_000) + seconds]);
}

/** Applies the next change to the chain's clock after each interval. */
function inTurns(everyMs: number, steps: readonly ((world: RelayerWorld) => Promise<unknown>)[]) {
  return async (world: RelayerWorld) => {
    let stopped = false;
    const done = (async () => {
      for (let at = 0; !stopped; at++) {
        await steps[at % steps.length]?.(world);
        await sleep(everyMs);
      }
    })();
    return () => {
      stopped = true;
      return done;
    };
  };
}

const stand = (world: RelayerWorld) => call(world, 'anvil_setBlockTimestampInterval', [0]);
const goOn = (world: RelayerWorld) => call(world, 'anvil_removeBlockTimestampInterval', []);

const CLOCKS: Readonly<Record<string, OddClock>> = {
  stops: async (world) => {
    await stand(world);
    return async () => void (await goOn(world));
  },
  'stops and continues, in turn': inTurns(400, [stand, goOn]),
  'is thirty days ahead': async (world) => {
    await setOff(world, 30 * DAY_S);
    return nothing;
  },
  // Nothing to change: the world starts with this lag.
  'lags two hours behind': async () => nothing,
  'lags two hours behind, then suddenly catches up': async (world) => {
    const timer = setTimeout(() => void setOff(world, 0), 2 * LEARN_MS);
    return async () => clearTimeout(timer);
  },
  'jumps an hour ahead, again and again': inTurns(300, [
    (world) => call(world, 'evm_increaseTime', [3_600]),
  ]),
};

const startLagging: StartNode = async (chainId) => {
  const node = await startThrowawayChain({ chainId, blockTime: 'manual' });
  const rpc = connectRpc({ urls: [node.rpcUrl], chainId, log: silentLog });
  await rpc.call('anvil_setTime', [Math.floor(Date.now() / 1_000) - LAG_S]);
  await rpc.close();
  return node;
};

describe("taps, refunds and withdrawals end correctly while the chain's clock", () => {
  const database = databaseForTests(12);
  let world: RelayerWorld;
  let payer: PrivateKeyAccount;
  let broke: PrivateKeyAccount;

  beforeEach(async () => {
    // Start a new world, because a chain's time never decreases: a lagging clock must lag from the
    // first block on.
    world = await startRelayerWorld(undefined, database, startLagging);
    payer = await world.network.addPayer();
    broke = await world.network.addPayer({ perPayment: null });
    world.network.mineEvery(BLOCK_MS);
    world.startRelayer();
  });

  afterEach(() => world.stop());

  async function payTwice(): Promise<string> {
    const { merchantNumber } = world.merchant;
    const check = createPaymentCheck(world.network.chain);
    const sale = { merchantNumber, payer: payer.address, amount: AMOUNT, orderId: 'A' };
    assert.deepEqual(await check(sale), { status: 'ok' });
    const ids = await world.payMany([
      { payer, amount: AMOUNT },
      { payer: broke, amount: AMOUNT },
      { payer, amount: AMOUNT },
    ]);
    const outcomes = await world.outcomes(ids, WAIT_MS);
    assert.deepEqual(
      outcomes.map(({ succeeded, reason }) => reason ?? succeeded),
      [true, 'approval_insufficient', true],
    );
    return ids[0] ?? '';
  }

  async function payOut(sale: string): Promise<void> {
    const paymentId = await world.recordPayment(sale);
    const requests = [await askRefund(world, paymentId, PART), await askWithdrawal(world, PART)];
    const outcomes = await world.outcomes(requests, WAIT_MS);
    assert.deepEqual(
      outcomes.map(({ succeeded, reason }) => reason ?? succeeded),
      [true, true],
    );
  }

  for (const [name, start] of Object.entries(CLOCKS)) {
    it(name, async () => {
      const stop = await start(world);
      try {
        await sleep(LEARN_MS);
        await payOut(await payTwice());
        await payOut(await payTwice());
      } finally {
        await stop();
      }
      assert.equal(await world.balance(), 4n * AMOUNT - 4n * PART);
      assert.equal(await world.countRows('chain_alarms'), 0);
    });
  }
});

describe('a payout', () => {
  it('is not refused because of a block that is older than the request', async () => {
    const terms = { payoutHold: DAY_S };
    // An idle chain is not polled during this test. In production, polls are seconds apart.
    const idle = () => ({ idleHeadMs: 600_000 });
    const world = await startRelayerWorld(idle, undefined, undefined, terms);
    const payer = await world.network.addPayer();
    world.startRelayer();
    const stopFirst = world.network.mineEvery(BLOCK_MS);
    await world.outcomes([await world.pay({ payer, amount: AMOUNT })], WAIT_MS);
    await stopFirst();
    // The hold ends in a block that the relayer has not followed.
    await call(world, 'evm_increaseTime', [DAY_S]);
    await world.network.mine();
    const request = await askWithdrawal(world, PART);
    world.network.mineEvery(BLOCK_MS);
    const [outcome] = await world.outcomes([request], WAIT_MS);
    assert.equal(outcome?.succeeded, true, outcome?.reason);
    assert.equal(await world.network.usdcOf(world.merchant.wallet.address), PART);
    await world.stop();
  });
});
