import { formatGwei } from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';

/** `custom` is any other chain. */
export const PROFILE_NAMES = ['base', 'base-sepolia', 'arc', 'ethereum', 'custom'] as const;

export type ProfileName = (typeof PROFILE_NAMES)[number];

/**
 * The way in which the chain's blocks become final. `sequencer`: one party orders the blocks until
 * another chain has recorded them. `slots`: validators vote, so the newest blocks may change.
 * `deterministic`: blocks are never undone. `unknown`: treated as the least certain.
 */
export type Finality = 'sequencer' | 'slots' | 'deterministic' | 'unknown';

/** Facts about a chain that are known before its first block is read. */
export interface ChainProfile {
  readonly name: ProfileName;
  /** The profile's chain id; `null` if any id is allowed. */
  readonly chainId: number | null;
  /** Milliseconds between blocks; `null` if they vary. The relayer also measures the interval. */
  readonly blockMs: number | null;
  readonly finality: Finality;
  readonly coin: {
    readonly symbol: string;
    /** Decimals of the native balance, in which fees are counted. */
    readonly decimals: number;
    /** The unit in which the coin is priced. A coin worth one dollar needs no exchange rate. */
    readonly priceUnit: 'USD' | 'coin';
  };
  /** Gas per second that all users together can use; `null` if unknown. */
  readonly gasPerSecond: number | null;
  /** The chain's USDC; `null` if the operator must set it. */
  readonly usdc: {
    readonly address: Hex;
    readonly name: string;
    readonly version: string;
    /**
     * True if the token has EIP-2612. `null` if sources contradict each other; then the token
     * itself is queried.
     */
    readonly permit: boolean | null;
  } | null;
  readonly explorerUrl: string | null;
  /** The highest fee that a transaction may offer per gas, in wei. */
  readonly highestFee: bigint;
  /** The highest tip within that fee, in wei. */
  readonly highestTip: bigint;
  /** Well-known factories of contract wallets: the default of `…_WALLET_FACTORIES`. */
  readonly walletFactories: readonly Hex[];
  /**
   * True if transactions also pay for publication on another chain (priced by OP Stack's
   * GasPriceOracle).
   */
  readonly hasL1Fee: boolean;
}

const GWEI = 1_000_000_000n;

// The comment beside a fact names its source and the date when it was read. Addresses and names of
// USDC on Base and Ethereum: Circle's list
// (developers.circle.com/stablecoins/usdc-contract-addresses).

/** The same addresses on Base and Base Sepolia. */
export const WALLET_FACTORIES: readonly Hex[] = [
  // Coinbase Smart Wallet and Base Account, versions 1.1 and 1: viem 2, toCoinbaseSmartAccount,
  // 2026-11-28.
  '0xBA5ED110eFDBa3D005bfC882d75358ACBbB85842',
  '0x0BA5ED0c6AA8c49038F819E587E2633c4A9F428a',
  // Safe 1.4.1: safe-global/safe-deployments 1.37.53, safe_proxy_factory.json, 2026-11-28.
  '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67',
];

const BASE: ChainProfile = {
  name: 'base',
  chainId: 8453,
  // docs.base.org, specs/upgrades/denim/overview, 2026-11-22: in effect since 2026-11-05; five
  // blocks share a timestamp.
  blockMs: 200,
  finality: 'sequencer',
  coin: { symbol: 'ETH', decimals: 18, priceUnit: 'coin' },
  // docs.base.org, network-information/throughput-and-limits, 2026-11-22: 400 million in 2 s.
  gasPerSecond: 200_000_000,
  usdc: {
    address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    name: 'USD Coin',
    version: '2',
    permit: true,
  },
  explorerUrl: 'https://basescan.org',
  // docs.base.org, network-information/configuration-changelog, 2026-11-22: the lowest base fee is
  // 0.005 gwei. At a thousand times that fee, settling a small sum costs more than it is worth.
  highestFee: 5n * GWEI,
  highestTip: GWEI,
  walletFactories: WALLET_FACTORIES,
  hasL1Fee: true,
};

const BASE_SEPOLIA: ChainProfile = {
  ...BASE,
  name: 'base-sepolia',
  chainId: 84532,
  usdc: {
    address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    name: 'USDC',
    version: '2',
    permit: true,
  },
  explorerUrl: 'https://sepolia.basescan.org',
};

const ARC: ChainProfile = {
  name: 'arc',
  // docs.dune.com/data-catalog/evm/arc and docs.arc.network/arc/references, 2026-11-23: mainnet
  // since 2026-09-16, a block every half second, final at inclusion, USDC is the native coin.
  chainId: 5042,
  blockMs: 500,
  finality: 'deterministic',
  coin: { symbol: 'USDC', decimals: 18, priceUnit: 'USD' },
  // 30 million per block, dev.to "Arc Chain, in Numbers", read from the chain on 2026-09-20.
  gasPerSecond: 60_000_000,
  usdc: {
    // docs.arc.network/arc/references/contract-addresses, 2026-11-23: this token contract shows the
    // native balance with 6 decimals.
    address: '0x3600000000000000000000000000000000000000',
    name: 'USDC',
    version: '2',
    // circlefin/arc-node#93 reports permits; #164 contradicts it.
    permit: null,
  },
  // docs.bitquery.io/docs/blockchain/arc-mainnet, 2026-11-23.
  explorerUrl: 'https://explorer.arc.io',
  // The base fee is fixed at 20 gwei (18 decimals), so a single payment costs a tenth of a cent.
  highestFee: 200n * GWEI,
  highestTip: 20n * GWEI,
  walletFactories: [],
  hasL1Fee: false,
};

const ETHEREUM: ChainProfile = {
  name: 'ethereum',
  chainId: 1,
  blockMs: 12_000,
  finality: 'slots',
  coin: { symbol: 'ETH', decimals: 18, priceUnit: 'coin' },
  // 60 million per block since 2025-11-25 (ethereum.org/roadmap/fusaka, 2026-11-22).
  gasPerSecond: 5_000_000,
  usdc: {
    address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    name: 'USD Coin',
    version: '2',
    permit: true,
  },
  explorerUrl: 'https://etherscan.io',
  highestFee: 200n * GWEI,
  highestTip: 10n * GWEI,
  // No factories: at 20 gwei, the million gas of a deployment costs 0.02 ETH, more than most sales
  // earn.
  walletFactories: [],
  hasL1Fee: false,
};

/** A chain without a profile: its facts are measured, read from it, or set by the operator. */
export const CUSTOM: ChainProfile = {
  name: 'custom',
  chainId: null,
  blockMs: null,
  finality: 'unknown',
  coin: { symbol: 'coin', decimals: 18, priceUnit: 'coin' },
  gasPerSecond: null,
  usdc: null,
  explorerUrl: null,
  // Ten times the fee of a busy day on a cheap chain.
  highestFee: 500n * GWEI,
  highestTip: 500n * GWEI,
  walletFactories: [],
  hasL1Fee: false,
};

const PROFILES: readonly ChainProfile[] = [BASE, BASE_SEPOLIA, ARC, ETHEREUM];

export function profileOfChain(chainId: number): ChainProfile {
  return PROFILES.find((profile) => profile.chainId === chainId) ?? CUSTOM;
}

export function profileNamed(name: ProfileName): ChainProfile {
  return PROFILES.find((profile) => profile.name === name) ?? CUSTOM;
}

/**
 * Returns the requested profile, or the chain id's profile if none was requested; `null` if the id
 * belongs to another profile. `custom` may be requested for any id, and any profile for an unknown
 * id, because a private chain may behave like a known one.
 */
export function profileFor(name: ProfileName | null, chainId: number): ChainProfile | null {
  const own = profileOfChain(chainId);
  if (name === null) return own;
  return own.name === name || own === CUSTOM || name === 'custom' ? profileNamed(name) : null;
}

const FINAL_WORDS: Readonly<Record<Finality, string>> = {
  sequencer: 'a block depends on the sequencer until it is safe',
  slots: 'the newest blocks may change until they are final',
  deterministic: 'a block is final once it exists',
  unknown: 'the node says which block is final',
};

export function describeProfile(chain: {
  readonly network: string;
  readonly chainId: number;
  readonly profile: ChainProfile;
  readonly maxFeePerGasCeiling: bigint;
}): string {
  const { network, chainId, profile, maxFeePerGasCeiling } = chain;
  const { blockMs, coin, usdc, gasPerSecond } = profile;
  const permits = usdc?.permit === true ? 'has permit' : 'is checked for permit';
  const facts = [
    blockMs === null ? 'the time between blocks is measured' : `a block every ${blockMs} ms`,
    FINAL_WORDS[profile.finality],
    profile === CUSTOM ? null : `fees in ${coin.symbol} of ${coin.decimals} decimals`,
    gasPerSecond === null ? null : `${gasPerSecond / 1e6} million gas a second`,
    usdc === null ? null : `USDC ${permits}`,
    `at most ${formatGwei(maxFeePerGasCeiling)} gwei for gas`,
  ].filter((fact) => fact !== null);
  return `${network}: profile ${profile.name} for chain ${chainId}: ${facts.join(', ')}`;
}
