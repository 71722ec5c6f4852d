import type { LoopDeps } from '#db/loop-deps.ts';
import type { BlockRhythm } from '#settlement/chain/block-rhythm.ts';
import type { Block, Chain, Receipt } from '#settlement/chain/chain.ts';
import type { ToldHead } from '#settlement/chain/heads.ts';
import type { SecondWord } from '#settlement/chain/witness.ts';
import type { CountsRule, LaneRole } from '#settlement/networks.ts';
import type { Hex, RequestKind } from '#settlement/requests.ts';
import type { Signer } from '#settlement/signer.ts';

export interface RelayerDeps extends LoopDeps {
  readonly chain: Chain;
  /** How long a dead worker's lanes stay untouched. Renewed four times as often. */
  readonly leaseMs?: number;
}

/** Long enough for a pause of the process, short enough for customers at a counter. */
export const LEASE_MS = 6_000;

/**
 * What one process knows about one network. It can all be lost at any time: the rows of
 * chain_transactions and chain_requests hold everything that matters.
 */
export interface RelayerState extends Required<RelayerDeps> {
  /** The name of this process in leases. */
  readonly owner: string;
  readonly configured: readonly ConfiguredLane[];
  readonly lanes: Map<number, HeldLane>;
  head: Block | null;
  /** Something contradicts the head; null: nothing does. */
  doubt: HeadDoubt | null;
  /**
   * By how many blocks nodes behind one address were seen to differ: a block that lags is not lost.
   */
  spread: bigint;
  /** This worker's view of the chain, as all processes get it. */
  readonly sight: ChainSight;
  /** What to offer now; null until a block was seen. */
  fees: Fees | null;
  /** The newest block that a node has announced; null: none does. */
  announced: bigint | null;
  /** A node has just said that something of ours is in a block: the head is worth a look. */
  lookNow: () => void;
  /** What recent blocks took as tips, as far as a node has said so. */
  tips: readonly bigint[];
  /** The next look at the chain asks for every open transaction, not only for those in the head. */
  recheckAll: boolean;
  /** Blocks up to which the chain is safe and final, read (process time) while that matters. */
  marks: { readonly safe: bigint; readonly finalized: bigint; readonly readAt: number };
  /** The newest blocks that a node has announced (see told-heads.ts). */
  readonly toldHeads: Map<bigint, ToldHead>;
  /** When this process first saw the newest blocks, by their hashes. */
  readonly firstSeen: Map<string, Date>;
  /** When to expect the next block. */
  rhythm: BlockRhythm;
  /** Requests that a node could not judge, and the process time until which they are left alone. */
  readonly deferred: Map<bigint, number>;
  /** By lane: what addresses have shown at a nonce that we did not expect to be used. */
  readonly sightings: Map<number, readonly Sighting[]>;
}

/** A lane that this process has leased. */
export interface HeldLane {
  readonly lane: number;
  readonly role: LaneRole;
  readonly address: Hex;
  readonly account: Signer;
  /** A signature is a question to another program, which may not answer. */
  readonly signsElsewhere: boolean;
  /** That program is being asked, and no loop waits for it. */
  asking: boolean;
  readonly fence: bigint;
  /** By nonce: signed and, as far as we know, not mined. */
  readonly open: Map<bigint, OpenTransaction>;
  /** Takes no new work: another worker gets it as soon as it is idle. */
  draining: boolean;
  /** Cannot pay for another transaction: takes no new work until it is funded. */
  starved: boolean;
  /** How many its coin pays for at the fees of the last look; null: no look yet. */
  paymentsLeft: bigint | null;
  /** Somebody else has used its key: takes no new work, ever. */
  stopped: boolean;
}

export interface OpenTransaction {
  readonly id: bigint;
  readonly nonce: bigint;
  readonly kind: string;
  readonly target: Hex;
  readonly input: Hex;
  readonly gasLimit: bigint;
  /** Each was stored before it was sent. The newest, which is the one to be sent, comes last. */
  readonly attempts: Attempt[];
  /** What a signer elsewhere is asked for, and has not given yet; null: nothing. */
  unsigned: Offer | null;
  /** Empty once a no-op has taken its place. */
  requests: readonly OpenRequest[];
  /**
   * By the chain's clock: the contract refuses the call in later blocks. null: it never expires.
   */
  readonly validUntil: Date | null;
  /** When it was signed, as `performance.now()` says it; null: by another process. */
  readonly signedAtMs: number | null;
  /** The head when it was last sent; null: not sent by this process. */
  sentAtBlock: bigint | null;
  /** The first head that was followed after that; null: none yet. */
  seenAtBlock: bigint | null;
  /** The block in which it was last found, and since when (process time); null: in none yet. */
  included: { readonly blockHash: Hex; readonly blockNumber: bigint; readonly at: number } | null;
  /** What was said of its block before a look asked for it; null: nothing, or it was used. */
  told: ToldReceipt | null;
  /** The address that took it is going to say at once that it is in a block. */
  isToBeTold: boolean;
  /** It is in a block, and its payments are large enough to wait for this too; null: not so. */
  waits: CountsRule | null;
  /** How often it had to be sent again. */
  resent: number;
  /** Its receipt may be in any block: ask for it, whatever the head lists. */
  recheck: boolean;
  /** Its receipt was asked for last, and no node could say whether there is one. */
  unread: boolean;
  /** Blocks in which its nonce was seen used without a receipt for any of its attempts. */
  usedElsewhere: number;
  /** How many looks at its receipt have shown no outcome. */
  undecided: number;
  /** A person has been told of that. */
  isToldUnreadable: boolean;
  /** A node will never take these bytes: its nonce needs a no-op. */
  unsendable: boolean;
}

export interface ToldReceipt {
  readonly receipt: Receipt;
  /** What the second address says of it, asked at once as well. */
  readonly second: Promise<SecondWord | null>;
}

export interface Attempt extends Offer {
  readonly hash: Hex;
  readonly raw: Hex;
}

/** What an attempt offers for its nonce, and whether it only uses it up. */
export interface Offer {
  readonly noop: boolean;
  readonly fees: Fees;
}

export interface OpenRequest {
  readonly id: bigint;
  readonly kind: RequestKind;
  readonly subjectId: string;
  readonly number: bigint | null;
  readonly payload: unknown;
  readonly tries: number;
  readonly created: Date;
  /**
   * It has succeeded once and the ledger says so, but a reorganization has undone it: it is never
   * given up, and nobody is told about it a second time.
   */
  readonly owed: boolean;
  /** For a payment: the real time by which it has to settle. null: no deadline. */
  readonly deadline: Date | null;
  /** The seconds that it was given. */
  readonly settleWithinS: number | null;
  /** For a booked sale that the chain refuses: when it is sent no more. */
  readonly owedUntil?: Date | null;
}

/** In the order of nonces, as they must be sent. */
export function inNonceOrder(lane: HeldLane): OpenTransaction[] {
  return [...lane.open.values()].sort((a, b) => (a.nonce < b.nonce ? -1 : 1));
}

/** A lane is its address, for ever: nonces belong to it, not to a place in the configuration. */
export interface ConfiguredLane {
  readonly address: Hex;
  readonly role: LaneRole;
  readonly account: Signer;
  readonly signsElsewhere: boolean;
}

/** What a transaction offers, in wei per gas (EIP-1559). */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** A transaction at a nonce of ours that two addresses, or one twice, have shown. */
export interface ShownTransaction {
  readonly hash: Hex;
  readonly nonce: bigint;
}

/** What one address has shown at a nonce, and when (process time). */
export interface Sighting extends ShownTransaction {
  readonly host: string;
  readonly at: number;
}

/** Nothing was read yet. */
export const NO_MARKS = { safe: -1n, finalized: -1n, readAt: Number.NEGATIVE_INFINITY } as const;

/** Something that contradicts the head that we know, and since when (process time). */
export interface HeadDoubt {
  readonly since: number;
  readonly looks: number;
}

/** When this process last got an answer about the chain, whatever it did with it. */
export interface ChainSight {
  /** Process time of the last look that was answered; null: none was. */
  answeredAt: number | null;
  failedLooks: number;
  /** How far the head's time was from ours at that look, in milliseconds; null: no look. */
  headOffMs: number | null;
  paused: boolean;
  /** The last alarm about the hourly ceiling. */
  ceilingTold: string | null;
  /** The last one about what may leave in an hour. */
  outflowTold: string | null;
  /** Much of this hour is used: its end may be near. */
  nearCeiling: boolean;
}
