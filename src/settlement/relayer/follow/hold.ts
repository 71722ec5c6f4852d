import type { Block } from '#settlement/chain/chain.ts';
import { marksOf } from '#settlement/chain/final-block.ts';
import type { Resolution } from '#settlement/relayer/follow/finish.ts';
import { clearIncluded, markIncluded } from '#settlement/relayer/rows/mined-queries.ts';
import { mostPatient, patienceOf } from '#settlement/relayer/rows/patience.ts';
import type { OpenTransaction, RelayerState } from '#settlement/relayer/rows/state.ts';

/** Three looks at an idle chain in one: a safe block comes every few seconds at most. */
const MARKS_SHARE = 1 / 3;

/** Reads what is safe and final, while something waits for it. */
export async function readMarks(relayer: RelayerState, head: Block): Promise<void> {
  const kinds = new Set<string>();
  for (const { open } of relayer.lanes.values()) {
    for (const { waits } of open.values()) if (waits !== null) kinds.add(waits.waitsFor);
  }
  const { marks, chain } = relayer;
  if (performance.now() - marks.readAt < chain.config.idleHeadMs * MARKS_SHARE) return;
  if (!kinds.has('safe') && !kinds.has('finalized')) return;
  relayer.marks = { ...(await marksOf(chain, head.number)), readAt: performance.now() };
}

/** Whether what it waits for has come. Its receipt is asked for once more then. */
export function hasWaited({ marks }: RelayerState, transaction: OpenTransaction): boolean {
  const { waits, included } = transaction;
  if (waits === null || included === null) return true;
  if (waits.waitsFor === 'time') return performance.now() - included.at >= waits.ms;
  return marks[waits.waitsFor === 'safe' ? 'safe' : 'finalized'] >= included.blockNumber;
}

/**
 * Parts what counts now from what is in a block and waits for more, and writes down the latter.
 * Only a success waits: what the chain has refused is known, and its customer may pay otherwise.
 */
export async function holdBack(
  relayer: RelayerState,
  resolutions: readonly Resolution[],
): Promise<Resolution[]> {
  const counting: Resolution[] = [];
  for (const resolution of resolutions) {
    const { transaction, answered } = resolution;
    const rules = answered
      .filter(({ request, result }) => result.succeeded && !request.owed)
      .map(({ request }) => patienceOf(relayer.chain.config, request));
    const before = transaction.waits;
    transaction.waits = mostPatient(rules);
    if (hasWaited(relayer, transaction)) {
      counting.push(resolution);
    } else if (before === null && transaction.waits !== null) {
      const { waitsFor } = transaction.waits;
      await markIncluded(relayer.db, { id: transaction.id, waitsFor }, relayer.clock.now());
    }
  }
  return counting;
}

/** The chain has lost blocks, or this one: it has to be found in a block again. */
export async function forgetIncluded(
  relayer: RelayerState,
  transactions: readonly OpenTransaction[],
): Promise<void> {
  const waiting = transactions.filter(({ waits }) => waits !== null);
  if (waiting.length === 0) return;
  for (const transaction of waiting) Object.assign(transaction, { waits: null, included: null });
  await clearIncluded(
    relayer.db,
    waiting.map(({ id }) => id),
  );
}
