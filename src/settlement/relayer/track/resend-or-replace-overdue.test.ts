import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { type OddWorld, startOddWorld } from '#testkit/fixtures/settlement/relayer-scene.ts';
import { headFollowed } from '#testkit/fixtures/settlement/relayer-turns.ts';
import { assertSucceeded } from '#testkit/fixtures/settlement/relayer-world.ts';
import { type ProviderProxy, startProviderProxy } from '#testkit/network/provider-proxy.ts';

/**
 * The poll interval of an idle chain. Longer than the test, so that the head is polled only while a
 * payment waits.
 */
const NEVER_MS = 600_000;
const WAIT_MS = 15_000;

describe('a transaction that is not mined yet', () => {
  let world: OddWorld<ProviderProxy>;
  let proxy: ProviderProxy;
  let payer: PrivateKeyAccount;
  let broadcasts: unknown[];

  beforeEach(async () => {
    world = await startOddWorld(startProviderProxy, { config: { idleHeadMs: NEVER_MS } });
    [proxy] = world.nodes as [ProviderProxy];
    payer = await world.network.addPayer();
    world.startRelayer();
    const stopMining = world.network.mineEvery(30);
    await world.outcomes([await world.pay({ payer })]);
    await stopMining();
    broadcasts = [];
    proxy.behavior = {
      keeps: (call) => {
        if (call.method === 'eth_sendRawTransaction') broadcasts.push(call.params[0]);
        return false;
      },
    };
  });

  afterEach(() => world.stop());

  it('is not sent again because of blocks that were mined before it was sent', async () => {
    await world.network.mine(9);
    const id = await world.pay({ payer });
    await world.network.pending();
    await headFollowed(proxy);
    assert.equal(broadcasts.length, 1);
    await world.network.mine();
    assertSucceeded(await world.outcomes([id]));
    assert.equal(broadcasts.length, 1);
  });

  it('is sent again after two blocks without it', async () => {
    proxy.behavior = {
      keeps: (call) => {
        if (call.method !== 'eth_sendRawTransaction') return false;
        broadcasts.push(call.params[0]);
        return broadcasts.length === 1;
      },
    };
    const id = await world.pay({ payer });
    const stopMining = world.network.mineEvery(100);
    assertSucceeded(await world.outcomes([id]));
    await stopMining();
    assert.equal(broadcasts[0], broadcasts[1]);
  });

  it('is sent again although hundreds of blocks were mined just before it', async () => {
    // Mine in parts: on a busy machine, mining 800 blocks takes longer than a node's time limit.
    for (let i = 0; i < 8; i++) await world.network.rpc.call('anvil_mine', ['0x64']);
    const stopMining = world.network.mineEvery(100);
    await world.outcomes([await world.pay({ payer })]);
    // Mines blocks after a long pause between polls, so that the estimated block time suggests many
    // more blocks.
    const head = async () => Number(await world.network.rpc.call('eth_blockNumber', []));
    const end = (await head()) + 18;
    assert(await waitUntil(async () => (await head()) >= end, WAIT_MS));
    let kept = 0;
    proxy.behavior = {
      keeps: ({ method }) => method === 'eth_sendRawTransaction' && kept++ === 0,
    };
    assertSucceeded(await world.outcomes([await world.pay({ payer })]));
    await stopMining();
    assert.equal(kept, 2);
  });
});
