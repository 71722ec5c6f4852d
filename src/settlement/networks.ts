import type { Network } from '#core/mode.ts';
import { type ChainProfile, CUSTOM } from '#settlement/chain-profiles.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { Contracts } from '#settlement/contract-versions.ts';
import type { SigningKey } from '#settlement/signer.ts';

/** The additional confirmations for payments of this sum or more. */
export interface CountsRule {
  /** Atoms: the payer's total for the sale, tip included, without fees. */
  readonly from: bigint;
  readonly waitsFor: 'inclusion' | 'time' | 'safe' | 'finalized';
  /** The wait in milliseconds, if the rule waits for a time; otherwise 0. */
  readonly ms: number;
}

/** Settings that an operator may choose for any chain, including the sandbox's. */
export interface NetworkRules {
  /** Facts about chains of this kind. */
  readonly profile: ChainProfile;
  /** Sums from which payments wait longer, the smallest sum first. */
  readonly countsFrom: readonly CountsRule[];
  /** The shortest time between two batches of a worker; 0 allows one per block. */
  readonly settleEveryMs: number;
  /** The highest offer in wei per gas, however high the chain's fees are. */
  readonly maxFeePerGasCeiling: bigint;
  /** True if an operator has set the ceiling; otherwise it is the profile's. */
  readonly isFeeSet: boolean;
  /** The factories that may deploy wallets for payers who have signed (ERC-6492). */
  readonly walletFactories: readonly Hex[];
  /** Operators are warned when a sender's balance pays for fewer payments than this. */
  readonly lowBalance: number;
}

/** One network as a process sees it: its nodes, its contracts, and the keys that sign. */
export interface NetworkConfig extends NetworkRules, Contracts {
  readonly network: Network;
  readonly livemode: boolean;
  readonly chainId: number;
  /** http(s) URLs, the preferred one first; the others are used if it fails. */
  readonly rpcUrls: readonly string[];
  /** HTTP headers for each URL, in order; usually a key. */
  readonly rpcHeaders: readonly Readonly<Record<string, string>>[];
  /** The time-out of each URL; the last one applies to the rest. */
  readonly rpcTimeoutsMs: readonly number[];
  /** Requests per second of this process, to all nodes together; `null` if unlimited. */
  readonly rpcPerSecond: number | null;
  /** The ws(s) URL that announces new blocks; if `null`, the head is polled. */
  readonly headsUrl: string | null;
  /** A node that browsers may use to check receipts; `null` if there is none. */
  readonly publicRpcUrl: string | null;
  /** URL of an explorer with transactions below `/tx/`, no trailing slash; `null` if none. */
  readonly explorerUrl: string | null;
  readonly usdc: Hex;
  /** The token's EIP-712 name and version, for which permits are signed. */
  readonly usdcDomain: { readonly name: string; readonly version: string };
  readonly token: TokenFacts;
  /** Keys with the contract's operator role, one sender each. Empty if other processes settle. */
  readonly relayerKeys: readonly SigningKey[];
  /** The key with the registrar role, for a separate sender. `null` if other processes register. */
  readonly registrarKey: SigningKey | null;
  /**
   * A key without a contract role, which only pays the gas of transfers from payers' wallets. It
   * has its own sender, so that no sale waits for transfers. `null` if this process sends none.
   */
  readonly sponsorKey: SigningKey | null;
  /** Further blocks required after the payment's block; 0 means success at inclusion. */
  readonly confirmations: number;
  /**
   * Milliseconds of further blocks required after the payment's block, if a time is set; otherwise
   * 0.
   */
  readonly confirmationsMs: number;
  /** The number of providers that must name the same block before a receipt counts. */
  readonly receiptProviders: 1 | 2;
  /**
   * In time-outs that are counted in blocks, each block counts as at least this long, so a faster
   * chain waits for more blocks.
   */
  readonly minBlockMs: number;
  /** Interval between polls of the head while jobs are in progress and no node announces blocks. */
  readonly headPollMs: number;
  /** Interval between polls of the head while no jobs are in progress. */
  readonly idleHeadMs: number;
}

/** What was read from the token's contract. */
export interface TokenFacts {
  /**
   * True if the token has EIP-2612. Without it, payers approve the contract with a transaction of
   * their own wallet.
   */
  readonly hasPermit: boolean;
  /** Why signed messages may name the wrong token; `null` while its name is known. */
  readonly domainProblem: string | null;
}

/**
 * The settings as configured. Values that are `null` here, and the token's functions, are read from
 * the token.
 */
export interface NetworkSettings extends Omit<NetworkConfig, 'usdcDomain' | 'token'> {
  readonly usdcDomain: { readonly name: string | null; readonly version: string | null };
}

/** Settings that need not be chosen per deployment. */
export const NETWORK_DEFAULTS = {
  sponsorKey: null,
  publicRpcUrl: null,
  explorerUrl: null,
  rpcHeaders: [],
  /** Longer than this, asking the next node is faster than waiting. */
  rpcTimeoutsMs: [3_000],
  rpcPerSecond: null,
  headsUrl: null,
  /** The name and version of TestUSDC. Circle's token is named "USD Coin" or "USDC", version 2. */
  usdcDomain: { name: 'Test USD Coin', version: '1' },
  token: { hasPermit: true, domainProblem: null },
  deployedAtBlock: 0n,
  formerSettlements: [],
  /**
   * The value for the sandbox, whose chain the service runs itself. For other chains see
   * base-confirmations.ts.
   */
  confirmations: 0,
  confirmationsMs: 0,
  receiptProviders: 1,
  profile: CUSTOM,
  countsFrom: [],
  settleEveryMs: 0,
  maxFeePerGasCeiling: CUSTOM.highestFee,
  isFeeSet: false,
  /** Leaves enough time to add gas at any rate of sales that one sender can sustain. */
  lowBalance: 5_000,
  walletFactories: [],
  /** One second, because providers, mempools and people are not faster when blocks are. */
  minBlockMs: 1_000,
  /** On average a block is seen half of this late. Answering takes a node well below 1 ms. */
  headPollMs: 25,
  /** Four requests a minute, enough for fees and for noticing a reorganization. */
  idleHeadMs: 15_000,
} as const satisfies Partial<NetworkConfig>;

/** The kinds of sender keys. The sponsor only pays gas and needs no role on the contract. */
export const SENDER_ROLES = ['operator', 'registrar', 'sponsor'] as const;
export type SenderRole = (typeof SENDER_ROLES)[number];
