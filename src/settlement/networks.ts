import type { Network } from '#core/mode.ts';
import type { Hex } from '#settlement/requests.ts';

/** One network as a process knows it: its nodes, what is deployed, and the keys that sign. */
export interface NetworkConfig {
  readonly network: Network;
  readonly livemode: boolean;
  readonly chainId: number;
  /** http(s) addresses, the preferred one first; the others are asked when it fails. */
  readonly rpcUrls: readonly string[];
  /** HTTP headers for each of them, in their order; usually a key. */
  readonly rpcHeaders: readonly Readonly<Record<string, string>>[];
  /** How long each may take to answer; the last one holds for those after it. */
  readonly rpcTimeoutsMs: readonly number[];
  /** Requests per second of this process, over all addresses; null: as many as there are. */
  readonly rpcPerSecond: number | null;
  /** ws(s) address that announces new blocks; null: the head is polled. */
  readonly headsUrl: string | null;
  /** A node that browsers may ask, to check receipts for themselves; null: none. */
  readonly publicRpcUrl: string | null;
  /**
   * Address of a site that shows transactions below `/tx/`, without a slash at its end; null: none.
   */
  readonly explorerUrl: string | null;
  readonly usdc: Hex;
  /** The token's EIP-712 name and version, which permits are signed for. */
  readonly usdcDomain: { readonly name: string; readonly version: string };
  readonly settlement: Hex;
  /** The block of the contract's deployment: nothing of ours is older. */
  readonly deployedAtBlock: bigint;
  /**
   * Private keys with the contract's operator role: one lane each. Empty: other processes settle.
   */
  readonly relayerKeys: readonly Hex[];
  /** Private key with the registrar role: a lane of its own. null: other processes register. */
  readonly registrarKey: Hex | null;
  /** Blocks on top of the payment's own before it counts: 0 is success at inclusion. */
  readonly confirmations: number;
  /** Addresses that must name the same block for a transaction before its receipt counts. */
  readonly receiptWitnesses: 1 | 2;
  /** Wei per gas that is never exceeded, however the fees of the chain rise. */
  readonly maxFeePerGasCeiling: bigint;
  /** Wei of a lane below which operators are warned. */
  readonly lowBalanceWei: bigint;
  /** How often the head is asked for while something is under way and no node announces blocks. */
  readonly headPollMs: number;
  /** How often it is asked for while nothing is under way. */
  readonly idleHeadMs: number;
}

/** As configured; what is null is read from the token. */
export interface NetworkSettings extends Omit<NetworkConfig, 'usdcDomain'> {
  readonly usdcDomain: { readonly name: string | null; readonly version: string | null };
}

/** What need not be chosen per deployment. */
export const NETWORK_DEFAULTS = {
  publicRpcUrl: null,
  explorerUrl: null,
  rpcHeaders: [],
  /** A node that takes longer is worth less than the next one. */
  rpcTimeoutsMs: [3_000],
  rpcPerSecond: null,
  headsUrl: null,
  /** TestUSDC's. Circle's is named "USD Coin" or "USDC", version 2. */
  usdcDomain: { name: 'Test USD Coin', version: '1' },
  deployedAtBlock: 0n,
  /** As in the sandbox, whose chain is our own. For others see confirmations.ts. */
  confirmations: 0,
  receiptWitnesses: 1,
  /** 500 gwei: ten times what a busy day on a cheap chain costs. */
  maxFeePerGasCeiling: 500_000_000_000n,
  /** 0.05 of the chain's coin: some 1,800 payments in full batches at 1 gwei. */
  lowBalanceWei: 50_000_000_000_000_000n,
  /** The mean delay after a block is half of this; an answer costs the node well below 1 ms. */
  headPollMs: 25,
  /** Four requests a minute: often enough for fees and for noticing a reorganisation. */
  idleHeadMs: 15_000,
} as const satisfies Partial<NetworkConfig>;

export type LaneRole = 'operator' | 'registrar';
