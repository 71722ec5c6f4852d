import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { silentLog } from '#observability/log.ts';
import { createHeadComparison, staleHeads } from '#settlement/chain/rpc/compare-heads.ts';
import { connectRpc } from '#settlement/chain/rpc/rpc.ts';
import { NETWORK_DEFAULTS } from '#settlement/network-config.ts';
import { type ScriptedNode, startScriptedNode } from '#testkit/network/scripted-node.ts';

/** The number of the newest block, and whether it has changed since the last comparison. */
type Told = readonly [number, (boolean | null)?];

const stale = (...told: readonly Told[]) =>
  staleHeads(
    told.map(([number, hasMoved = true], index) => ({ index, number: BigInt(number), hasMoved })),
  );

describe('providers whose heads are not followed', () => {
  it('include none while heads differ by at most three blocks', () => {
    assert.deepEqual(stale([100], [103]), []);
    assert.deepEqual(stale([103], [100], [101]), []);
    assert.deepEqual(stale([100]), []);
    assert.deepEqual(stale(), []);
  });

  it('include those behind the newest block that two of three have reached', () => {
    assert.deepEqual(stale([90], [100], [101]), [0]);
    assert.deepEqual(stale([90], [91], [100, true]), []);
    assert.deepEqual(stale([90, false], [91, false], [100, false]), [2]);
  });

  it('include, of two, the one whose head does not advance', () => {
    assert.deepEqual(stale([100, false], [110, true]), [0]);
    // The node whose head does not advance is ahead of the other, so it is on an abandoned fork.
    assert.deepEqual(stale([200, false], [110, true]), [0]);
  });

  it('include, if both or neither of two advance, the lower one', () => {
    assert.deepEqual(stale([100], [110]), [0]);
    assert.deepEqual(stale([100, false], [110, false]), [0]);
    assert.deepEqual(stale([110, null], [100, null]), [1]);
  });
});

describe('a comparison of the heads of all addresses', () => {
  const nodes: ScriptedNode[] = [];

  afterEach(() => {
    for (const node of nodes.splice(0)) node.stop();
  });

  async function startAt(number: number): Promise<ScriptedNode> {
    const node = await startScriptedNode('node', 7);
    nodes.push(node);
    tells(node, number);
    return node;
  }

  const tells = (node: ScriptedNode, number: number) => {
    node.reply = () => ({ body: { result: `0x${number.toString(16)}` } });
  };

  it('moves the first address behind the others if its head does not advance', async () => {
    const [first, second] = [await startAt(50), await startAt(50)];
    const warnings: unknown[] = [];
    const log = { ...silentLog, warn: (...line: unknown[]) => warnings.push(line) };
    const urls = [first.url, second.url];
    const rpc = connectRpc({ urls, chainId: 7, log });
    const compare = createHeadComparison({ rpc, config: NETWORK_DEFAULTS }, log);
    const preferred = () => rpc.inOrder()[0]?.index;
    await compare();
    assert.equal(preferred(), 0);
    tells(second, 60);
    await compare();
    await compare();
    assert.equal(preferred(), 1);
    assert.equal(warnings.length, 1, 'one line for one address');
    assert(!JSON.stringify(warnings).includes('secret'));
    tells(first, 61);
    tells(second, 61);
    await compare();
    assert.equal(preferred(), 0);
    await rpc.close();
  });

  it('trusts a provider no less for a response that did not arrive', async () => {
    const [first, second] = [await startAt(50), await startAt(60)];
    const rpc = connectRpc({ urls: [first.url, second.url], chainId: 7, log: silentLog });
    second.reply = () => ({ body: { error: { code: -32_603, message: 'no' } } });
    await createHeadComparison({ rpc, config: NETWORK_DEFAULTS }, silentLog)();
    assert(rpc.inOrder().every((address) => !address.isStale));
    await rpc.close();
  });
});
