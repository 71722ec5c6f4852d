import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Behaviour } from '#testing/provider-behaviours.ts';
import { type ProviderProxy, startProviderProxy } from '#testing/provider-proxy.ts';
import { type RelayerWorld, startRelayerWorld } from '#testing/relayer-world.ts';

const BLOCK_MS = 100;
const WAIT_MS = 60_000;
const EARLIER = 3;
/** By both addresses. */
const LOST = 2;
/** The transaction that is late, and what outbids it. */
const MOST_BYTES = 2;

let world: RelayerWorld;
const proxies: ProviderProxy[] = [];
let payer: PrivateKeyAccount;
let stopMining: () => Promise<void>;

before(async () => {
  world = await startRelayerWorld(async (rpcUrl) => {
    proxies.push(await startProviderProxy(rpcUrl), await startProviderProxy(rpcUrl));
    return { rpcUrls: proxies.map(({ url }) => url) };
  });
  [payer] = (await world.network.addPayers(1)) as [PrivateKeyAccount];
  stopMining = world.network.mineEvery(BLOCK_MS);
  world.startRelayer();
});

after(async () => {
  await stopMining();
  await world.stop();
  await Promise.all(proxies.map((proxy) => proxy.stop()));
});

async function payOne(): Promise<void> {
  const [outcome] = await world.outcomes([await world.pay({ payer })], WAIT_MS);
  assert.equal(outcome?.succeeded, true);
}

/** Notes what is sent, and lets it get lost the first time. */
function listening(sent: unknown[]): Behaviour {
  return {
    keeps: ({ method, params }) => {
      if (method !== 'eth_sendRawTransaction') return false;
      sent.push(params[0]);
      return sent.length <= LOST;
    },
  };
}

it('no nonce is used again because one of two addresses has forgotten it', async () => {
  for (let times = 0; times < EARLIER; times++) await payOne();
  const [first, second] = proxies;
  assert(first !== undefined && second !== undefined);
  const sent: unknown[] = [];
  second.behaviour = listening(sent);
  let forgot = 0;
  first.behaviour = {
    ...listening(sent),
    answer: ({ method }, real) => {
      if (method !== 'eth_getTransactionCount') return real;
      forgot++;
      return { result: '0x0' };
    },
  };
  await payOne();
  assert(forgot > 0, 'nobody asked for the nonce');
  const different = new Set(sent).size;
  assert(different <= MOST_BYTES, `${different} transactions were sent for one payment`);
});
