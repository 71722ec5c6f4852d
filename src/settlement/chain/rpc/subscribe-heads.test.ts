import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Log, silentLog } from '#observability/log.ts';
import { connectRpc, type Rpc } from '#settlement/chain/rpc/rpc.ts';
import {
  type AnnouncedHead,
  type HeadSubscription,
  headsAdvice,
  headsUrlOf,
  subscribeHeads,
} from '#settlement/chain/rpc/subscribe-heads.ts';
import { startTcpProxy, type TcpProxy } from '#testkit/network/tcp-proxy.ts';
import { startThrowawayChain, type ThrowawayChain } from '#testkit/network/throwaway-chain.ts';

const CHAIN_ID = 31_401;
const WAIT_MS = 10_000;

describe('a node that announces blocks', () => {
  let node: ThrowawayChain;
  let rpc: Rpc;
  let wire: TcpProxy;
  let heads: HeadSubscription | null = null;
  let told: AnnouncedHead[] = [];
  let warnings: unknown[][] = [];
  const log: Log = { ...silentLog, warn: (...line) => warnings.push(line) };

  before(async () => {
    node = await startThrowawayChain({ chainId: CHAIN_ID, blockTime: 'manual' });
    rpc = connectRpc({ urls: [node.rpcUrl], chainId: CHAIN_ID, log: silentLog });
    wire = await startTcpProxy(Number(new URL(node.rpcUrl).port));
  });

  afterEach(() => {
    heads?.stop();
    [told, warnings] = [[], []];
    wire.onClientBytes = () => 'pass';
  });

  after(async () => {
    await wire.close();
    await rpc.close();
    await node.stop();
  });

  function subscribe(): HeadSubscription {
    const url = `ws://127.0.0.1:${wire.port}/?key=secret-key`;
    heads = subscribeHeads(url, (head) => told.push(head), log);
    return heads;
  }

  async function until(done: () => boolean, what: string): Promise<void> {
    const deadline = performance.now() + WAIT_MS;
    while (!done()) {
      assert(performance.now() < deadline, what);
      await sleep(10);
    }
  }

  it('reports each block with its parent', async () => {
    const own = subscribe();
    await until(own.isLive, 'no subscription');
    await rpc.call('evm_mine', []);
    await rpc.call('evm_mine', []);
    await until(() => told.length === 2, 'no blocks');
    const [first, second] = told as [AnnouncedHead, AnnouncedHead];
    assert.equal(second.number, first.number + 1n);
    assert.equal(second.parentHash, first.hash);
  });

  it('is connected again when the connection breaks, and polling continues meanwhile', async () => {
    const own = subscribe();
    await until(own.isLive, 'no subscription');
    wire.onClientBytes = () => 'cut';
    wire.cutAll();
    await until(() => !own.isLive(), 'still said to tell');
    assert.equal(warnings.length, 1);
    assert(!JSON.stringify(warnings).includes('secret-key'));
    wire.onClientBytes = () => 'pass';
    await until(own.isLive, 'no second subscription');
    await rpc.call('evm_mine', []);
    await until(() => told.length === 1, 'no blocks');
  });

  it('is not waited for when it refuses subscriptions', async () => {
    let requests = 0;
    wire.onClientBytes = (text) => {
      if (text.startsWith('GET ')) requests++;
      return 'cut';
    };
    const own = subscribe();
    // Wait for two requests: the second one follows the first refusal.
    await until(() => requests >= 2, 'no second request was sent');
    assert.equal(own.isLive(), false);
    // The node never announced a block, so its silence causes no warning.
    assert.equal(warnings.length, 0);
  });
});

describe('the URL at which a node announces blocks', () => {
  it('is the RPC URL with another scheme, and with another path for Infura', () => {
    assert.equal(headsUrlOf('https://x.example/v2/k?a=b'), 'wss://x.example/v2/k?a=b');
    assert.equal(headsUrlOf('http://127.0.0.1:8545'), 'ws://127.0.0.1:8545/');
    assert.equal(headsUrlOf('https://a.infura.io/v3/k'), 'wss://a.infura.io/ws/v3/k');
    assert.equal(headsUrlOf('https://infura.io.example/v3/k'), 'wss://infura.io.example/v3/k');
  });

  it('is suggested in one line if none is set', () => {
    const advice = headsAdvice({ network: 'testnet', headsUrl: null }) ?? '';
    assert.match(advice, /^CHAIN_TESTNET_WS_URL is not set: .* "auto"/);
    assert.doesNotMatch(advice, /\n/);
    assert.equal(headsAdvice({ network: 'testnet', headsUrl: 'ws://x' }), null);
  });
});
