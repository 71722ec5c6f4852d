import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { silentLog } from '#observability/log.ts';
import { readLogPortion } from '#settlement/chain/rpc/halve-log-ranges.ts';
import type { LogQuestion } from '#settlement/chain/rpc/next-log-portion.ts';
import { connectRpc, type Rpc, RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import {
  type ScriptedCall,
  type ScriptedNode,
  type ScriptedReply,
  startScriptedNode,
} from '#testkit/network/scripted-node.ts';

const CONTRACT = `0x${'11'.repeat(20)}` as const;
const HASH = `0x${'22'.repeat(32)}` as const;
const ALL = { addresses: [CONTRACT], topics: [], newestFirst: false } as const;
const request = (question: Partial<LogQuestion>): LogQuestion => ({
  ...ALL,
  fromBlock: 1n,
  toBlock: 1_000n,
  ...question,
});

interface Refusal {
  readonly code: number;
  readonly message: string;
}

describe('a range of logs', () => {
  const nodes: ScriptedNode[] = [];
  const rpcs: Rpc[] = [];

  afterEach(async () => {
    for (const rpc of rpcs.splice(0)) await rpc.close();
    for (const node of nodes.splice(0)) node.stop();
  });

  /**
   * Starts a node that returns logs of at most this many blocks.
   * @returns the widths that were requested.
   */
  async function startNode(most: number, refusal: Refusal): Promise<[ScriptedNode, number[]]> {
    const node = await startScriptedNode('node', 7);
    nodes.push(node);
    const widths: number[] = [];
    node.reply = (call) => {
      if (call.method !== 'eth_getLogs') return { body: { result: blockOf(call) } };
      const { fromBlock, toBlock } = call.params[0] as { fromBlock: string; toBlock: string };
      const width = Number(toBlock) - Number(fromBlock) + 1;
      widths.push(width);
      return { body: width > most ? { error: refusal } : { result: [] } };
    };
    return [node, widths];
  }

  function blockOf({ params }: ScriptedCall) {
    return { number: params[0], hash: HASH, parentHash: HASH, timestamp: '0x1', transactions: [] };
  }

  function connect(...nodes: ScriptedNode[]): Rpc {
    return connectWithin([], ...nodes);
  }

  function connectWithin(timeoutsMs: readonly number[], ...nodes: ScriptedNode[]): Rpc {
    const urls = nodes.map((node) => node.url);
    const rpc = connectRpc({ urls, chainId: 7, timeoutsMs, log: silentLog });
    rpcs.push(rpc);
    return rpc;
  }

  const TOO_WIDE = { code: -32_600, message: 'exceed maximum block range: 10' };

  /** Refusals by nodes that have pruned old blocks, or that return no logs at all. */
  const WITHOUT_LOGS: readonly Refusal[] = [
    { code: 4_444, message: 'pruned history unavailable' },
    { code: -32_000, message: 'header not found' },
    { code: -32_000, message: 'missing trie node 1f2e (path ) state is not available' },
    { code: -32_601, message: 'the method eth_getLogs does not exist/is not available' },
    { code: -32_602, message: 'eth_getLogs needs an archive node' },
    { code: -32_001, message: 'Resource not found' },
    { code: 35, message: 'historical logs are not supported on the free tier' },
  ];
  for (const refusal of WITHOUT_LOGS) {
    it(`comes from the one node that has logs: "${refusal.message}"`, async () => {
      const [bare] = await startNode(0, refusal);
      const [full] = await startNode(10_000, TOO_WIDE);
      const rpc = connect(bare, full);
      for (const toBlock of [1n, 1_000n]) {
        let from = 1n;
        while (from <= toBlock) {
          const portion = await readLogPortion(rpc, request({ fromBlock: from, toBlock }));
          assert.equal(portion.fromBlock, from);
          from = portion.toBlock + 1n;
        }
      }
    });
  }

  it('is halved until the node returns it, and the width is remembered', async () => {
    const [node, widths] = await startNode(10, TOO_WIDE);
    const rpc = connect(node);
    const first = await readLogPortion(rpc, request({}));
    assert.deepEqual([first.fromBlock, first.toBlock], [1n, 7n]);
    assert.deepEqual(widths, [1_000, 500, 250, 125, 62, 31, 15, 7]);
    widths.length = 0;
    const second = await readLogPortion(rpc, request({ fromBlock: 8n }));
    assert.deepEqual([second.fromBlock, second.toBlock], [8n, 14n]);
    assert.deepEqual(widths, [7]);
  });

  it('is requested as a whole again when a remembered limit expires', async (t) => {
    const now = performance.now.bind(performance);
    let aheadMs = 0;
    t.mock.method(performance, 'now', () => now() + aheadMs);
    const [node, widths] = await startNode(10, TOO_WIDE);
    const rpc = connect(node);
    await readLogPortion(rpc, request({}));
    widths.length = 0;
    aheadMs = 601_000;
    await readLogPortion(rpc, request({}));
    assert.equal(widths[0], 1_000);
  });

  it('is requested from its newest end if the caller wants that', async () => {
    const [node] = await startNode(10, TOO_WIDE);
    const portion = await readLogPortion(connect(node), request({ newestFirst: true }));
    assert.equal(portion.toBlock, 1_000n);
    assert(portion.fromBlock > 980n);
  });

  it('is halved down to one block for an unknown refusal', async () => {
    const [node, widths] = await startNode(1, { code: -32_603, message: 'no' });
    const portion = await readLogPortion(connect(node), request({ toBlock: 16n }));
    assert.deepEqual([portion.fromBlock, portion.toBlock], [1n, 1n]);
    assert.equal(widths.at(-1), 1);
  });

  it('is requested from the next provider before an unknown refusal halves it', async () => {
    const [odd, oddWidths] = await startNode(0, { code: -32_603, message: 'no' });
    const [good, goodWidths] = await startNode(5_000, TOO_WIDE);
    const portion = await readLogPortion(connect(odd, good), request({}));
    assert.equal(portion.toBlock, 1_000n);
    assert.deepEqual([oddWidths, goodWidths], [[1_000], [1_000]]);
  });

  it('is halved for this request alone if it has too many logs', async () => {
    const refusal = { code: -32_005, message: 'query returned more than 10000 results' };
    const [node, widths] = await startNode(300, refusal);
    const rpc = connect(node);
    assert.equal((await readLogPortion(rpc, request({}))).toBlock, 250n);
    widths.length = 0;
    await readLogPortion(rpc, request({ fromBlock: 251n }));
    assert.equal(widths[0], 750);
  });

  it('is not accepted from a node that has not reached its last block', async () => {
    const [node] = await startNode(5_000, TOO_WIDE);
    const reply = node.reply;
    node.reply = (call) =>
      call.method === 'eth_getLogs' ? reply(call) : { body: { result: null } };
    await assert.rejects(readLogPortion(connect(node), request({})), RpcUnavailable);
  });

  /**
   * Responses of nodes that are too slow: some never answer, some have a gateway that times out,
   * and some time out themselves.
   */
  const TOO_SLOW: Readonly<Record<string, ScriptedReply>> = {
    'no answer in time': { silent: true },
    "a gateway's page": { status: 504 },
    "go-ethereum's words": { body: { error: { code: -32_002, message: 'request timed out' } } },
    "Erigon's words": { body: { error: { code: -32_000, message: 'context deadline exceeded' } } },
  };
  for (const [how, slow] of Object.entries(TOO_SLOW)) {
    it(`is halved for a node that is too slow for it: ${how}`, async () => {
      const [node, widths] = await startNode(300, TOO_WIDE);
      const { reply } = node;
      node.reply = (call) => {
        const given = reply(call);
        return call.method === 'eth_getLogs' && (widths.at(-1) ?? 0) > 300 ? slow : given;
      };
      const rpc = connectWithin([150], node);
      assert.equal((await readLogPortion(rpc, request({}))).toBlock, 250n);
      assert.deepEqual(widths, [1_000, 500, 250]);
      assert(
        rpc.inOrder().every((address) => !address.isResting()),
        'it does all else',
      );
    });
  }

  it('is not halved for a node that is down', async () => {
    const [node, widths] = await startNode(300, TOO_WIDE);
    const { reply } = node;
    node.reply = (call) => ({ ...reply(call), silent: true });
    await assert.rejects(readLogPortion(connectWithin([150], node), request({})), RpcUnavailable);
    assert.deepEqual(widths, [1_000]);
  });

  /**
   * Returns the receipt of a block's one transaction, with one log of the contract and one of
   * another.
   */
  function receiptOf(number: string) {
    const transactionHash = `0x${number.slice(2).padStart(64, '0')}`;
    const position = { transactionHash, blockHash: HASH, blockNumber: number };
    const log = { ...position, topics: [HASH], data: '0x', logIndex: '0x0', address: CONTRACT };
    const other = { ...log, address: `0x${'33'.repeat(20)}`, logIndex: '0x1' };
    const done = { status: '0x1', from: CONTRACT, gasUsed: '0x5208' };
    return { ...position, ...done, logs: [other, log] };
  }

  it('contains the logs of all requested contracts, and no others', async () => {
    const [node] = await startNode(5_000, TOO_WIDE);
    const [theirs, own] = receiptOf('0x5').logs;
    const blocks = node.reply;
    const giving = (logs: unknown[]) => {
      node.reply = (call) =>
        call.method === 'eth_getLogs' ? { body: { result: logs } } : blocks(call);
    };
    const both = request({ addresses: [CONTRACT, `0x${'33'.repeat(20)}`] });
    giving([theirs, own]);
    assert.equal((await readLogPortion(connect(node), both)).logs.length, 2);
    giving([{ ...own, address: `0x${'44'.repeat(20)}` }]);
    await assert.rejects(readLogPortion(connect(node), both), RpcUnavailable);
  });

  /**
   * Starts a node that has blocks and receipts, but returns no logs. `refuses`: further methods
   * that it refuses.
   */
  async function startNodeWithoutLogs(refuses: readonly string[] = []): Promise<ScriptedNode> {
    const [node] = await startNode(0, TOO_WIDE);
    node.reply = (call) => {
      const { method } = call;
      const [request] = call.params as [string];
      if (method === 'eth_getLogs' || refuses.includes(method)) {
        return { body: { error: { code: -32_601, message: `the method ${method} is not there` } } };
      }
      if (method === 'eth_getBlockReceipts') return { body: { result: [receiptOf(request)] } };
      if (method === 'eth_getTransactionReceipt') {
        return { body: { result: receiptOf(`0x${BigInt(request).toString(16)}`) } };
      }
      const transactions = [receiptOf(request).transactionHash];
      return { body: { result: { ...blockOf(call), transactions } } };
    };
    return node;
  }

  for (const refuses of [[], ['eth_getBlockReceipts']]) {
    const how = refuses.length === 0 ? 'of each block' : 'one by one';
    it(`is read from receipts, ${how}, if no node returns logs`, async () => {
      const node = await startNodeWithoutLogs(refuses);
      const rpc = connect(node);
      const first = await readLogPortion(rpc, request({ fromBlock: 5n, toBlock: 100n }));
      assert.deepEqual([first.fromBlock, first.toBlock, first.logs.length], [5n, 14n, 10]);
      assert(first.logs.every((log) => log.address === CONTRACT));
      const question = request({ fromBlock: 5n, toBlock: 100n, newestFirst: true });
      const last = await readLogPortion(rpc, { ...question, topics: [null, HASH] as const });
      assert.deepEqual([last.fromBlock, last.toBlock, last.logs.length], [91n, 100n, 0]);
      const times = node.calls.filter((method) => method === 'eth_getLogs').length;
      assert.equal(times, 1, 'eth_getLogs is not sent again to an address without it');
    });
  }

  it("is not read from another block's receipts, nor if a receipt is missing", async () => {
    const node = await startNodeWithoutLogs();
    const { reply } = node;
    for (const wrong of [[], [{ ...receiptOf('0x5'), blockHash: `0x${'44'.repeat(32)}` }], null]) {
      node.reply = (call) => {
        if (call.method === 'eth_getBlockReceipts') return { body: { result: wrong } };
        if (call.method === 'eth_getTransactionReceipt') return { body: { result: null } };
        return reply(call);
      };
      const question = request({ fromBlock: 5n, toBlock: 5n });
      await assert.rejects(readLogPortion(connect(node), question), RpcUnavailable);
    }
  });

  it('is not requested block by block from a node that only requests a pause', async () => {
    const [node] = await startNode(0, { code: -32_005, message: 'rate limited' });
    await assert.rejects(readLogPortion(connect(node), request({})), RpcUnavailable);
    assert(!node.calls.includes('eth_getBlockReceipts'));
  });

  it('fails if neither logs nor receipts of one block are returned', async () => {
    const methods = ['eth_getBlockReceipts', 'eth_getTransactionReceipt'];
    const node = await startNodeWithoutLogs(methods);
    await assert.rejects(readLogPortion(connect(node), request({})), RpcUnavailable);
  });
});
