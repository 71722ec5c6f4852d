import { assert, assertNever } from '#core/assert.ts';
import { bumpFees } from '#settlement/chain/fees/gas-fees.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { CountsRule } from '#settlement/network-config.ts';
import {
  type Attempt,
  type Effect,
  factsOf,
  fromRows,
  type IncludingBlock,
  isExpired,
  isSendable,
  type Now,
  newestOffer,
  type Observation,
  type Offer,
  type OpenTransaction,
  type Step,
  type Transaction,
  type TransactionFacts,
} from '#settlement/relayer/state-machine/transaction.ts';

/** A sender's first transaction offers higher fees after it was overdue this many times. */
const REPLACE_AFTER = 2;

type Observed<K extends Observation['kind']> = Extract<Observation, { readonly kind: K }>;
type In<P extends Transaction['phase']> = Extract<Transaction, { readonly phase: P }>;
type Sending = In<'unsigned' | 'signed' | 'broadcast' | 'stuck'>;
type InBlock = In<'included' | 'confirming'>;

/**
 * Returns the next transaction and its effects for one observation, without I/O or a clock.
 * `decide-transaction-step.test.ts` has the table of all pairs; `explore.test.ts` explores the
 * states that can be reached.
 */
export function step(transaction: Transaction, observation: Observation, now: Now): Step {
  assert(transaction.phase !== 'done', 'a finished transaction was observed');
  switch (observation.kind) {
    case 'sent':
      return stay(sent(transaction, observation.atBlock));
    case 'refused':
      return stay(refused(transaction, observation));
    case 'early_receipt':
      // If the transaction was not broadcast, or is in a block, its receipt is requested at the
      // next head.
      return stay(
        transaction.phase === 'broadcast'
          ? { ...transaction, early: observation.early }
          : askingAlways(transaction),
      );
    case 'blocks_skipped':
      return stay(blocksSkipped(transaction, observation.number));
    case 'head':
      return stay(headFollowed(transaction, observation.number));
    case 'receipt_asked':
    case 'ask_again':
      return stay(askingAlways(transaction));
    case 'receipt':
    case 'no_receipt':
    case 'receipt_unanswered':
      assert(transaction.attempts.length > 0, 'a receipt was queried without stored bytes');
      return receiptAnswered(transaction, observation, now);
    case 'result_read':
      return resultRead(transaction, observation.rule, now);
    case 'result_unreadable':
      return resultUnreadable(transaction, now);
    case 'reorganized':
      return reorganized(transaction);
    case 'nonce_used':
      return nonceUsed(transaction, now);
    case 'nonce_unused':
      return nonceUnused(transaction, observation, now);
    case 'attempt_stored':
      return attemptStored(transaction, observation);
    case 'offer_stored':
      return offerStored(transaction, observation);
    case 'signature_stored':
      return signatureStored(transaction, observation);
    case 'result_written':
    case 'foreign': {
      const end = observation.kind;
      return stay({ ...factsOf(transaction), phase: 'done', end }, [{ kind: 'drop' }]);
    }
    default:
      return assertNever(observation);
  }
}

function stay(transaction: Transaction, effects: readonly Effect[] = []): Step {
  return { transaction, effects };
}

/** True unless the transaction is known to be in a block, or its nonce is known to be used. */
function isSending(transaction: OpenTransaction): transaction is Sending {
  const { phase } = transaction;
  return phase === 'unsigned' || phase === 'signed' || phase === 'broadcast' || phase === 'stuck';
}

function askingAlways(transaction: OpenTransaction): OpenTransaction {
  return isSending(transaction) ? { ...transaction, query: 'always' } : transaction;
}

function isInBlock(transaction: OpenTransaction): transaction is InBlock {
  return transaction.phase === 'included' || transaction.phase === 'confirming';
}

function isBarred(transaction: OpenTransaction): boolean {
  if (transaction.phase === 'stuck') return transaction.why === 'must_not_be_sent';
  return isSending(transaction) ? false : transaction.isBarred;
}

/**
 * Returns the transaction in the phase to which it falls back when its block, or the use of its
 * nonce, is no longer certain.
 */
function again(
  transaction: OpenTransaction,
  query: Sending['query'],
  barred: boolean = isBarred(transaction),
): OpenTransaction {
  return fromRows(factsOf(transaction), query, barred);
}

function sent(transaction: OpenTransaction, atBlock: bigint): OpenTransaction {
  if (!isSending(transaction)) return transaction;
  assert(isSendable(transaction), 'bytes that must not be sent were sent');
  const { query } = transaction;
  const early = transaction.phase === 'broadcast' ? transaction.early : null;
  const position = { sentAtBlock: atBlock, seenAtBlock: null };
  const counted = { overdue: overdueOf(transaction), query, early, ...position };
  return { ...factsOf(transaction), phase: 'broadcast', ...counted };
}

function overdueOf(transaction: OpenTransaction): number {
  return 'overdue' in transaction ? transaction.overdue : 0;
}

/** Handles a node's refusal. A refusal of older bytes says nothing about the newest bytes. */
function refused(
  transaction: OpenTransaction,
  { hash, verdict }: Observed<'refused'>,
): OpenTransaction {
  const newest = transaction.attempts.at(-1);
  if (newest?.hash !== hash || verdict === 'unfunded' || isBarred(transaction)) return transaction;
  if (!isSending(transaction) || transaction.phase === 'unsigned') return transaction;
  const { query } = transaction;
  const facts = factsOf(transaction);
  // After a refused cancellation, a higher offer is needed, not another cancellation.
  if (verdict === 'unsendable' && !newest.cancels) {
    return { ...facts, phase: 'stuck', why: 'no_node_takes_it', query };
  }
  return { ...facts, phase: 'signed', overdue: overdueOf(transaction), query };
}

/**
 * A transaction that was sent before the skipped blocks may be in any of them. But if it was sent
 * once, and at most one block before this head, only this head can contain it, and then lists it.
 * If the recorded height was wrong, the used nonce reveals that later.
 */
function blocksSkipped(transaction: OpenTransaction, number: bigint): OpenTransaction {
  if (transaction.phase !== 'broadcast') return askingAlways(transaction);
  const blocksSince = number - transaction.sentAtBlock;
  // A negative number means that the recorded height was wrong, so the transaction's block is
  // unknown.
  const isNew = blocksSince === 0n || blocksSince === 1n;
  const isFirst = transaction.overdue === 0 && transaction.attempts.length === 1;
  return isNew && isFirst ? transaction : askingAlways(transaction);
}

/** Records that a head was followed, and corrects a send height that was estimated above it. */
function headFollowed(transaction: OpenTransaction, number: bigint): OpenTransaction {
  if (transaction.phase !== 'broadcast') return transaction;
  const { sentAtBlock, seenAtBlock } = transaction;
  return {
    ...transaction,
    sentAtBlock: sentAtBlock > number ? number : sentAtBlock,
    seenAtBlock: seenAtBlock ?? number,
  };
}

function receiptAnswered(
  transaction: OpenTransaction,
  observation: Observed<'receipt' | 'no_receipt' | 'receipt_unanswered'>,
  now: Now,
): Step {
  if (observation.kind === 'receipt') return receiptFound(transaction, observation, now);
  const isAnswered = observation.kind === 'no_receipt';
  // If the head lists the transaction but the node has no receipt, the node lags, and the next poll
  // asks again.
  const answered = isAnswered && observation.isListed ? 'always' : 'if_listed';
  if (isInBlock(transaction) && isAnswered) {
    const wasIncluded = transaction.phase === 'confirming';
    return stay(again(transaction, answered), wasIncluded ? [{ kind: 'clear_included' }] : []);
  }
  if (!isSending(transaction)) return stay(transaction);
  const query = isAnswered ? answered : 'unanswered';
  // Drop an early receipt after one head; if it was not decisive, the next head requests one.
  const isUsed = earlyReceiptAt(transaction, now) !== null;
  return stay({ ...transaction, query, ...(isUsed ? { early: null } : {}) });
}

function receiptFound(
  transaction: OpenTransaction,
  { receipt }: Observed<'receipt'>,
  now: Now,
): Step {
  const { blockHash: hash, blockNumber: number } = receipt;
  const isKnown = isInBlock(transaction) && transaction.block.hash === hash;
  const block = isKnown ? transaction.block : { hash, number, sinceMs: now.ms };
  const effects: Effect[] = isDeep(block, now) ? [{ kind: 'read_result' }] : [];
  if (isInBlock(transaction)) return stay({ ...transaction, block }, effects);
  const unread = { polls: 0, isAlerted: false };
  const included = { isBarred: isBarred(transaction), block, unread };
  return stay({ ...factsOf(transaction), phase: 'included', ...included }, effects);
}

/**
 * True if a result counts: at inclusion; after enough further blocks; or once its block has been
 * known long enough and another block follows it. Timestamps cannot measure that time, because
 * several blocks may share a second.
 */
function isDeep(block: IncludingBlock, { head, depth, ms }: Now): boolean {
  if (head === null) return false;
  return head.number - block.number >= depth.blocks && ms - block.sinceMs >= depth.ms;
}

function resultRead(transaction: OpenTransaction, rule: CountsRule | null, now: Now): Step {
  assert(isInBlock(transaction), 'a result was read for a transaction in no block');
  if (rule === null || hasWaited({ ...transaction, rule }, now)) {
    return stay(transaction, [{ kind: 'apply_result' }]);
  }
  if (transaction.phase === 'confirming') return stay({ ...transaction, rule });
  return stay({ ...transaction, phase: 'confirming', rule }, [
    { kind: 'mark_included', waitsFor: rule.waitsFor },
  ]);
}

/** True if the wait that the transaction's confirmation tier requires has ended. */
export function hasWaited(
  { rule, block }: Pick<In<'confirming'>, 'rule' | 'block'>,
  { ms, finality }: Pick<Now, 'ms' | 'finality'>,
): boolean {
  if (rule.waitsFor === 'time') return ms - block.sinceMs >= rule.ms;
  return finality[rule.waitsFor === 'safe' ? 'safe' : 'finalized'] >= block.number;
}

function resultUnreadable(transaction: OpenTransaction, now: Now): Step {
  assert(isInBlock(transaction), 'a result is unreadable for a transaction in no block');
  const polls = transaction.unread.polls + 1;
  const isDue = !transaction.unread.isAlerted && polls >= now.timeouts.unreadablePolls;
  const unread = { polls, isAlerted: transaction.unread.isAlerted || isDue };
  const effects: Effect[] = isDue ? [{ kind: 'alert', about: 'result_unreadable' }] : [];
  return stay({ ...transaction, unread }, effects);
}

/**
 * If the transaction's block survived, its receipt is found again, and the tier's wait starts over.
 */
function reorganized(transaction: OpenTransaction): Step {
  if (transaction.phase === 'confirming') {
    return stay(again(transaction, 'always'), [{ kind: 'clear_included' }]);
  }
  return stay(askingAlways(transaction));
}

/**
 * The transaction seems mined although no node has a receipt, so receipts are requested at every
 * head.
 */
function nonceUsed(transaction: OpenTransaction, now: Now): Step {
  if (isInBlock(transaction)) return stay(transaction);
  // A receipt may exist, because no node could answer when it was last requested.
  if (isSending(transaction) && transaction.query === 'unanswered') return stay(transaction);
  const heads = transaction.phase === 'nonce_taken' ? transaction.heads + 1 : 1;
  const barred = isBarred(transaction);
  const isDue = heads % now.timeouts.foreignHeads === 0;
  return stay(
    { ...factsOf(transaction), phase: 'nonce_taken', isBarred: barred, heads },
    isDue ? [{ kind: 'inspect_nonce' }] : [],
  );
}

function nonceUnused(
  transaction: OpenTransaction,
  observation: Observed<'nonce_unused'>,
  now: Now,
): Step {
  const { isNext, isOverdue } = observation;
  // Nodes disagree about the transaction's block. Sending the same bytes again does no harm.
  if (isInBlock(transaction)) {
    return stay(transaction, isOverdue && isSendable(transaction) ? [{ kind: 'broadcast' }] : []);
  }
  if (transaction.phase === 'nonce_taken') {
    return nonceUnused(again(transaction, 'always'), observation, now);
  }
  const isRefused = isExpired(transaction, now.head) && newestOffer(transaction)?.cancels !== true;
  if (isRefused || isBarred(transaction)) {
    // The contract would refuse these bytes, or they must not be sent, so cancel. The jobs are sent
    // in another transaction while they have time left.
    const offer = cancellation(transaction, now);
    return stay(again(transaction, transaction.query, true), [
      { kind: 'cancel', offer, requeue: true },
    ]);
  }
  if (transaction.phase === 'stuck') return tendStuck(transaction, observation, now);
  if (!isOverdue) return stay(transaction);
  // While a signature is pending, no other offer is made.
  if (transaction.phase === 'unsigned' || transaction.wanted !== null || !isNext) {
    return stay(transaction, firstEffects(transaction));
  }
  return tendNext(transaction, now);
}

/** Handles a transaction whose bytes no node holds, so that there is no offer to outbid. */
function tendStuck(
  transaction: In<'stuck'>,
  { isNext, isOverdue }: Observed<'nonce_unused'>,
  { fees }: Now,
): Step {
  if (transaction.wanted !== null) return stay(transaction, [{ kind: 'ask_signer' }]);
  if (isNext) {
    return stay(transaction, [{ kind: 'cancel', offer: { cancels: true, fees }, requeue: false }]);
  }
  return stay(transaction, isOverdue ? [{ kind: 'broadcast' }] : []);
}

/** Handles the transaction that all later ones of its sender wait for. */
function tendNext(transaction: In<'signed' | 'broadcast'>, now: Now): Step {
  const last = transaction.attempts.at(-1);
  assert(last !== undefined, 'a transaction without stored bytes');
  const overdue = transaction.overdue + 1;
  const isTooCheap = now.head !== null && last.fees.maxFeePerGas < now.head.baseFeePerGas;
  if (!isTooCheap && overdue < REPLACE_AFTER) {
    return stay({ ...transaction, overdue }, [{ kind: 'broadcast' }]);
  }
  const fees = bumpFees(last.fees, now.fees, now.feeCeiling);
  if (fees === null) {
    const alert = { kind: 'alert', about: 'fee_ceiling' } as const;
    return stay({ ...transaction, overdue }, [alert, { kind: 'broadcast' }]);
  }
  const offer = { cancels: last.cancels, fees };
  return stay({ ...transaction, overdue: 0 }, [{ kind: 'replace', offer }]);
}

/**
 * Returns the offer of a cancellation that outbids the current offer for the nonce. If no higher
 * offer is possible, nodes that still hold the old bytes refuse the cancellation, and the others
 * accept it. In both cases the old bytes are not sent again.
 */
export function cancellation(
  transaction: OpenTransaction,
  { fees, feeCeiling }: Pick<Now, 'fees' | 'feeCeiling'>,
): Offer {
  const last = newestOffer(transaction);
  const higher = last === null ? null : bumpFees(last.fees, fees, feeCeiling);
  return { cancels: true, fees: higher ?? fees };
}

function attemptStored(
  transaction: OpenTransaction,
  { attempt, isRequeued }: Observed<'attempt_stored'>,
): Step {
  assert(transaction.wanted === null, 'an attempt was stored while a signature is outstanding');
  requireLastOffer(transaction, attempt);
  return bytesStored(transaction, attempt, isRequeued ? { requests: [] } : {});
}

function signatureStored(
  transaction: OpenTransaction,
  { attempt, offer }: Observed<'signature_stored'>,
): Step {
  const { wanted } = transaction;
  const isGiven = wanted !== null && isSame(wanted, offer);
  return bytesStored(transaction, attempt, isGiven ? { wanted: null } : {});
}

/**
 * Asserts that only a higher cancellation follows a cancellation, whose jobs may be in another
 * transaction.
 */
function requireLastOffer(transaction: OpenTransaction, offer: Offer): void {
  assert(
    offer.cancels || newestOffer(transaction)?.cancels !== true,
    'a cancellation was followed by another offer',
  );
}

function isSame({ cancels, fees }: Offer, other: Offer): boolean {
  const isSameFee = fees.maxFeePerGas === other.fees.maxFeePerGas;
  const isSameTip = fees.maxPriorityFeePerGas === other.fees.maxPriorityFeePerGas;
  return cancels === other.cancels && isSameFee && isSameTip;
}

/** Adds new bytes, and sends them immediately unless the chain has used the nonce. */
function bytesStored(
  transaction: OpenTransaction,
  attempt: Attempt,
  change: Partial<Pick<TransactionFacts, 'wanted' | 'requests'>>,
): Step {
  const attempts = withAttempt(transaction.attempts, attempt);
  const facts = { ...factsOf(transaction), ...change, attempts };
  const barred = isBarred(transaction) && !attempt.cancels;
  if (!isSending(transaction)) return stay({ ...transaction, ...facts, isBarred: barred });
  const next = fromRows(facts, transaction.query, barred);
  return stay(next, isSendable(next) ? [{ kind: 'broadcast' }] : []);
}

/** A cancellation stays last, because only another cancellation may be sent after it. */
function withAttempt(attempts: readonly Attempt[], attempt: Attempt): readonly Attempt[] {
  const first = attempt.cancels ? -1 : attempts.findIndex(({ cancels }) => cancels);
  return attempts.toSpliced(first < 0 ? attempts.length : first, 0, attempt);
}

/** The signer is asked only after the commit that stores the request. */
function offerStored(
  transaction: OpenTransaction,
  { offer, isRequeued }: Observed<'offer_stored'>,
): Step {
  requireLastOffer(transaction, offer);
  const requests = isRequeued ? [] : transaction.requests;
  const facts = { ...factsOf(transaction), wanted: offer, requests };
  const effects: Effect[] = [{ kind: 'ask_signer' }];
  const barred = isBarred(transaction) && !offer.cancels;
  if (!isSending(transaction)) return stay({ ...transaction, ...facts, isBarred: barred }, effects);
  const isFirst = facts.attempts.length === 0 || transaction.phase === 'unsigned';
  // For a higher offer, the old bytes may still be sent until the new ones are signed.
  const isNew = offer.cancels || isFirst || barred;
  const next = isNew ? fromRows(facts, transaction.query, barred) : { ...transaction, ...facts };
  return stay(next, effects);
}

/** Returns the effects for a transaction that was just read from its rows. */
export function firstEffects(transaction: OpenTransaction): readonly Effect[] {
  return [
    ...(transaction.wanted === null ? [] : [{ kind: 'ask_signer' } as const]),
    ...(isSendable(transaction) ? [{ kind: 'broadcast' } as const] : []),
  ];
}

/**
 * True if the nonce of an open transaction must be checked now: always, unless the transaction is
 * in a block or was sent only recently.
 */
export function isDue(transaction: OpenTransaction, { head, timeouts }: Now): boolean {
  if (isInBlock(transaction)) return false;
  if (transaction.phase !== 'broadcast' || head === null) return true;
  return head.number - transaction.sentAtBlock >= timeouts.overdueBlocks;
}

/**
 * True if the chain has not had time to mine the transaction, because the height recorded when it
 * was sent was too low.
 */
export function isOnItsWay(transaction: OpenTransaction, { head, timeouts }: Now): boolean {
  if (transaction.phase !== 'broadcast' || head === null) return false;
  const { seenAtBlock } = transaction;
  return seenAtBlock !== null && head.number - seenAtBlock < timeouts.overdueBlocks - 1n;
}

export function receiptsToAsk(
  transaction: OpenTransaction,
  at: {
    readonly now: Now;
    readonly listed: ReadonlySet<Hex>;
    /** True to request all receipts, whether or not the head lists the transactions. */
    readonly everything: boolean;
  },
): Hex[] {
  const hashes = transaction.attempts.map(({ hash }) => hash);
  return asksAnyway(transaction, at.now) || (at.everything && isSending(transaction))
    ? hashes
    : hashes.filter((hash) => isSending(transaction) && at.listed.has(hash));
}

function asksAnyway(transaction: OpenTransaction, now: Now): boolean {
  if (transaction.phase === 'confirming') return hasWaited(transaction, now);
  if (!isSending(transaction)) return true;
  return transaction.query !== 'if_listed' || earlyReceiptAt(transaction, now) !== null;
}

/** Returns the early receipt if its block is not above the head; otherwise `null`. */
export function earlyReceiptAt(transaction: OpenTransaction, { head }: Now) {
  const early = transaction.phase === 'broadcast' ? transaction.early : null;
  if (early === null || head === null) return null;
  return early.receipt.blockNumber <= head.number ? early : null;
}
