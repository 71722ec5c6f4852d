import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { silentLog } from '#core/log.ts';
import { type LogQuestion, readLogPortion } from '#settlement/log-ranges.ts';
import { connectRpc, type Rpc, RpcUnavailable } from '#settlement/rpc.ts';
import { type ScriptedCall, type ScriptedNode, startScriptedNode } from '#testing/scripted-node.ts';

const CONTRACT = `0x${'11'.repeat(20)}` as const;
const HASH = `0x${'22'.repeat(32)}`;
const ALL = { address: CONTRACT, topics: [], newestFirst: false } as const;
const asked = (question: Partial<LogQuestion>): LogQuestion => ({
  ...ALL,
  fromBlock: 1n,
  toBlock: 1_000n,
  ...question,
});

interface Refusal {
  readonly code: number;
  readonly message: string;
}

describe('the logs of a range', () => {
  const nodes: ScriptedNode[] = [];
  const rpcs: Rpc[] = [];

  afterEach(async () => {
    for (const rpc of rpcs.splice(0)) await rpc.close();
    for (const node of nodes.splice(0)) node.stop();
  });

  /** Gives logs of so many blocks at most. @returns the widths that it was asked for. */
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

  function connect(...of: ScriptedNode[]): Rpc {
    const urls = of.map((node) => node.url);
    const rpc = connectRpc({ urls, chainId: 7, log: silentLog });
    rpcs.push(rpc);
    return rpc;
  }

  const TOO_WIDE = { code: -32_600, message: 'exceed maximum block range: 10' };

  it('is halved until the node gives it, and what it gives is remembered', async () => {
    const [node, widths] = await startNode(10, TOO_WIDE);
    const rpc = connect(node);
    const first = await readLogPortion(rpc, asked({}));
    assert.deepEqual([first.fromBlock, first.toBlock], [1n, 7n]);
    assert.deepEqual(widths, [1_000, 500, 250, 125, 62, 31, 15, 7]);
    widths.length = 0;
    const second = await readLogPortion(rpc, asked({ fromBlock: 8n }));
    assert.deepEqual([second.fromBlock, second.toBlock], [8n, 14n]);
    assert.deepEqual(widths, [7]);
  });

  it('is asked for from its newest end where that is wanted', async () => {
    const [node] = await startNode(10, TOO_WIDE);
    const portion = await readLogPortion(connect(node), asked({ newestFirst: true }));
    assert.equal(portion.toBlock, 1_000n);
    assert(portion.fromBlock > 980n);
  });

  it('is halved down to one block for a refusal that nobody knows', async () => {
    const [node, widths] = await startNode(1, { code: -32_603, message: 'no' });
    const portion = await readLogPortion(connect(node), asked({ toBlock: 16n }));
    assert.deepEqual([portion.fromBlock, portion.toBlock], [1n, 1n]);
    assert.equal(widths.at(-1), 1);
  });

  it('is asked of the next address before a refusal that nobody knows halves it', async () => {
    const [odd, oddWidths] = await startNode(0, { code: -32_603, message: 'no' });
    const [good, goodWidths] = await startNode(5_000, TOO_WIDE);
    const portion = await readLogPortion(connect(odd, good), asked({}));
    assert.equal(portion.toBlock, 1_000n);
    assert.deepEqual([oddWidths, goodWidths], [[1_000], [1_000]]);
  });

  it('with too many logs is halved for this time only', async () => {
    const refusal = { code: -32_005, message: 'query returned more than 10000 results' };
    const [node, widths] = await startNode(300, refusal);
    const rpc = connect(node);
    assert.equal((await readLogPortion(rpc, asked({}))).toBlock, 250n);
    widths.length = 0;
    await readLogPortion(rpc, asked({ fromBlock: 251n }));
    assert.equal(widths[0], 750);
  });

  it('is not believed of a node that has not reached its end', async () => {
    const [node] = await startNode(5_000, TOO_WIDE);
    const reply = node.reply;
    node.reply = (call) =>
      call.method === 'eth_getLogs' ? reply(call) : { body: { result: null } };
    await assert.rejects(readLogPortion(connect(node), asked({})), RpcUnavailable);
  });

  it("is nobody's when not even one block is given", async () => {
    const [node] = await startNode(0, TOO_WIDE);
    await assert.rejects(readLogPortion(connect(node), asked({})), RpcUnavailable);
  });
});
