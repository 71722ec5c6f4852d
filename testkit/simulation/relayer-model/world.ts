import type { Receipt } from '#settlement/chain/chain.ts';
import type { Fees } from '#settlement/chain/fees/gas-fees.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type {
  Attempt,
  Now,
  Offer,
  OpenRequest,
  Transaction,
} from '#settlement/relayer/state-machine/transaction.ts';

// A small model of the relayer's environment: a chain that can lose blocks, two nodes that can
// disagree, the database's rows, and two workers that pass a lease between them. All values are
// plain and immutable, so that equal states have equal texts.

export interface Bounds {
  readonly name: string;
  /** A slot (sender and nonce) for each possible transaction. A job takes the next free slot. */
  readonly slots: readonly { readonly sender: number; readonly nonce: number }[];
  readonly jobs: number;
  readonly workers: number;
  readonly confirmations: number;
  /**
   * True if a success counts only once its block is safe, which means two blocks below the head.
   */
  readonly waitsForSafe: boolean;
  /** True if a remote signer holds the keys. It signs after the commit. */
  readonly signsElsewhere: boolean;
  /** True if the node responds to the first broadcast only once the transaction is in a block. */
  readonly isAnnounced: boolean;
  /** Number of blocks for which a call is valid. */
  readonly validBlocks: number;
  readonly reorganizations: number;
  readonly leaseMoves: number;
  readonly crashes: number;
  /** Number of times that pools may drop a transaction. */
  readonly evictions: number;
  /** Number of times that nodes may refuse a broadcast, or fail to return receipts or results. */
  readonly faults: number;
  /** True if a thief has the key of the first sender. */
  readonly isStolen: boolean;
  readonly steps: number;
}

/** A chain as one node shows it. */
export interface Branch {
  readonly height: number;
  /** Heights of reorganizations: blocks above the n-th height belong to the n-th branch. */
  readonly cuts: readonly number[];
  /**
   * For each slot, the attempt that was mined (-1 for someone else's transaction) and its height;
   * `null` if none was mined.
   */
  readonly mined: readonly (null | { readonly attempt: number; readonly at: number })[];
}

export interface ChainState extends Branch {
  /** The chain before the last reorganization. A node may still show it. */
  readonly lost: Branch | null;
  /** For each slot, a bit mask of the attempts in the nodes' pools. */
  readonly pool: readonly number[];
  readonly reorganizations: number;
  readonly evictions: number;
  readonly isStolen: boolean;
}

export interface Row {
  readonly status: 'signed' | 'mined' | 'foreign';
  readonly attempts: readonly Offer[];
  readonly wanted: Offer | null;
  /** Jobs whose rows refer to this transaction. */
  readonly jobs: readonly number[];
  /** Jobs that the transaction's call would settle. */
  readonly carried: readonly number[];
  readonly retired: boolean;
  readonly block: { readonly at: number; readonly hash: Hex } | null;
  readonly isIncluded: boolean;
  readonly validUntil: number;
}

export interface Job {
  readonly status: 'queued' | 'submitted' | 'succeeded';
  readonly slot: number | null;
}

export interface Rows {
  readonly transactions: readonly (Row | null)[];
  readonly jobs: readonly Job[];
  readonly leases: readonly { readonly holder: number; readonly fencingToken: number }[];
  readonly leaseMoves: number;
}

export type Task =
  | { readonly kind: 'broadcast' | 'ask_signer' | 'inspect_nonce'; readonly slot: number }
  | { readonly kind: 'mark_included' | 'clear_included'; readonly slot: number }
  | ({ readonly kind: 'replace' | 'cancel'; readonly slot: number } & {
      readonly offer: Offer;
      readonly requeue: boolean;
    })
  | {
      readonly kind: 'apply_result';
      readonly slot: number;
      readonly block: { readonly at: number; readonly hash: Hex };
      readonly succeeded: readonly number[];
    }
  | { readonly kind: 'reopen'; readonly sender: number; readonly from: number }
  | { readonly kind: 'watch_finality' };

export interface Held {
  readonly fencingToken: number;
  readonly open: Readonly<Record<number, Transaction>>;
}

export interface Worker {
  readonly head: { readonly height: number; readonly hash: Hex } | null;
  /**
   * For each sender, what the worker holds; `null` if it believes that it does not hold the sender.
   */
  readonly held: readonly (Held | null)[];
  readonly tasks: readonly Task[];
  /**
   * True if the worker has read the receipts at its head but has not handled overdue transactions
   * yet.
   */
  readonly isTending: boolean;
  readonly crashes: number;
  readonly faults: number;
}

export const hashAt = ({ cuts }: Branch, height: number): Hex => {
  const branch = cuts.findLastIndex((cut) => height > cut);
  return `0xb${height}f${branch + 1}`;
};

/**
 * Returns the branches that nodes may show: the chain, the chain without its newest block, or the
 * branch that the last reorganization replaced. A node may answer any request from any of them.
 */
export function viewsOf(chain: ChainState): readonly Branch[] {
  const height = chain.height - 1;
  const mined = chain.mined.map((one) => (one !== null && one.at > height ? null : one));
  const behind = { height, cuts: chain.cuts, mined };
  return chain.lost === null ? [chain, behind] : [chain, behind, chain.lost];
}

/** Returns the time of a block. Blocks are one second apart. */
export const timeOf = (height: number) => new Date(height * 1_000);

const OFFERED: Fees = { maxFeePerGas: 80n, maxPriorityFeePerGas: 8n };
/** Fee ceiling that leaves room for one fee increase but not for a second. */
const FEE_CEILING = 95n;
export const FIRST_OFFER: Offer = { cancels: false, fees: OFFERED };
export const SAFE_RULE = { from: 0n, waitsFor: 'safe', ms: 0 } as const;
const SAFE_BLOCKS = 2;

export function nowAt(height: number | null, { confirmations }: Bounds): Now {
  return {
    ms: 0,
    head:
      height === null ? null : { number: BigInt(height), time: timeOf(height), baseFeePerGas: 1n },
    fees: OFFERED,
    feeCeiling: FEE_CEILING,
    finality: { safe: BigInt((height ?? 0) - SAFE_BLOCKS), finalized: -1n },
    depth: { blocks: BigInt(confirmations), ms: 0 },
    timeouts: { overdueBlocks: 2n, foreignHeads: 2, unreadablePolls: 2 },
  };
}

/**
 * Returns the lowest head at which the result of a block at height `at` may be read, with all
 * confirmations.
 */
export function leastHead(at: number, bounds: Bounds, isSuccess: boolean): number {
  return at + (bounds.waitsForSafe && isSuccess ? SAFE_BLOCKS : bounds.confirmations);
}

export const hashOf = (slot: number, attempt: number): Hex => `0xa${slot}n${attempt}`;

export function attemptOf(slot: number, index: number, offer: Offer): Attempt {
  const hash = hashOf(slot, index);
  return { ...offer, hash, raw: hash };
}

export function indexOf(hash: Hex): number {
  return Number(hash.split('n')[1]);
}

export function receiptOf(slot: number, attempt: number, at: number, hash: Hex): Receipt {
  return {
    ...{ txHash: hashOf(slot, attempt), succeeded: true, from: '0x01', gasUsed: 1n, logs: [] },
    ...{ blockNumber: BigInt(at), blockHash: hash, host: 'node' },
  };
}

export function jobOf(index: number, owed: boolean): OpenRequest {
  return {
    ...{ id: BigInt(index), kind: 'payment', subjectId: `pi_${index}`, number: BigInt(index) },
    ...{ payload: null, tries: 0, created: timeOf(0), owed, deadline: null, settleWithinS: null },
  };
}

/** Returns the number of a sender's nonces that are used on a branch. */
export function nonceOn(branch: Branch, sender: number, { slots }: Bounds): number {
  return slots.filter((slot, index) => slot.sender === sender && branch.mined[index]).length;
}

/**
 * Returns the jobs that the chain has settled, with the height. Of several calls that carry a job,
 * the first one in time settles it.
 */
export function settledOn(branch: Branch, rows: Rows): ReadonlyMap<number, number> {
  const settled = new Map<number, number>();
  branch.mined.forEach((mined, slot) => {
    const row = rows.transactions[slot];
    if (!mined || !row || mined.attempt < 0) return;
    if (row.attempts[mined.attempt]?.cancels !== false || mined.at > row.validUntil) return;
    for (const job of row.carried) {
      const before = settled.get(job);
      if (before === undefined || mined.at < before) settled.set(job, mined.at);
    }
  });
  return settled;
}

// Each exploration combines only some kinds of faults. All of them together would have more states
// than fit into memory: each further step multiplies the states by 2.5.

const ONE_SENDER = [{ sender: 0, nonce: 0 }];
const TWO_SENDERS = [...ONE_SENDER, { sender: 1, nonce: 0 }];
const TWO_NONCES = [
  { sender: 0, nonce: 0 },
  { sender: 0, nonce: 1 },
  { sender: 1, nonce: 0 },
];

const CALM: Omit<Bounds, 'name'> = {
  ...{ slots: ONE_SENDER, jobs: 1, workers: 1, confirmations: 0, waitsForSafe: false },
  ...{ signsElsewhere: false, isAnnounced: false, validBlocks: 9, reorganizations: 0 },
  ...{ leaseMoves: 0, crashes: 0, evictions: 0, faults: 0, isStolen: false, steps: 12 },
};
const PAIR = { ...CALM, slots: TWO_NONCES, jobs: 2, steps: 8 };

export const BOUNDS = {
  reorganizations: { reorganizations: 1 },
  crashes: { reorganizations: 1, crashes: 1 },
  leases: { workers: 2, leaseMoves: 1, crashes: 1 },
  'nodes that fail': { faults: 2, evictions: 1 },
  'a deadline': { slots: TWO_SENDERS, validBlocks: 1, evictions: 1 },
  confirmations: { confirmations: 1, reorganizations: 1, evictions: 1 },
  'safe blocks': { waitsForSafe: true, reorganizations: 1, evictions: 1 },
  'a signer': {
    ...{ slots: TWO_SENDERS, signsElsewhere: true, validBlocks: 1 },
    ...{ crashes: 1, evictions: 1 },
  },
  'early receipts': { isAnnounced: true, reorganizations: 1 },
  'a stolen key': { slots: TWO_SENDERS, isStolen: true },
  'two transactions': { ...PAIR, reorganizations: 1, crashes: 1 },
  'two transactions, two workers': { ...PAIR, workers: 2, leaseMoves: 1, crashes: 1, faults: 1 },
  'two transactions, a deadline': {
    ...{ ...PAIR, validBlocks: 1, evictions: 1 },
    reorganizations: 1,
  },
} as const satisfies Record<string, Partial<Bounds>>;

export type BoundsName = keyof typeof BOUNDS;

/**
 * Returns the bounds of an exploration. `deeper` is the number of steps beyond those of a normal
 * test run.
 */
export function boundsOf(name: BoundsName, deeper = 0): Bounds {
  const bounds = { ...CALM, ...BOUNDS[name], name };
  return { ...bounds, steps: bounds.steps + deeper };
}
