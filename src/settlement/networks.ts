import type { Network } from '#core/mode.ts';
import type { Contracts } from '#settlement/contract-versions.ts';
import { type ChainProfile, CUSTOM } from '#settlement/profiles.ts';
import type { Hex } from '#settlement/requests.ts';
import type { SigningKey } from '#settlement/signer.ts';

/** A payment of this sum or more waits for this, besides what every payment waits for. */
export interface CountsRule {
  /** Atoms: what its payer pays for the sale, tip included, without fees. */
  readonly from: bigint;
  readonly waitsFor: 'inclusion' | 'time' | 'safe' | 'finalized';
  /** How long, where it waits for `time`; otherwise 0. */
  readonly ms: number;
}

/** What an operator may choose for any chain, the embedded ones too. */
export interface NetworkRules {
  /** What is known of chains of its kind. */
  readonly profile: ChainProfile;
  /** From which sums a payment waits for more than the others, the smallest sum first. */
  readonly countsFrom: readonly CountsRule[];
  /** Between two batches of a worker at least; 0: each block may have one. */
  readonly settleEveryMs: number;
  /** Wei per gas that is never exceeded, however the fees of the chain rise. */
  readonly maxFeePerGasCeiling: bigint;
  /** Whether a person has set that; otherwise it is the profile's. */
  readonly isFeeSet: boolean;
  /** Payments that a sender's coin still pays for, below which operators are warned. */
  readonly lowBalance: number;
}

/** One network as a process knows it: its nodes, what is deployed, and the keys that sign. */
export interface NetworkConfig extends NetworkRules, Contracts {
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
  readonly token: TokenFacts;
  /**
   * Keys with the contract's operator role: one sender each. Empty: other processes settle.
   */
  readonly relayerKeys: readonly SigningKey[];
  /** The key with the registrar role: a sender of its own. null: other processes register. */
  readonly registrarKey: SigningKey | null;
  /**
   * A key without a role, whose coin pays for what payers send out of their wallets: a sender
   * of its own, so that no sale waits for it. null: nothing of that is sent from here.
   */
  readonly sponsorKey: SigningKey | null;
  /** Blocks on top of the payment's own before it counts: 0 is success at inclusion. */
  readonly confirmations: number;
  /** Milliseconds of blocks on top of it, where a time was asked for; otherwise 0. */
  readonly confirmationsMs: number;
  /** Addresses that must name the same block for a transaction before its receipt counts. */
  readonly receiptProviders: 1 | 2;
  /**
   * A time-out that is counted in blocks lasts at least so long for each of them: on a faster chain
   * it is so many blocks more.
   */
  readonly minBlockMs: number;
  /** How often the head is asked for while something is under way and no node announces blocks. */
  readonly headPollMs: number;
  /** How often it is asked for while nothing is under way. */
  readonly idleHeadMs: number;
}

/** What the token's contract was found to have. */
export interface TokenFacts {
  /** EIP-2612. Without it, payers allow the contract by a transaction of their own wallet. */
  readonly hasPermit: boolean;
  /** Why what is signed for it may name another token; `null` while its name is known. */
  readonly domainProblem: string | null;
}

/** As configured; what is null, and what the token has, is read from it. */
export interface NetworkSettings extends Omit<NetworkConfig, 'usdcDomain' | 'token'> {
  readonly usdcDomain: { readonly name: string | null; readonly version: string | null };
}

/** What need not be chosen per deployment. */
export const NETWORK_DEFAULTS = {
  sponsorKey: null,
  publicRpcUrl: null,
  explorerUrl: null,
  rpcHeaders: [],
  /** A node that takes longer is worth less than the next one. */
  rpcTimeoutsMs: [3_000],
  rpcPerSecond: null,
  headsUrl: null,
  /** TestUSDC's. Circle's is named "USD Coin" or "USDC", version 2. */
  usdcDomain: { name: 'Test USD Coin', version: '1' },
  token: { hasPermit: true, domainProblem: null },
  deployedAtBlock: 0n,
  formerSettlements: [],
  /** As in the sandbox, whose chain is our own. For others see confirmations.ts. */
  confirmations: 0,
  confirmationsMs: 0,
  receiptProviders: 1,
  profile: CUSTOM,
  countsFrom: [],
  settleEveryMs: 0,
  maxFeePerGasCeiling: CUSTOM.highestFee,
  isFeeSet: false,
  /** Time to send coin, at any rate of sales that one sender can have for a while. */
  lowBalance: 5_000,
  /** A second: what providers, pools and people need does not shrink with the blocks. */
  minBlockMs: 1_000,
  /** The mean delay after a block is half of this; an answer costs the node well below 1 ms. */
  headPollMs: 25,
  /** Four requests a minute: often enough for fees and for noticing a reorganization. */
  idleHeadMs: 15_000,
} as const satisfies Partial<NetworkConfig>;

/** Which keys there are. A sponsor only pays gas: it needs no role of the contract. */
export const SENDER_ROLES = ['operator', 'registrar', 'sponsor'] as const;
export type SenderRole = (typeof SENDER_ROLES)[number];
