import assert from 'node:assert/strict';
import { afterEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '#observability/log.ts';
import { connectRpc, type Rpc, RpcRefusal, RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import { type ScriptedNode, startScriptedNode } from '#testkit/network/scripted-node.ts';

const CHAIN = 7;
const HASH = `0x${'11'.repeat(32)}`;
const OTHER_HASH = `0x${'22'.repeat(32)}`;
const BLOCK_HASH = `0x${'33'.repeat(32)}`;
const ADDRESS = `0x${'aa'.repeat(20)}`;
const LOG = {
  address: ADDRESS,
  topics: [],
  data: '0x',
  transactionHash: HASH,
  blockHash: BLOCK_HASH,
  blockNumber: '0x9',
  logIndex: '0x0',
  removed: false,
};
/** A reverted transaction's receipt, which has no logs that repeat its hash. */
const RECEIPT = {
  transactionHash: HASH,
  status: '0x0',
  blockNumber: '0x9',
  blockHash: BLOCK_HASH,
  from: ADDRESS,
  gasUsed: '0x5208',
  logs: [],
};

describe('JSON-RPC over several nodes', () => {
  const nodes: ScriptedNode[] = [];
  const rpcs: Rpc[] = [];

  afterEach(async () => {
    for (const rpc of rpcs.splice(0)) await rpc.close();
    for (const node of nodes.splice(0)) node.stop();
  });

  async function startNode(name: string, chainId = CHAIN): Promise<ScriptedNode> {
    const node = await startScriptedNode(name, chainId);
    nodes.push(node);
    return node;
  }

  function connect(...requests: ScriptedNode[]): Rpc {
    const urls = requests.map((node) => node.url);
    const rpc = connectRpc({ urls, chainId: CHAIN, timeoutsMs: [200], log: silentLog });
    rpcs.push(rpc);
    return rpc;
  }

  it('counts the time-out from the sending in a burst, and sends urgent calls first', async () => {
    const node = await startNode('a');
    let busy = 0;
    let most = 0;
    node.reply = () => ({ delayMs: 60, body: { result: 'a' } });
    const rpc = connect(node);
    await rpc.call('eth_warm', []);
    const done: string[] = [];
    const send = async (name: string, urgent: boolean) => {
      most = Math.max(most, ++busy);
      assert.equal(await rpc.call('eth_test', [], { urgent }), 'a');
      busy -= 1;
      done.push(name);
    };
    const burst = Array.from({ length: 60 }, () => send('record', false));
    await sleep(10);
    await Promise.all([...burst, send('tap', true)]);
    assert.equal(most, 61);
    assert.ok(done.indexOf('tap') <= 8, `${done.indexOf('tap')} records before the tap`);
  });

  it('takes calls that wait for a silent node to the next one', async () => {
    const [a, b] = [await startNode('a'), await startNode('b')];
    const rpc = connect(a, b);
    await rpc.call('eth_warm', []);
    a.reply = () => ({ silent: true });
    const began = performance.now();
    const calls = Array.from({ length: 40 }, () => rpc.call('eth_test', []));
    assert.deepEqual(new Set(await Promise.all(calls)), new Set(['b']));
    // Forty calls, eight at a time, would take five time-outs of 200 ms.
    assert.ok(performance.now() - began < 800, `${performance.now() - began} ms`);
  });

  it('asks the preferred node, and the next node while the preferred one fails', async () => {
    const [a, b] = [await startNode('a'), await startNode('b')];
    const rpc = connect(a, b);
    assert.equal(await rpc.call('eth_test', []), 'a');
    for (const broken of [
      { status: 429, body: {} },
      { silent: true },
      { body: { error: { code: -32005, message: 'limit exceeded' } } },
    ]) {
      a.reply = () => broken;
      assert.equal(await rpc.call('eth_test', []), 'b');
    }
  });

  it('asks a node that just failed after the others', async () => {
    const [a, b] = [await startNode('a'), await startNode('b')];
    const rpc = connect(a, b);
    a.reply = () => ({ silent: true });
    await rpc.call('eth_test', []);
    const before = a.calls.length;
    const started = performance.now();
    assert.equal(await rpc.call('eth_test', []), 'b');
    assert.equal(a.calls.length, before);
    assert(performance.now() - started < 150);
  });

  it('does not blame a node for requests that our own rate limit held back', async () => {
    const a = await startNode('a');
    const limits = { timeoutsMs: [200], perSecond: 2, log: silentLog };
    const rpc = connectRpc({ urls: [a.url], chainId: CHAIN, ...limits });
    rpcs.push(rpc);
    const calls = Array.from({ length: 4 }, () => rpc.call('eth_test', []).catch(() => null));
    assert((await Promise.all(calls)).includes(null), 'some waited in vain');
    assert.equal(rpc.inOrder()[0]?.isResting(), false);
  });

  it('treats a refusal as an answer: no other node is asked', async () => {
    const [a, b] = [await startNode('a'), await startNode('b')];
    a.reply = () => ({ body: { error: { code: 3, message: 'execution reverted', data: '0x01' } } });
    const rpc = connect(a, b);
    await assert.rejects(
      rpc.call('eth_call', []),
      (error) => error instanceof RpcRefusal && error.code === 3 && error.data === '0x01',
    );
    assert.deepEqual(b.calls, []);
  });

  it('never uses a node of another chain', async () => {
    const [wrong, right] = [await startNode('wrong', 8), await startNode('right')];
    const rpc = connect(wrong, right);
    assert.equal(await rpc.call('eth_test', []), 'right');
    assert.deepEqual(wrong.calls, ['eth_chainId']);
    assert.deepEqual(
      (await rpc.probe()).map((probed) => probed.chainId),
      [8, CHAIN],
    );
  });

  it('does not ban an address whose chain id could not be read', async () => {
    const [a, b] = [await startNode('a'), await startNode('b')];
    const rpc = connect(a, b);
    a.chainId = () => ({ body: { error: { code: -32_603, message: 'Internal error' } } });
    assert.equal(await rpc.call('eth_test', []), 'b');
    a.chainId = null;
    b.reply = () => ({ status: 500, body: {} });
    assert.equal(await rpc.call('eth_test', []), 'a');
  });

  /**
   * Replaces `performance.now`.
   * @returns a function that advances the clock.
   */
  function jumpingClock(t: TestContext): (ms: number) => void {
    const now = performance.now.bind(performance);
    let aheadMs = 0;
    t.mock.method(performance, 'now', () => now() + aheadMs);
    return (ms) => {
      aheadMs += ms;
    };
  }

  it('checks every second whether a provider still belongs to another chain', async (t) => {
    const pass = jumpingClock(t);
    const [a, b] = [await startNode('a', 8), await startNode('b')];
    const rpc = connect(a, b);
    assert.equal(await rpc.call('eth_test', []), 'b');
    a.chainId = () => ({ body: { result: `0x${CHAIN.toString(16)}` } });
    pass(800);
    assert.equal(await rpc.call('eth_test', []), 'b');
    assert.deepEqual(a.calls, ['eth_chainId']);
    // For five seconds the provider is tried last, but its chain id is still read.
    pass(6_000);
    assert.equal(await rpc.call('eth_test', []), 'a');
    assert.deepEqual(a.calls, ['eth_chainId', 'eth_chainId', 'eth_test']);
  });

  it('stops using a provider within a minute once it belongs to another chain', async (t) => {
    const pass = jumpingClock(t);
    const [a, b] = [await startNode('a'), await startNode('b')];
    const rpc = connect(a, b);
    assert.equal(await rpc.call('eth_test', []), 'a');
    a.chainId = () => ({ body: { result: '0x8' } });
    pass(61_000);
    // The check runs in the background, so one more answer is still accepted.
    await rpc.call('eth_test', []);
    await sleep(50);
    assert.equal(await rpc.call('eth_test', []), 'b');
  });

  it("checks sooner if a provider's answer suggests another chain", async (t) => {
    const pass = jumpingClock(t);
    const [a, b] = [await startNode('a'), await startNode('b')];
    const rpc = connect(a, b);
    assert.equal(await rpc.call('eth_test', []), 'a');
    a.chainId = () => ({ body: { result: '0x8' } });
    a.reply = () => ({ body: { error: { code: -32_000, message: 'invalid chain id' } } });
    pass(6_000);
    assert.equal(await rpc.call('eth_test', []), 'b');
    // From now on the provider's chain id is read before it is used.
    a.reply = () => ({ body: { result: 'a' } });
    pass(6_000);
    assert.equal(await rpc.call('eth_test', []), 'b');
    assert.deepEqual(a.calls, ['eth_chainId', 'eth_test', 'eth_test', 'eth_chainId']);
  });

  it('checks immediately if an answer contradicts known blocks', async () => {
    const a = await startNode('a');
    const rpc = connect(a);
    assert.equal(await rpc.call('eth_test', []), 'a');
    a.chainId = () => ({ body: { result: '0x8' } });
    await sleep(300);
    await rpc.confirmChain();
    await assert.rejects(rpc.call('eth_test', []), RpcUnavailable);
    a.chainId = null;
    await sleep(300);
    await rpc.confirmChain();
    assert.equal(await rpc.call('eth_test', []), 'a');
  });

  it('pauses a provider for as long as it requests, even if it is the only one', async () => {
    const a = await startNode('a');
    const rpc = connect(a);
    assert.equal(await rpc.call('eth_test', []), 'a');
    a.reply = () => ({
      body: { error: { code: -32_005, message: 'slow down, retry after 300ms' } },
    });
    await assert.rejects(rpc.call('eth_test', []), RpcUnavailable);
    const before = a.calls.length;
    a.reply = () => ({ body: { result: 'a' } });
    await assert.rejects(rpc.call('eth_test', []), RpcUnavailable);
    assert.equal(a.calls.length, before);
    await sleep(320);
    assert.equal(await rpc.call('eth_test', []), 'a');
  });

  it("keeps a node's answers to a batch, and asks the next node for the rest", async () => {
    const [a, b] = [await startNode('a'), await startNode('b')];
    const busy = { body: { error: { code: -32_029, message: 'Too Many Requests' } } };
    a.reply = (call) => (call.method === 'eth_one' ? busy : { body: { result: 'a' } });
    const calls = ['eth_one', 'eth_two'].map((method) => ({ method, params: [] }));
    const answers = await connect(a, b).batch(calls);
    assert.deepEqual(
      answers.map((answer) => (answer.ok ? answer.result : null)),
      ['b', 'a'],
    );
    assert.deepEqual(b.calls, ['eth_chainId', 'eth_one']);
  });

  it('concludes nothing from an invalid result', async () => {
    const [a, b] = [await startNode('a'), await startNode('b')];
    b.reply = () => ({ body: { result: '0x5208' } });
    for (const result of [null, '0x', '5208', 21_000, {}, '0x0']) {
      a.reply = () => ({ body: { result } });
      assert.equal(await connect(a, b).call('eth_estimateGas', []), '0x5208');
    }
  });

  it('accepts an estimate below 21,000, which later chains give', async () => {
    const [a, b] = [await startNode('a'), await startNode('b')];
    a.reply = () => ({ body: { result: '0x2ee0' } });
    assert.equal(await connect(a, b).call('eth_estimateGas', []), '0x2ee0');
    assert.deepEqual(b.calls, []);
  });

  it("asks the next node when one answers with another transaction's receipt", async () => {
    const [a, b] = [await startNode('a'), await startNode('b')];
    a.reply = () => ({ body: { result: { ...RECEIPT, transactionHash: OTHER_HASH } } });
    b.reply = () => ({ body: { result: RECEIPT } });
    const receipt = await connect(a, b).call('eth_getTransactionReceipt', [HASH]);
    assert.deepEqual(receipt, RECEIPT);
    assert.deepEqual(a.calls, ['eth_chainId', 'eth_getTransactionReceipt']);
  });

  it('asks the next node when one answers with a log whose block has left the chain', async () => {
    const mined = { ...RECEIPT, status: '0x1' };
    const questions = [
      { method: 'eth_getLogs', params: [{ address: ADDRESS }], give: (log: unknown) => [log] },
      {
        method: 'eth_getTransactionReceipt',
        params: [HASH],
        give: (log: unknown) => ({ ...mined, logs: [log] }),
      },
    ];
    for (const { method, params, give } of questions) {
      const [a, b] = [await startNode('a'), await startNode('b')];
      a.reply = () => ({ body: { result: give({ ...LOG, removed: true }) } });
      b.reply = () => ({ body: { result: give(LOG) } });
      assert.deepEqual(await connect(a, b).call(method, params), give(LOG));
      assert.deepEqual(a.calls, ['eth_chainId', method]);
    }
  });

  it('sends each provider its own headers, and applies its own time-out', async () => {
    const [a, b] = [await startNode('a'), await startNode('b')];
    const urls = [a.url, b.url.replace('http://', 'http://user:word@')];
    const headers = [{ authorization: 'Bearer first' }, { 'x-plan': 'second' }];
    const timeoutsMs = [150, 60_000];
    const rpc = connectRpc({ urls, chainId: CHAIN, headers, timeoutsMs, log: silentLog });
    assert.equal(await rpc.call('test', []), 'a');
    assert.deepEqual([a.headers.authorization, a.headers['x-plan']], ['Bearer first', undefined]);
    a.reply = () => ({ silent: true });
    b.reply = (call) => ({ delayMs: 400, body: { result: call.method } });
    assert.equal(await rpc.call('test', []), 'test');
    const basic = `Basic ${Buffer.from('user:word').toString('base64')}`;
    assert.deepEqual([b.headers.authorization, b.headers['x-plan']], [basic, 'second']);
    await rpc.close();
  });

  it('reports that no node answers without showing keys from URLs', async () => {
    const a = await startNode('a');
    a.reply = () => ({ silent: true });
    const lines: unknown[] = [];
    const log = { ...silentLog, warn: (...line: unknown[]) => lines.push(line) };
    const rpc = connectRpc({ urls: [a.url], chainId: CHAIN, timeoutsMs: [100], log });
    rpcs.push(rpc);
    await assert.rejects(rpc.call('eth_test', []), RpcUnavailable);
    await sleep(10);
    assert.equal(lines.length, 1);
    assert(!JSON.stringify(lines).includes('secret'));
  });

  it('returns the answers to a long batch in the order of the calls', async () => {
    const a = await startNode('a');
    a.reply = (call) => ({ body: { result: call.method } });
    const calls = Array.from({ length: 120 }, (_, i) => ({ method: `m${i}`, params: [] }));
    const answers = await connect(a).batch(calls);
    assert.deepEqual(
      answers.map((answer) => (answer.ok ? answer.result : null)),
      calls.map((call) => call.method),
    );
  });
});
