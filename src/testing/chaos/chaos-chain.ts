import path from 'node:path';
import { decodeFunctionResult, encodeFunctionData, type Hex } from 'viem';
import type { Network } from '#core/mode.ts';
import { type ChainNode, startChainNode } from '#sandbox/chain-node.ts';
import { type ContractDelays, prepareNetwork } from '#sandbox/deploy.ts';
import { connectRpc } from '#sandbox/json-rpc.ts';
import { findByArgument, signalProcess, waitUntil } from '#sandbox/processes.ts';
import type { TemporaryFolder } from '#sandbox/temporary-folder.ts';
import { wallet } from '#sandbox/wallets.ts';
import { type ProfileName, profileNamed } from '#settlement/chain-profiles.ts';
import type { NetworkConfig } from '#settlement/networks.ts';
import { ENDED_MS, persistently } from '#testing/chaos/chaos-restart.ts';
import { type ProviderProxy, startProviderProxy } from '#testing/provider-proxy.ts';
import { testUsdcAbi } from '../../../contracts/artifacts/TestUSDC.ts';

/** One chain of a chaos run. */
export interface ChaosChain {
  readonly config: NetworkConfig;
  /**
   * A proxy in front of its node that rate-limits, falsifies and drops responses on command; `null`
   * if there is none.
   */
  readonly provider: ProviderProxy | null;
  /** kill -9: blocks since the last saved state are lost. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** The node hangs: connections stay open without answers. */
  freeze(): void;
  thaw(): void;
  /** Replaces the newest blocks by empty ones and forgets their transactions. */
  reorganize(blocks: number): Promise<void>;
  /** The issuer pauses or resumes all transfers of the token. */
  pauseToken(paused: boolean): Promise<void>;
  stop(): Promise<void>;
}

/** The connection to the node: direct, also through a misbehaving provider, or only through it. */
export type Providers = 'none' | 'first' | 'only';

const CHAIN_IDS: Readonly<Record<Network, number>> = { testnet: 31_337, mainnet: 31_338 };
/** The time for which the token stays paused. */
const PAUSED_MS = 10_000;
const GAS = 100_000n;

/**
 * Creates the switch that pauses the token. A call resolves once the chain shows its effect, even
 * if the chain forgets transactions.
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
    // The pool may already have it, so the chain's state decides.
    await send(paused).catch(() => {});
    if (await waitUntil(async () => (await isPaused()) === paused, PAUSED_MS)) return;
    throw new Error(`USDC of ${network} did not become ${paused ? 'paused' : 'unpaused'}`);
  };
}

export async function openChaosChain(
  temporary: TemporaryFolder,
  wanted: {
    readonly network: Network;
    readonly secret: Buffer;
    readonly providers: Providers;
    readonly blockMs: number;
    readonly profile: ProfileName;
    /** Default: the sandbox's. */
    readonly delays?: ContractDelays;
  },
): Promise<ChaosChain> {
  const { network, secret } = wanted;
  const { folder } = temporary;
  const pids = () => findByArgument(path.join(folder.path, `chain-${network}.cache`));
  const start = async () => {
    const chainId = CHAIN_IDS[network];
    const options = { folder, name: network, chainId, blockMs: wanted.blockMs, log: () => {} };
    const node = await startChainNode(options);
    for (const pid of pids()) temporary.endWithUs(pid);
    return node;
  };
  const signal = (name: NodeJS.Signals) => {
    for (const pid of pids()) signalProcess(pid, name);
  };
  let node: ChainNode = await start();
  const config = await prepareNetwork(node, network, secret, wanted.delays);
  const provider = wanted.providers === 'none' ? null : await startProviderProxy(node.rpcUrl);
  const own = wanted.providers === 'only' ? [] : config.rpcUrls;
  return {
    config: {
      ...config,
      profile: profileNamed(wanted.profile),
      rpcUrls: provider === null ? own : [provider.url, ...own],
    },
    provider,
    pauseToken: openTokenSwitch(config, secret),
    kill: async () => {
      signal('SIGKILL');
      await waitUntil(() => pids().length === 0, ENDED_MS);
      // Stops the mining of the dead node, which has nothing left to save.
      await node.stop();
    },
    start: async () => {
      node = await persistently(start);
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    reorganize: async (blocks) => {
      await connectRpc(node.rpcUrl)('anvil_reorg', [blocks, []]);
    },
    stop: async () => {
      await provider?.stop();
      await node.stop();
    },
  };
}
