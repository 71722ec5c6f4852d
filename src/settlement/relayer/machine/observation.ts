import type { Receipt } from '#settlement/chain/chain.ts';
import type { CountsRule } from '#settlement/networks.ts';
import type {
  Attempt,
  EarlyReceipt,
  Fees,
  Offer,
  Transaction,
} from '#settlement/relayer/machine/transaction.ts';
import type { Hex } from '#settlement/requests.ts';

/** What can be learned about a transaction that is open. */
export type Observation =
  /** It is about to go to a node, which may not answer. */
  | { readonly kind: 'sent'; readonly atBlock: bigint }
  /** A node has refused these bytes. */
  | { readonly kind: 'refused'; readonly hash: Hex; readonly verdict: Refusal }
  /** A receipt came together with a head, before it was asked for. */
  | { readonly kind: 'early_receipt'; readonly early: EarlyReceipt }
  /** Blocks between this head and the one before it were not seen. */
  | { readonly kind: 'blocks_skipped'; readonly number: bigint }
  /** A head was followed: its receipts are known. */
  | { readonly kind: 'head'; readonly number: bigint }
  /** Its receipt is asked for now. Should that fail, it is asked for at the next head. */
  | { readonly kind: 'receipt_asked' }
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  /** No block holds it. `isListed`: the head lists it, so a node lags. */
  | { readonly kind: 'no_receipt'; readonly isListed: boolean }
  /** No node could say, or the second provider denies what the first one says. */
  | { readonly kind: 'receipt_unanswered' }
  /** Its result was read; `rule`: the confirmation tier of what succeeded. */
  | { readonly kind: 'result_read'; readonly rule: CountsRule | null }
  | { readonly kind: 'result_unreadable' }
  /** Blocks that this process has followed have left the chain. */
  | { readonly kind: 'reorganized' }
  /** Rows have changed under this process: ask for everything again. */
  | { readonly kind: 'ask_again' }
  /** At the head, the chain has used its nonce. */
  | { readonly kind: 'nonce_used' }
  /** At the head, the chain has not used its nonce. */
  | {
      readonly kind: 'nonce_unused';
      /** It is the next one of its sender. */
      readonly isNext: boolean;
      /** The chain has had time for what the sender has under way. */
      readonly isOverdue: boolean;
    }
  // What follows was committed before it is observed.
  | { readonly kind: 'attempt_stored'; readonly attempt: Attempt; readonly isRequeued: boolean }
  | { readonly kind: 'offer_stored'; readonly offer: Offer; readonly isRequeued: boolean }
  /** The signer gave the bytes that it was asked for. */
  | { readonly kind: 'signature_stored'; readonly attempt: Attempt; readonly offer: Offer }
  | { readonly kind: 'result_written' }
  /** Nodes have shown a foreign transaction at its nonce: the row says so, its jobs are queued. */
  | { readonly kind: 'foreign' };

export type Refusal =
  /** It offers less than the chain asks for now. */
  | 'underpriced'
  /** The sender cannot pay for it. */
  | 'unfunded'
  /** No node will ever take these bytes. */
  | 'unsendable';

/** What has to be done. An effect that commits something is followed by the observation of it. */
export type Effect =
  /** Send the newest bytes. */
  | { readonly kind: 'broadcast' }
  /** Ask the signer for the bytes that it owes. */
  | { readonly kind: 'ask_signer' }
  /** Offer more at the same nonce for the same call. */
  | { readonly kind: 'replace'; readonly offer: Offer }
  /** A cancellation takes the nonce; with `requeue` its jobs are queued again, at once. */
  | { readonly kind: 'cancel'; readonly offer: Offer; readonly requeue: boolean }
  /** The receipt lies deep enough: read what it means for each job. */
  | { readonly kind: 'read_result' }
  /** Write the results of its jobs, and queue again those without one. */
  | { readonly kind: 'apply_result' }
  /** Write that it is in a block and waits for more; or that it does so no more. */
  | { readonly kind: 'mark_included'; readonly waitsFor: CountsRule['waitsFor'] }
  | { readonly kind: 'clear_included' }
  /** Ask nodes which transaction has used its nonce. */
  | { readonly kind: 'inspect_nonce' }
  | { readonly kind: 'alert'; readonly about: 'result_unreadable' | 'fee_ceiling' }
  /** It is open no more: forget it. */
  | { readonly kind: 'drop' };

/** What this process knows at the time of an observation. */
export interface Now {
  /** Process time. */
  readonly ms: number;
  readonly head: {
    readonly number: bigint;
    readonly time: Date;
    readonly baseFeePerGas: bigint;
  } | null;
  /** What to offer now. */
  readonly fees: Fees;
  readonly feeCeiling: bigint;
  /** Blocks up to which the chain is safe and finalized. */
  readonly marks: { readonly safe: bigint; readonly finalized: bigint };
  /** What a result needs at least: blocks on top of its own, and time. */
  readonly depth: { readonly blocks: bigint; readonly ms: number };
  readonly timeouts: Timeouts;
}

export interface Timeouts {
  /** Blocks after which a transaction that was sent is overdue. */
  readonly overdueBlocks: bigint;
  /** Heads with a used nonce and no receipt after which nodes are asked what has used it. */
  readonly foreignHeads: number;
  /** Polls of a result that cannot be read after which operators are alerted. */
  readonly unreadablePolls: number;
}

export interface Step {
  readonly transaction: Transaction;
  readonly effects: readonly Effect[];
}
