import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type BusyWorld, startBusyWorld } from '#testkit/fixtures/settlement/relayer-scene.ts';
import { assertSucceeded } from '#testkit/fixtures/settlement/relayer-world.ts';
import type { Behavior } from '#testkit/network/provider-behaviors.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';

const BLOCK_MS = 100;
const WAIT_MS = 60_000;
const EARLIER = 3;
/** The number of broadcasts that are lost, one per address. */
const LOST = 2;
/** The most broadcasts that may be made: the late transaction, and one that outbids it. */
const MOST_BYTES = 2;

let world: BusyWorld<ProviderProxy>;

before(async () => {
  world = await startBusyWorld(startProviderProxy, { nodes: 2, blockMs: BLOCK_MS });
});

after(() => world.stop());

async function payOne(): Promise<void> {
  assertSucceeded(await world.outcomes([await world.pay({ payer: world.payer })], WAIT_MS));
}

/** Records broadcasts, and loses each of them the first time. */
function listening(sent: unknown[]): Behavior {
  return {
    keeps: ({ method, params }) => {
      if (method !== 'eth_sendRawTransaction') return false;
      sent.push(params[0]);
      return sent.length <= LOST;
    },
  };
}

it('no nonce is used twice because one of two addresses has forgotten it', async () => {
  for (let times = 0; times < EARLIER; times++) await payOne();
  const [first, second] = world.nodes as [ProviderProxy, ProviderProxy];
  const sent: unknown[] = [];
  second.behavior = listening(sent);
  let forgot = 0;
  first.behavior = {
    ...listening(sent),
    answer: ({ method }, real) => {
      if (method !== 'eth_getTransactionCount') return real;
      forgot++;
      return { result: '0x0' };
    },
  };
  await payOne();
  assert(forgot > 0, 'the nonce was never requested');
  const different = new Set(sent).size;
  assert(different <= MOST_BYTES, `${different} transactions were sent for one payment`);
});
