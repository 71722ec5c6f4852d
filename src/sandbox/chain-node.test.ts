import assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hex, toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { StartError } from '#core/start-error.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { startInstance } from '#testkit/network/sandbox-instance.ts';
import { startThrowawayChain } from '#testkit/network/throwaway-chain.ts';
import { startChainNode } from './chain-node.ts';
import { openDataFolder } from './data-folder.ts';
import { findByArgument, freePort, isRunning, waitUntil } from './find-and-stop-processes.ts';
import { connectRpc, type RpcCall } from './json-rpc.ts';

const CHAIN_ID = 31_337;
const payer = privateKeyToAccount(generatePrivateKey());

/** Creation code that emits one log and deploys nothing: `log0(0, 32)`. */
const LOGS_ONCE: Hex = '0x60206000a0';

const root = testFolder();
let places = 0;
const emptyPlace = () => join(root, String(places++));

async function startHere(path: string, chainId = CHAIN_ID, blockMs = 1_000) {
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const folder = await openDataFolder(path);
  const chain = await startChainNode({
    folder,
    name: 'testnet',
    chainId,
    blockMs,
    log,
  }).catch(async (cause: unknown) => {
    await folder.close();
    throw cause;
  });
  const stop = async () => {
    await chain.stop();
    await folder.close();
  };
  return { ...chain, call: connectRpc(chain.rpcUrl), lines, stop };
}

function nodePids(path: string): number[] {
  return findByArgument(join(path, 'chain-testnet.cache'));
}

/** Sends a transaction that emits a log and waits for its receipt. */
async function sendLogged(call: RpcCall, nonce: number): Promise<unknown> {
  await call('anvil_setBalance', [payer.address, toHex(10n ** 18n)]);
  const signed = await payer.signTransaction({
    chainId: CHAIN_ID,
    nonce,
    gas: 100_000n,
    maxFeePerGas: 10n ** 10n,
    data: LOGS_ONCE,
  });
  const hash = await call('eth_sendRawTransaction', [signed]);
  let receipt: unknown = null;
  const mined = async () => {
    receipt = await call('eth_getTransactionReceipt', [hash]);
    return receipt !== null;
  };
  assert.equal(await waitUntil(mined, 5000), true);
  return receipt;
}

/**
 * True if a chain has the same port as before, or another process took that port while the node was
 * stopped.
 */
async function isSameOrTaken(rpcUrl: string, before: string): Promise<boolean> {
  const port = Number(new URL(before).port);
  return rpcUrl === before || (await freePort(port)) !== port;
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Returns what a restart must not change: receipt, logs, block, nonce and balance. */
async function receiptAndNonce(call: RpcCall, receipt: unknown) {
  const block = field(receipt, 'blockNumber');
  return {
    receipt: await call('eth_getTransactionReceipt', [field(receipt, 'transactionHash')]),
    logs: await call('eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }]),
    block: await call('eth_getBlockByNumber', [block, true]),
    nonce: await call('eth_getTransactionCount', [payer.address, 'latest']),
    balance: await call('eth_getBalance', [payer.address, 'latest']),
  };
}

async function head(call: RpcCall): Promise<{ number: number; timestamp: number }> {
  const block = await call('eth_getBlockByNumber', ['latest', false]);
  return { number: Number(field(block, 'number')), timestamp: Number(field(block, 'timestamp')) };
}

test('blocks are short while transactions are pending, and one a second otherwise', async () => {
  const chain = await startHere(emptyPlace(), CHAIN_ID, 200);
  const { call } = chain;
  /** Returns the blocks per second. A busy machine may sleep longer than `ms`. */
  const blocksASecond = async (ms: number) => {
    const { number } = await head(call);
    const from = performance.now();
    await sleep(ms);
    return ((await head(call)).number - number) / ((performance.now() - from) / 1_000);
  };
  const idle = await blocksASecond(3_100);
  assert.ok(idle > 0.5 && idle < 1.5, `${idle} blocks a second on the idle chain`);
  // Send right after an idle block, so that the next one is a second away.
  const { number } = await head(call);
  await waitUntil(async () => (await head(call)).number > number, 2_000);
  const sentAt = performance.now();
  const before = await receiptAndNonce(call, await sendLogged(call, 0));
  assert.equal(field(before.receipt, 'status'), '0x1');
  const tookMs = performance.now() - sentAt;
  assert.ok(tookMs < 900, `a transaction on the idle chain took ${Math.round(tookMs)} ms`);
  const busy = await blocksASecond(2_000);
  assert.ok(busy > 2 && busy < 5.6, `${busy} blocks a second after it`);
  // Blocks within a second share its timestamp, so that the chain's clock does not run ahead.
  const { timestamp } = await head(call);
  assert.ok(Math.abs(timestamp * 1000 - Date.now()) < 2_000, 'the time of the chain');
  await chain.stop();
});

test('a chain makes a block per second and continues after a stop', async () => {
  const path = emptyPlace();
  const first = await startHere(path);
  assert.equal(first.fresh, true);
  const before = await receiptAndNonce(first.call, await sendLogged(first.call, 0));
  assert.deepEqual([field(before.receipt, 'status'), before.nonce], ['0x1', '0x1']);
  assert.equal(Array.isArray(before.logs) && before.logs.length, 1);
  await waitUntil(async () => (await head(first.call)).number >= 3, 5000);
  const leftAt = performance.now();
  const left = await head(first.call);
  await first.stop();
  const second = await startHere(path);
  assert.equal(second.fresh, false);
  assert.ok(
    await isSameOrTaken(second.rpcUrl, first.rpcUrl),
    'its port is free, and it has another',
  );
  assert.deepEqual(await receiptAndNonce(second.call, before.receipt), before);
  const goesOn = async () => (await head(second.call)).number >= left.number + 3;
  assert.equal(await waitUntil(goesOn, 15_000), true);
  const now = await head(second.call);
  // Allow for blocks mined in the meantime, because a busy machine starts and polls late.
  const most = 1 + (performance.now() - leftAt) / 1_000;
  assert.ok(now.number - left.number <= most, `${left.number} to ${now.number}, at most ${most}`);
  assert.ok(now.timestamp >= left.timestamp + 2 && now.timestamp <= Date.now() / 1000 + 2);
  await sendLogged(second.call, 1);
  await second.stop();
});

test('the node that a killed instance left is adopted with all its blocks', async () => {
  const path = emptyPlace();
  const instance = await startInstance(path, ['chain']);
  const call = connectRpc(instance.report.rpcUrl ?? '');
  const before = await receiptAndNonce(call, await sendLogged(call, 0));
  const [pid] = nodePids(path);
  await instance.kill('SIGKILL');
  const again = await startHere(path);
  assert.deepEqual(nodePids(path), [pid]);
  assert.match(again.lines.join(), /adopted/);
  assert.deepEqual([again.fresh, again.rpcUrl], [false, instance.report.rpcUrl]);
  assert.deepEqual(await receiptAndNonce(again.call, before.receipt), before);
  const { number } = await head(again.call);
  assert.equal(await waitUntil(async () => (await head(call)).number > number, 3000), true);
  await again.stop();
  assert.deepEqual(nodePids(path), []);
});

test('saved state survives kill -9 of the instance and the node', async () => {
  const path = emptyPlace();
  const chain = await startHere(path);
  await chain.call('anvil_setBalance', [payer.address, toHex(7n)]);
  await chain.saveState();
  const [pid = 0] = nodePids(path);
  process.kill(pid, 'SIGKILL');
  assert.match(await chain.lost, /SIGKILL/);
  await chain.stop();
  const again = await startHere(path);
  assert.equal(await again.call('eth_getBalance', [payer.address, 'latest']), '0x7');
  await again.stop();
});

test('a mined transaction is in the saved state within two seconds', async () => {
  const path = emptyPlace();
  const instance = await startInstance(path, ['chain']);
  const call = connectRpc(instance.report.rpcUrl ?? '');
  const state = join(path, 'chain-testnet.state.gz');
  const receipt = await sendLogged(call, 0);
  const { mtimeMs } = await fs.stat(state);
  const savedAfter = async () => (await fs.stat(state)).mtimeMs > mtimeMs;
  await waitUntil(savedAfter, 2000);
  const before = await receiptAndNonce(call, receipt);
  await instance.kill('SIGKILL');
  for (const pid of nodePids(path)) process.kill(pid, 'SIGKILL');
  const again = await startHere(path);
  assert.deepEqual(await receiptAndNonce(again.call, before.receipt), before);
  await again.stop();
});

test('a node that does not respond is ended and replaced', async () => {
  const path = emptyPlace();
  const instance = await startInstance(path, ['chain']);
  const [pid = 0] = nodePids(path);
  await instance.kill('SIGKILL');
  process.kill(pid, 'SIGSTOP');
  const again = await startHere(path);
  assert.equal(isRunning(pid), false);
  assert.equal(nodePids(path).length, 1);
  await again.stop();
});

test('a node ends when its instance exits without stopping it', async () => {
  const path = emptyPlace();
  const instance = await startInstance(path, ['chain']);
  assert.equal(nodePids(path).length, 1);
  await instance.kill('SIGTERM');
  assert.equal(await waitUntil(() => nodePids(path).length === 0, 3000), true);
});

test('a folder of another chain id is refused in one line', async () => {
  const path = emptyPlace();
  await (await startHere(path)).stop();
  await assert.rejects(startHere(path, 1), (error) => {
    assert.ok(error instanceof StartError && !error.message.includes('\n'));
    return /31337.*not 1;/.test(error.message);
  });
});

test('a transaction above 2^24 gas is refused, one of 2^24 is taken', async () => {
  const chain = await startThrowawayChain({ chainId: CHAIN_ID, blockTime: 'manual' });
  const call = connectRpc(chain.rpcUrl);
  await call('anvil_setBalance', [payer.address, toHex(10n ** 18n)]);
  const send = async (gas: bigint) => {
    const fees = { chainId: CHAIN_ID, nonce: 0, maxFeePerGas: 10n ** 10n };
    const signed = await payer.signTransaction({ ...fees, gas, to: payer.address });
    return call('eth_sendRawTransaction', [signed]);
  };
  await assert.rejects(send(2n ** 24n + 1n), /gas/);
  await send(2n ** 24n);
  assert.deepEqual(await call('eth_accounts'), []);
  await chain.stop();
  await assert.rejects(call('eth_chainId'));
});

test('a throwaway chain mines at once or at intervals, as requested', async () => {
  const [instant, timed] = await Promise.all([
    startThrowawayChain({ chainId: CHAIN_ID, blockTime: 'automine' }),
    startThrowawayChain({ chainId: CHAIN_ID + 1, blockTime: 1 }),
  ]);
  const receipt = await sendLogged(connectRpc(instant.rpcUrl), 0);
  assert.equal(field(receipt, 'blockNumber'), '0x1');
  const call = connectRpc(timed.rpcUrl);
  assert.equal(await waitUntil(async () => (await head(call)).number > 0, 3000), true);
  await Promise.all([instant.stop(), timed.stop()]);
});
