import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeFunctionResult, encodeFunctionData, type Hex } from 'viem';
import type { Network } from '#core/mode.ts';
import { type ChainNode, startChainNode } from '#sandbox/chain-node.ts';
import { type ContractDelays, prepareNetwork } from '#sandbox/deploy-sandbox-network.ts';
import { wallet } from '#sandbox/derive-wallets.ts';
import {
  findByArgument,
  signalProcess,
  waitUntil,
  within,
} from '#sandbox/find-and-stop-processes.ts';
import { connectRpc } from '#sandbox/json-rpc.ts';
import { type ProfileName, profileNamed } from '#settlement/chain-profiles.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import type { TemporaryFolder } from '#testkit/fixtures/db/temporary-folder.ts';
import { startProviderProxy } from '#testkit/network/provider-proxy.ts';
import { ENDED_MS, persistently } from '#testkit/simulation/chaos/chaos-restart.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

export type ChaosChain = Awaited<ReturnType<typeof openChaosChain>>;

/**
 * The way to the node. `none`: directly. `first`: through a faulty provider, with the node as
 * fallback. `only`: only through the provider.
 */
export type Providers = 'none' | 'first' | 'only';

const CHAIN_IDS: Readonly<Record<Network, number>> = { testnet: 31_337, mainnet: 31_338 };
/** Time limit for a pause or resumption of the token to appear on the chain. */
const PAUSED_MS = 10_000;
const GAS = 100_000n;
/**
 * Time limit for saving a chain's state. Saving takes seconds at the end of a two-hour run on a
 * busy machine.
 */
const SAVED_MS = 30_000;
/** The most blocks that a kill loses, roughly. A signature is valid for longer than that. */
const LOST_BLOCKS = 4;

/**
 * Creates a function that pauses and resumes the token. The function resolves once the chain shows
 * the new state, and fails if it does not.
 */
function openTokenSwitch(config: NetworkConfig, secret: Buffer) {
  const { network, usdc, chainId } = config;
  const [rpcUrl = ''] = config.rpcUrls;
  const call = connectRpc(rpcUrl);
  const account = wallet(secret, `${network} admin`);
  const functionName = 'paused';
  const isPaused = async () => {
    const read = { to: usdc, data: encodeFunctionData({ abi: testUsdcAbi, functionName }) };
    const data = (await call('eth_call', [read, 'latest'])) as Hex;
    return decodeFunctionResult({ abi: testUsdcAbi, functionName, data });
  };
  const send = async (paused: boolean) => {
    const args = [paused] as const;
    const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'setPaused', args });
    const nonce = Number(await call('eth_getTransactionCount', [account.address, 'latest']));
    const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n };
    const to = { to: usdc, data, gas: GAS, nonce, type: 'eip1559', ...fees } as const;
    const signed = await account.signTransaction({ ...to, chainId });
    await call('eth_sendRawTransaction', [signed]);
  };
  return async (paused: boolean) => {
    if ((await isPaused()) === paused) return;
    // Ignores errors: the pool may have the transaction already, and only the chain's state counts.
    await send(paused).catch(() => {});
    if (await waitUntil(async () => (await isPaused()) === paused, PAUSED_MS)) return;
    throw new Error(`USDC of ${network} did not become ${paused ? 'paused' : 'unpaused'}`);
  };
}

/**
 * Saves the state, then waits for a few blocks. The sandbox saves a large state so rarely that a
 * kill would otherwise lose final blocks, which never happens on a real chain.
 */
async function saveAlmostAll(node: ChainNode, blockMs: number): Promise<void> {
  const saved = node.saveState().catch(() => {});
  await within(saved, SAVED_MS);
  await sleep(LOST_BLOCKS * blockMs);
}

export async function openChaosChain(
  temporary: TemporaryFolder,
  options: {
    readonly network: Network;
    readonly secret: Buffer;
    readonly providers: Providers;
    readonly blockMs: number;
    readonly profile: ProfileName;
    /** Default: the sandbox's. */
    readonly delays?: ContractDelays;
  },
) {
  const { network, secret } = options;
  const { folder } = temporary;
  const pids = () => findByArgument(path.join(folder.path, `chain-${network}.cache`));
  const start = async () => {
    const [chainId, { blockMs }] = [CHAIN_IDS[network], options];
    const log = () => {};
    const node = await startChainNode({ folder, name: network, chainId, blockMs, log });
    for (const pid of pids()) temporary.endWithUs(pid);
    return node;
  };
  const signal = (name: NodeJS.Signals) => {
    for (const pid of pids()) signalProcess(pid, name);
  };
  let node: ChainNode = await start();
  const config = await prepareNetwork(node, network, secret, options.delays);
  const provider = options.providers === 'none' ? null : await startProviderProxy(node.rpcUrl);
  const own = options.providers === 'only' ? [] : config.rpcUrls;
  const rpcUrls = provider === null ? own : [provider.url, ...own];
  return {
    config: { ...config, profile: profileNamed(options.profile), rpcUrls },
    /** Rate-limits, falsifies or drops responses on command; `null` without a proxy. */
    provider,
    /** Pauses or resumes all transfers of the token, as its issuer can. */
    pauseToken: openTokenSwitch(config, secret),
    /** Kills the node with SIGKILL. It loses the blocks since its state was saved. */
    kill: async () => {
      await saveAlmostAll(node, options.blockMs);
      signal('SIGKILL');
      await waitUntil(() => pids().length === 0, ENDED_MS);
      // The node is dead and has nothing to save. This only stops its mining timer.
      await node.stop();
    },
    start: async () => {
      node = await persistently(start);
    },
    /** Hangs the node: connections stay open but get no response. */
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    /** Replaces the newest blocks with empty ones and drops their transactions. */
    reorganize: async (blocks: number) => {
      await connectRpc(node.rpcUrl)('anvil_reorg', [blocks, []]);
    },
    stop: async () => {
      await provider?.stop();
      await node.stop();
    },
  };
}
