import type { Network } from '#core/mode.ts';
import { type ChainProfile, CUSTOM } from '#settlement/chain-profiles.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { Contracts } from '#settlement/contract-versions.ts';
import type { SigningKey } from '#settlement/remote-signer.ts';
import { RpcUnavailable } from '#settlement/rpc-unavailable.ts';

/** Payments of at least `from` wait for additional confirmations. */
export interface CountsRule {
  /** In atoms: the smallest total of a sale (with tip, without fees) to which the rule applies. */
  readonly from: bigint;
  readonly waitsFor: 'inclusion' | 'time' | 'safe' | 'finalized';
  /** The wait in milliseconds if `waitsFor` is `time`; otherwise 0. */
  readonly ms: number;
}

/** Settings that an operator may choose for any chain, including the sandbox's. */
export interface NetworkRules {
  readonly profile: ChainProfile;
  /** Rules by which payments of larger sums wait longer; the smallest sum comes first. */
  readonly countsFrom: readonly CountsRule[];
  /** The shortest time between two batches of a worker; 0 allows one per block. */
  readonly settleEveryMs: number;
  /** The most that a transaction may offer per gas, in wei, however high the chain's fees are. */
  readonly maxFeePerGasCeiling: bigint;
  /** True if an operator has set the ceiling; false if it is the profile's. */
  readonly isFeeSet: boolean;
  /** The factories that may deploy wallets for payers who have signed (ERC-6492). */
  readonly walletFactories: readonly Hex[];
  /** Operators are warned when a sender's balance covers fewer payments than this. */
  readonly lowBalance: number;
}

/** One network as a process sees it: its nodes, its contracts, and the keys that sign. */
export interface NetworkConfig extends NetworkRules, Contracts {
  readonly network: Network;
  readonly livemode: boolean;
  readonly chainId: number;
  /** http(s) URLs of nodes. The first one is preferred; the others are used if it fails. */
  readonly rpcUrls: readonly string[];
  /** HTTP headers for each URL, in order. They usually contain a key. */
  readonly rpcHeaders: readonly Readonly<Record<string, string>>[];
  /** The time-out of each URL; the last one applies to the rest. */
  readonly rpcTimeoutsMs: readonly number[];
  /** Requests per second of this process, to all nodes together; `null` if unlimited. */
  readonly rpcPerSecond: number | null;
  /** The ws(s) URL at which a node announces new blocks; if `null`, the head is polled. */
  readonly headsUrl: string | null;
  /** The URL of a node that browsers may use to check receipts; `null` if there is none. */
  readonly publicRpcUrl: string | null;
  /**
   * URL of a block explorer that shows transactions below `/tx/`, without a trailing slash; `null`
   * if there is none.
   */
  readonly explorerUrl: string | null;
  readonly usdc: Hex;
  /** The token's EIP-712 name and version, for which permits are signed. */
  readonly usdcDomain: { readonly name: string; readonly version: string };
  readonly token: TokenFacts;
  /** By settlement contract, in lower case. Empty until the contracts have been read. */
  readonly contractGas: Map<string, ContractGas>;
  /**
   * Keys with the contract's operator role; each has its own sender. Empty if only other processes
   * settle.
   */
  readonly relayerKeys: readonly SigningKey[];
  /**
   * The key with the registrar role, which has its own sender. `null` if only other processes
   * register.
   */
  readonly registrarKey: SigningKey | null;
  /**
   * A key without a contract role, which only pays the gas of transfers from payers' wallets. It
   * has its own sender, so that no sale waits for transfers. `null` if this process sends no
   * transfers.
   */
  readonly sponsorKey: SigningKey | null;
  /** The number of blocks that must follow the payment's block; 0 means success at inclusion. */
  readonly confirmations: number;
  /**
   * The time that must pass after the payment's block, in milliseconds; 0 if `confirmations` alone
   * decides.
   */
  readonly confirmationsMs: number;
  /** The number of providers that must name the same block before a receipt counts. */
  readonly receiptProviders: 1 | 2;
  /**
   * Time-outs that are counted in blocks assume that a block lasts at least this long. On a faster
   * chain they count more blocks.
   */
  readonly minBlockMs: number;
  /** Interval between polls of the head while jobs are in progress and no node announces blocks. */
  readonly headPollMs: number;
  /** Interval between polls of the head while no jobs are in progress. */
  readonly idleHeadMs: number;
}

export interface TokenFacts {
  /**
   * True if the token has EIP-2612. Without it, payers approve the contract with a transaction of
   * their own wallet.
   */
  readonly hasPermit: boolean;
  /**
   * The reason why signed messages may name the wrong token; `null` while the token's name is
   * known.
   */
  readonly domainProblem: string | null;
}

/** The exact gas that a settlement contract gives to the calls that it makes for a payment. */
export interface ContractGas {
  /** For the token's transfer from the payer (`PULL_GAS`). */
  readonly pull: bigint;
  /** For a contract wallet's check of a signature, in addition (`SIGNATURE_GAS`). */
  readonly signature: bigint;
}

/**
 * Returns what this settlement contract allows; its versions differ.
 * @throws RpcUnavailable if no node has answered yet.
 */
export function gasOfContract(
  { contractGas }: Pick<NetworkConfig, 'contractGas'>,
  settlement: Hex,
): ContractGas {
  const known = contractGas.get(settlement.toLowerCase());
  if (known !== undefined) return known;
  throw new RpcUnavailable('a settlement contract has not been read yet');
}

/**
 * The settings as configured. Values that are `null` here are read from the token's contract, as
 * are its functions.
 */
export interface NetworkSettings
  extends Omit<NetworkConfig, 'usdcDomain' | 'token' | 'contractGas'> {
  readonly usdcDomain: { readonly name: string | null; readonly version: string | null };
}

export const NETWORK_DEFAULTS = {
  sponsorKey: null,
  publicRpcUrl: null,
  explorerUrl: null,
  rpcHeaders: [],
  /** After this long, it is faster to ask the next node than to wait. */
  rpcTimeoutsMs: [3_000],
  rpcPerSecond: null,
  headsUrl: null,
  /** The name and version of TestUSDC. Circle's token is named "USD Coin" or "USDC", version 2. */
  usdcDomain: { name: 'Test USD Coin', version: '1' },
  token: { hasPermit: true, domainProblem: null },
  contractGas: new Map(),
  deployedAtBlock: 0n,
  formerSettlements: [],
  /**
   * For the sandbox, whose chain the service runs itself. For other chains see
   * choose-confirmations.ts.
   */
  confirmations: 0,
  confirmationsMs: 0,
  receiptProviders: 1,
  profile: CUSTOM,
  countsFrom: [],
  settleEveryMs: 0,
  maxFeePerGasCeiling: CUSTOM.highestFee,
  isFeeSet: false,
  /**
   * With a warning at this balance, operators have time to add gas at any rate of sales that one
   * sender can sustain.
   */
  lowBalance: 5_000,
  walletFactories: [],
  /** One second, because providers, mempools and people do not become faster when blocks do. */
  minBlockMs: 1_000,
  /**
   * On average a block is seen half of this time late. Answering a poll takes a node well below 1
   * ms.
   */
  headPollMs: 25,
  /** Four requests a minute: enough to follow fees and to notice a reorganization. */
  idleHeadMs: 15_000,
} as const satisfies Partial<NetworkConfig>;

/** The kinds of sender keys. The sponsor only pays gas and needs no role on the contract. */
export const SENDER_ROLES = ['operator', 'registrar', 'sponsor'] as const;
export type SenderRole = (typeof SENDER_ROLES)[number];
