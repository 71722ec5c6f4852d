import type { Receipt } from '#settlement/chain/chain.ts';
import type { Fees } from '#settlement/chain/fees/gas-fees.ts';
import type { SecondWord } from '#settlement/chain/rpc/provider-quorum.ts';
import type { Hex, RequestKind } from '#settlement/chain-requests.ts';
import type { CountsRule } from '#settlement/network-config.ts';

/**
 * A transaction of ours, from its row to its end. Each value is immutable: {@link step}
 * (`decide-transaction-step.ts`) maps a transaction and one observation to the next value and the
 * effects that follow. Only `relayer-state.ts` keeps the newest value.
 *
 * | phase         | meaning                                            | rows                     |
 * |---------------|----------------------------------------------------|--------------------------|
 * | `unsigned`    | The signer must sign; no older bytes may be sent.  | `chain_unsigned`         |
 * | `signed`      | Bytes are stored and must be sent immediately.     | `chain_attempts`         |
 * | `broadcast`   | The newest bytes were sent. They are overdue when  | `chain_attempts`         |
 * |               | the chain has had time to mine them.               |                          |
 * | `stuck`       | The stored bytes will not settle anything: no node | `chain_attempts`; barred |
 * |               | accepts them, or they must not be sent again. The  | by `retired`, by         |
 * |               | nonce needs a cancellation transaction.            | `valid_until`            |
 * | `nonce_taken` | The chain has used the nonce, and no node has a    | `chain_attempts`         |
 * |               | receipt for any of our bytes.                      |                          |
 * | `included`    | A receipt names a block. The result does not count | `chain_attempts`         |
 * |               | yet: too few blocks on top, or it cannot be read.  |                          |
 * | `confirming`  | The result is known. Its confirmation tier needs   | `included_at`,           |
 * |               | more time, or a safe or finalized block.           | `waits_for`              |
 * | `done`        | Finished: its result is written, or a foreign      | status `mined`, or       |
 * |               | transaction has used its nonce.                    | `foreign`                |
 *
 * The phases that may follow each one, besides `done`:
 *
 *     unsigned    → signed, stuck, nonce_taken, included
 *     signed      → broadcast, unsigned, stuck, nonce_taken, included
 *     broadcast   → signed, unsigned, stuck, nonce_taken, included
 *     stuck       → signed, unsigned, broadcast, nonce_taken, included
 *     nonce_taken → signed, unsigned, stuck, included
 *     included    → signed, unsigned, stuck, confirming
 *     confirming  → signed, unsigned, stuck
 *
 * Every phase has the broadcasts and the jobs. `attempts` only grows, and any broadcast may be
 * mined at any time, because a node may have kept it. That is safe: all broadcasts have the same
 * nonce, so only one is mined, and the contract's replay guard recognizes a payment by its
 * settlement number. A job leaves its transaction in two ways: its result is written, or it is
 * queued again in the database transaction that stores a cancellation. From then on `requests` is
 * empty.
 *
 * A refund's proof can become stale while its transaction waits for a block. No observation
 * reports that: the bytes may still be mined before the batch that invalidates the proof, so they
 * must not be replaced until the nonce is used. Only the reverted receipt is observed. Nothing was
 * paid then, and the job is queued again and signed with a new proof.
 *
 * A crash loses only this state. Rows are written before the state changes: an effect commits, and
 * the observation of that commit follows. A process that dies in between finds the rows, starts
 * again at `signed`, `unsigned` or `stuck`, and queries the chain first. Only the times and
 * numbers of broadcasts are lost, and the nodes' responses.
 */
export type Transaction = OpenTransaction | Done;

export type OpenTransaction =
  | Unsigned
  | Signed
  | Broadcast
  | Stuck
  | NonceTaken
  | Included
  | Confirming;

/** The facts that every phase of a transaction has. */
export interface TransactionFacts {
  readonly id: bigint;
  readonly nonce: bigint;
  readonly kind: string;
  readonly target: Hex;
  readonly input: Hex;
  readonly gasLimit: bigint;
  /** The contract refuses the call in blocks with a later timestamp; `null` if it never expires. */
  readonly validUntil: Date | null;
  /**
   * `performance.now()` when this process signed the transaction; `null` if another process did.
   */
  readonly signedAtMs: number | null;
  /**
   * The broadcasts, each stored before it was sent. The last one is the newest, and is sent next.
   */
  readonly attempts: readonly Attempt[];
  /**
   * The offer that the signer must still sign, for the first bytes or for higher fees; `null` if
   * none.
   */
  readonly wanted: Offer | null;
  /** The jobs that the transaction carries; none once a cancellation has replaced it. */
  readonly requests: readonly OpenRequest[];
}

/** A transaction that, as far as this process knows, is in no block and has an unused nonce. */
interface Sending extends TransactionFacts {
  readonly query: ReceiptQuery;
}

interface Unsigned extends Sending {
  readonly phase: 'unsigned';
  readonly wanted: Offer;
}

interface Signed extends Sending {
  readonly phase: 'signed';
  /**
   * The number of times that the transaction was overdue as its sender's first one, since its last
   * offer.
   */
  readonly overdue: number;
}

interface Broadcast extends Sending {
  readonly phase: 'broadcast';
  readonly overdue: number;
  /** The known height when the transaction was last sent. */
  readonly sentAtBlock: bigint;
  /**
   * The first head that was followed after the transaction was last sent; `null` if there was none.
   */
  readonly seenAtBlock: bigint | null;
  /** A receipt that arrived before it was requested; `null` if there is none. */
  readonly early: EarlyReceipt | null;
}

interface Stuck extends Sending {
  readonly phase: 'stuck';
  readonly why: 'no_node_takes_it' | 'must_not_be_sent';
}

interface Used extends TransactionFacts {
  /** True if the bytes must not be sent even if the nonce becomes unused again. */
  readonly isBarred: boolean;
}

interface NonceTaken extends Used {
  readonly phase: 'nonce_taken';
  /** The number of heads at which the nonce was used without a receipt. */
  readonly heads: number;
}

interface InBlock extends Used {
  readonly block: IncludingBlock;
  /** The number of polls that could not read the result, and whether operators were alerted. */
  readonly unread: { readonly polls: number; readonly isAlerted: boolean };
}

interface Included extends InBlock {
  readonly phase: 'included';
}

interface Confirming extends InBlock {
  readonly phase: 'confirming';
  readonly rule: CountsRule;
}

export interface Done extends TransactionFacts {
  readonly phase: 'done';
  readonly end: 'result_written' | 'foreign';
}

/**
 * `if_listed`: request the receipt if the next head lists the transaction; `always`: request it in
 * any case; `unanswered`: no node could answer at the last head.
 */
export type ReceiptQuery = 'if_listed' | 'always' | 'unanswered';

export interface IncludingBlock {
  readonly hash: Hex;
  readonly number: bigint;
  /** Process time at which a receipt first named the block. */
  readonly sinceMs: number;
}

/**
 * A receipt that arrived before it was requested. It is used at one head, as if it had been
 * requested there.
 */
export interface EarlyReceipt {
  readonly receipt: Receipt;
  /**
   * Resolves to a second provider's answer, which confirms the receipt or does not. Both providers
   * were queried at the same time.
   */
  readonly second: Promise<SecondWord | null>;
}

export interface Attempt extends Offer {
  readonly hash: Hex;
  readonly raw: Hex;
}

/** The fees that a broadcast offers for its nonce, and whether the broadcast is a cancellation. */
export interface Offer {
  readonly cancels: boolean;
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
   * True if the ledger has booked the job and a reorganization has undone it. The job is then never
   * given up.
   */
  readonly owed: boolean;
  /** For a payment: the time by which it must settle; `null` if it has no deadline. */
  readonly deadline: Date | null;
  /** The time that the payment had to settle, in seconds, when it was requested. */
  readonly settleWithinS: number | null;
  /** For a booked sale that the chain refuses: the time at which resending ends. */
  readonly owedUntil?: Date | null;
}

export type Observation =
  /** The transaction is being sent to a node, which may not respond. */
  | { readonly kind: 'sent'; readonly atBlock: bigint }
  /** A node has refused these bytes. */
  | { readonly kind: 'refused'; readonly hash: Hex; readonly verdict: Refusal }
  /** A receipt arrived with a head, before it was requested. */
  | { readonly kind: 'early_receipt'; readonly early: EarlyReceipt }
  /** Some blocks between the previous head and this one were not seen. */
  | { readonly kind: 'blocks_skipped'; readonly number: bigint }
  /** A head was followed, and the receipts of its block are known. */
  | { readonly kind: 'head'; readonly number: bigint }
  /**
   * The transaction's receipt is being requested. If that fails, it is requested at the next head.
   */
  | { readonly kind: 'receipt_asked' }
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  /** No block contains the transaction. `isListed`: the head lists it, so the node lags. */
  | { readonly kind: 'no_receipt'; readonly isListed: boolean }
  /** No node could answer, or the second provider contradicts the first. */
  | { readonly kind: 'receipt_unanswered' }
  /**
   * The result was read. `rule` is the strictest confirmation tier of the payments that succeeded.
   */
  | { readonly kind: 'result_read'; readonly rule: CountsRule | null }
  | { readonly kind: 'result_unreadable' }
  /** Blocks that this process followed have left the chain. */
  | { readonly kind: 'reorganized' }
  /**
   * Receipts may differ now, because blocks were skipped or transactions are sent again, so request
   * all of them.
   */
  | { readonly kind: 'ask_again' }
  /** As of the head, the chain has used the transaction's nonce. */
  | { readonly kind: 'nonce_used' }
  /** As of the head, the chain has not used the transaction's nonce. */
  | {
      readonly kind: 'nonce_unused';
      /** The transaction has the sender's next nonce. */
      readonly isNext: boolean;
      /** The chain has had enough time for the sender's transactions. */
      readonly isOverdue: boolean;
    }
  // This observation and those below are made after the commit that stores them.
  | { readonly kind: 'attempt_stored'; readonly attempt: Attempt; readonly isRequeued: boolean }
  | { readonly kind: 'offer_stored'; readonly offer: Offer; readonly isRequeued: boolean }
  /** The signer returned the requested bytes. */
  | { readonly kind: 'signature_stored'; readonly attempt: Attempt; readonly offer: Offer }
  | { readonly kind: 'result_written' }
  /** Nodes have shown that a foreign transaction used the nonce, and the jobs were queued again. */
  | { readonly kind: 'foreign' };

export type Refusal =
  /** The bytes offer less than the chain requires now. */
  | 'underpriced'
  /** The sender's balance does not cover the bytes' gas. */
  | 'unfunded'
  /** No node will ever accept these bytes. */
  | 'unsendable';

/** An action that must follow. If it commits something, the commit is the next observation. */
export type Effect =
  /** Send the newest bytes. */
  | { readonly kind: 'broadcast' }
  /** Ask the signer for the missing bytes. */
  | { readonly kind: 'ask_signer' }
  /** Offer higher fees for the same call at the same nonce. */
  | { readonly kind: 'replace'; readonly offer: Offer }
  /**
   * Use the nonce for a cancellation. If `requeue`, the transaction's jobs are queued again
   * immediately.
   */
  | { readonly kind: 'cancel'; readonly offer: Offer; readonly requeue: boolean }
  /** The receipt has enough confirmations: read the result of each job. */
  | { readonly kind: 'read_result' }
  /** Store the results of the transaction's jobs, and queue jobs without a result again. */
  | { readonly kind: 'apply_result' }
  /**
   * Record that the transaction is in a block and waits for confirmations, or that it no longer is.
   */
  | { readonly kind: 'mark_included'; readonly waitsFor: CountsRule['waitsFor'] }
  | { readonly kind: 'clear_included' }
  /** Ask nodes which transaction used the nonce. */
  | { readonly kind: 'inspect_nonce' }
  | { readonly kind: 'alert'; readonly about: 'result_unreadable' | 'fee_ceiling' }
  /** Forget the transaction: it is no longer open. */
  | { readonly kind: 'drop' };

/** This process's knowledge at the time of an observation. */
export interface Now {
  /** Process time. */
  readonly ms: number;
  readonly head: {
    readonly number: bigint;
    readonly time: Date;
    readonly baseFeePerGas: bigint;
  } | null;
  readonly fees: Fees;
  readonly feeCeiling: bigint;
  /** The newest safe and the newest finalized block. */
  readonly finality: { readonly safe: bigint; readonly finalized: bigint };
  /** The confirmations that a result needs: further blocks, and time. */
  readonly depth: { readonly blocks: bigint; readonly ms: number };
  readonly timeouts: {
    /** The number of blocks after its broadcast at which a transaction is overdue. */
    readonly overdueBlocks: bigint;
    /**
     * The number of heads at which a nonce must be used without a receipt before nodes are asked
     * which transaction used it.
     */
    readonly foreignHeads: number;
    /** The number of polls of an unreadable result after which operators are alerted. */
    readonly unreadablePolls: number;
  };
}

export interface Step {
  readonly transaction: Transaction;
  readonly effects: readonly Effect[];
}

/** Whether nodes hold its bytes is unknown at first. */
export function fromRows(
  facts: TransactionFacts,
  query: ReceiptQuery,
  isBarred: boolean,
): OpenTransaction {
  const { wanted } = facts;
  if (isBarred) return { ...facts, phase: 'stuck', why: 'must_not_be_sent', query };
  if (wanted !== null && (wanted.cancels || facts.attempts.length === 0)) {
    return { ...facts, phase: 'unsigned', wanted, query };
  }
  return { ...facts, phase: 'signed', overdue: 0, query };
}

export function factsOf(transaction: Transaction): TransactionFacts {
  const { id, nonce, kind, target, input, gasLimit, validUntil, signedAtMs } = transaction;
  const { attempts, wanted, requests } = transaction;
  const call = { id, nonce, kind, target, input, gasLimit, validUntil, signedAtMs };
  return { ...call, attempts, wanted, requests };
}

/** Returns the offer that awaits a signature; if there is none, the offer of the newest bytes. */
export function newestOffer(transaction: OpenTransaction): Offer | null {
  return transaction.wanted ?? transaction.attempts.at(-1) ?? null;
}

/** True if there are bytes that may be sent. */
export function isSendable(transaction: OpenTransaction): boolean {
  const { phase, attempts, wanted } = transaction;
  if (phase === 'unsigned' || attempts.length === 0 || wanted?.cancels === true) return false;
  if (phase === 'stuck') return transaction.why === 'no_node_takes_it';
  return phase === 'signed' || phase === 'broadcast' || !transaction.isBarred;
}

/** True if the contract refuses these bytes in this block and every later one. */
export function isExpired(
  { validUntil: until }: Pick<TransactionFacts, 'validUntil'>,
  block: { readonly time: Date } | null,
): boolean {
  return until !== null && block !== null && block.time > until;
}

/** Counts the open transactions whose result is not known yet. */
export function unmined(open: ReadonlyMap<bigint, Pick<OpenTransaction, 'phase'>>): number {
  return [...open.values()].filter(({ phase }) => phase !== 'confirming').length;
}
