import { present } from '#core/assert.ts';
import type { Block } from '#settlement/chain/chain.ts';
import { loadOpen } from '#settlement/relayer/lanes/load-open.ts';
import {
  addAttempt,
  fillGap,
  lookAtNonce,
  replaceByNoop,
  surestNonce,
} from '#settlement/relayer/lanes/nonces.ts';
import { patientBlocks } from '#settlement/relayer/rows/known-head.ts';
import {
  type HeldLane,
  inNonceOrder,
  type OpenTransaction,
  type RelayerState,
} from '#settlement/relayer/rows/state.ts';
import { isExpired } from '#settlement/relayer/send/deadlines.ts';
import { bumpFees } from '#settlement/relayer/send/fees.ts';
import { broadcast } from '#settlement/relayer/send/sign-and-broadcast.ts';
import { askElsewhere } from '#settlement/relayer/send/sign-elsewhere.ts';

/** An unmined transaction is sent again after so many blocks (see `patientBlocks`). */
const RESEND_AFTER = 2;
/** A transaction that was sent this often and is still not mined has to offer more. */
const REPLACE_AFTER = 2;
/** Heads after which nodes are asked for what has used a nonce, again and again. */
const FOREIGN_AFTER = 5;

/**
 * Takes care of transactions that should have been mined by now. Call it after the receipts of a
 * new head.
 */
export async function tendLanes(relayer: RelayerState, head: Block): Promise<void> {
  for (const lane of relayer.lanes.values()) {
    for (const transaction of lane.open.values()) noteHead(transaction, head);
  }
  const due = [...relayer.lanes.values()].filter((lane) =>
    [...lane.open.values()].some((transaction) => isDue(relayer, transaction, head)),
  );
  if (due.length === 0) return;
  // At the head that we follow: a node that lags behind would answer with an older nonce.
  const addresses = due.map((lane) => lane.address);
  const nonces = await relayer.chain.nonces(addresses, head.number);
  for (const [index, lane] of due.entries()) {
    await tend(relayer, lane, present(nonces[index], 'nonce of a lane'), head);
  }
}

/** A height that was taken from the rhythm of blocks can be far ahead: it counts from here then. */
function noteHead(transaction: OpenTransaction, head: Block): void {
  const { sentAtBlock } = transaction;
  transaction.seenAtBlock ??= head.number;
  if (sentAtBlock !== null && sentAtBlock > head.number) transaction.sentAtBlock = head.number;
}

/** The head that we knew when we sent it may have been that of a node that lags. */
function isDue(relayer: RelayerState, open: OpenTransaction, head: Block): boolean {
  const { sentAtBlock, waits } = open;
  if (waits !== null) return false;
  if (sentAtBlock === null) return true;
  return head.number - sentAtBlock >= patientBlocks(relayer, RESEND_AFTER) + relayer.spread;
}

/**
 * Our looks had stopped when it was sent: the height that we noted was too low, and the chain has
 * had no time for it yet. It was still right to ask for its nonce.
 */
function isOnItsWay(
  relayer: RelayerState,
  { sentAtBlock, seenAtBlock }: OpenTransaction,
  head: Block,
): boolean {
  if (sentAtBlock === null || seenAtBlock === null) return false;
  const patience = patientBlocks(relayer, RESEND_AFTER) + relayer.spread;
  return head.number - seenAtBlock < patience - 1n;
}

async function tend(
  relayer: RelayerState,
  lane: HeldLane,
  told: bigint,
  head: Block,
): Promise<void> {
  const known = inNonceOrder(lane)[0]?.nonce ?? told;
  const chainNonce = await surestNonce(relayer, lane, { told, known });
  for (const transaction of inNonceOrder(lane)) {
    if (transaction.nonce < chainNonce && transaction.waits === null)
      await tendUsed(relayer, lane, transaction);
  }
  const [first] = inNonceOrder(lane).filter(({ nonce }) => nonce >= chainNonce);
  if (first === undefined) return;
  await replaceExpired(relayer, lane, { chainNonce, head });
  const waiting = inNonceOrder(lane).filter(({ nonce }) => nonce >= chainNonce);
  if (waiting.every((transaction) => isOnItsWay(relayer, transaction, head))) return;
  if (first.nonce > chainNonce) {
    await fillGap(relayer, lane, chainNonce, first.nonce);
    await loadOpen(relayer, lane);
    relayer.recheckAll = true;
  } else {
    await tendFirst(relayer, lane, first, head);
  }
  // This includes filled gaps and no-ops.
  const left = inNonceOrder(lane).filter(({ nonce }) => nonce >= chainNonce);
  askElsewhere(relayer, lane, left);
  await broadcast(relayer, lane, left);
}

/** The chain would only refuse them: their payments go out again while they have time left. */
async function replaceExpired(
  relayer: RelayerState,
  lane: HeldLane,
  at: { readonly chainNonce: bigint; readonly head: Block },
): Promise<void> {
  for (const transaction of inNonceOrder(lane)) {
    if (transaction.nonce < at.chainNonce || !isExpired(transaction, at.head)) continue;
    const newest = transaction.unsigned ?? transaction.attempts.at(-1);
    if (newest?.noop !== true) await replaceByNoop(relayer, lane, transaction);
  }
}

/** Mined, it seems, but we have no receipt yet: ask for all of them at the next block. */
async function tendUsed(
  relayer: RelayerState,
  lane: HeldLane,
  transaction: OpenTransaction,
): Promise<void> {
  relayer.recheckAll = true;
  // Its receipt exists or may exist; only its meaning is not clear yet.
  if (transaction.undecided > 0 || transaction.unread) return;
  transaction.usedElsewhere++;
  const looks = Number(patientBlocks(relayer, FOREIGN_AFTER));
  if (transaction.usedElsewhere % looks === 0) await lookAtNonce(relayer, lane, transaction);
}

/** The one for which all others of the lane wait. */
async function tendFirst(
  relayer: RelayerState,
  lane: HeldLane,
  first: OpenTransaction,
  head: Block,
): Promise<void> {
  const suggested = relayer.fees;
  const last = first.attempts.at(-1);
  // A signer is being asked for what comes next.
  if (suggested === null || last === undefined || first.unsigned !== null) return;
  if (first.unsendable && !last.noop) {
    // No node holds the old bytes, so there is nothing to outbid.
    await addAttempt(relayer, lane, first, { noop: true, fees: suggested });
    first.unsendable = false;
    return;
  }
  first.resent++;
  const tooCheap = last.fees.maxFeePerGas < head.baseFeePerGas;
  if (!tooCheap && first.resent < REPLACE_AFTER) return;
  const fees = bumpFees(last.fees, suggested, relayer.chain.config.maxFeePerGasCeiling);
  const fields = { network: relayer.chain.config.network, lane: lane.lane, nonce: first.nonce };
  if (fees === null) {
    relayer.log.error('a lane is stuck: the chain asks for more than the ceiling', fields);
    return;
  }
  first.resent = 0;
  await addAttempt(relayer, lane, first, { noop: last.noop, fees });
  relayer.log.warn('offered more for a stuck transaction', { ...fields, ...fees });
}
