import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#core/log.ts';
import { blockInterval } from '#settlement/chain/block-rhythm.ts';
import { type SyncAnswer, sendSync } from '#settlement/chain/send-sync.ts';
import { askSecond } from '#settlement/chain/witness.ts';
import {
  type HeldLane,
  type RelayerState,
  stillOpen,
  type TransactionRef,
} from '#settlement/relayer/machine/state.ts';
import type { OpenTransaction } from '#settlement/relayer/machine/transaction.ts';
import { unmined } from '#settlement/relayer/rows/patience.ts';
import { broadcast, noteRefusal } from '#settlement/relayer/send/broadcast.ts';
import { heightNow } from '#settlement/relayer/send/known-head.ts';

/** On slower chains a connection would be held for long, and a look at the head costs little. */
const LONGEST_INTERVAL_MS = 1_200;
/** Without an answer for so many blocks and a moment, the bytes go out once more, as usual. */
const PATIENT_BLOCKS = 2;
const PATIENT_MS = 300;

/**
 * The first broadcast of transactions that have just been stored. A single one on a chain with
 * short blocks goes to a node that answers when it is in a block, where the node can do that; that
 * answer is not waited for here. It saves the look for the receipt, and decides nothing: what it
 * says is used at the next head exactly as if it had been asked for then.
 */
export async function sendNew(
  relayer: RelayerState,
  lane: HeldLane,
  stored: readonly TransactionRef[],
): Promise<void> {
  const transactions = stillOpen(lane, stored);
  const [only] = transactions;
  const intervalMs = blockInterval(relayer.rhythm) ?? relayer.chain.config.profile.blockMs;
  const last = only?.attempts.at(-1);
  // Behind another transaction of its lane it could reach the node first.
  const isAlone = transactions.length === 1 && unmined(lane.open) <= 1;
  const mayWait = intervalMs !== null && intervalMs <= LONGEST_INTERVAL_MS;
  const answer =
    only?.wanted === null && last !== undefined && isAlone && mayWait
      ? sendSync(relayer.chain, last)
      : null;
  if (only === undefined || answer === null) return broadcast(relayer, lane, transactions);
  lane.observe(only, { kind: 'sent', atBlock: heightNow(relayer) });
  lane.observe(only, { kind: 'announced' });
  const patienceMs = (intervalMs ?? 0) * PATIENT_BLOCKS + PATIENT_MS;
  follow(relayer, { lane, transaction: only, answer, patienceMs }).catch((error) => {
    relayer.log.warn('a broadcast got no answer', { error: describeError(error) });
  });
}

interface Sent {
  readonly lane: HeldLane;
  readonly transaction: OpenTransaction;
  readonly answer: Promise<SyncAnswer>;
  readonly patienceMs: number;
}

async function follow(relayer: RelayerState, sent: Sent): Promise<void> {
  const { lane, transaction, answer, patienceMs } = sent;
  const hash = transaction.attempts.at(-1)?.hash;
  const isOpen = () =>
    relayer.lanes.get(lane.lane) === lane && stillOpen(lane, [transaction]).length > 0;
  const late = sleep(patienceMs, null, { ref: false });
  const soon = await Promise.race([answer, late]);
  lane.observe(transaction, { kind: 'announcement_overdue' });
  if ((soon === null || soon.kind === 'unknown') && isOpen()) {
    await broadcast(relayer, lane, [transaction]);
  }
  const told = soon ?? (await answer);
  if (!isOpen()) return;
  if (told.kind === 'told') noteRefusal(relayer, lane, transaction, told.message);
  if (told.kind !== 'included' || told.receipt.txHash !== hash) return;
  const early = { receipt: told.receipt, second: askSecond(relayer.chain, [hash]) };
  lane.observe(transaction, { kind: 'early_receipt', early });
  relayer.pollNow();
}
