import { failpoint } from '#core/failpoints.ts';
import { batchSize, blockWait, gasUsed, tapToSettled } from '#core/meters.ts';
import { isTracing, traceSpan } from '#core/tracing.ts';
import type { Tx } from '#db/database.ts';
import { followReorganization } from '#settlement/relayer/follow/reorganized.ts';
import type { Answered, Resolution } from '#settlement/relayer/follow/resolve.ts';
import type { HeldSender, RelayerState } from '#settlement/relayer/machine/memory.ts';
import type { OpenTransaction } from '#settlement/relayer/machine/transaction.ts';
import { requeue } from '#settlement/relayer/rows/job-queries.ts';
import { commitWithoutWaiting, writeOutcomes } from '#settlement/relayer/rows/outcome-queries.ts';
import { leasesOf, SenderLost, shareHeldSenders } from '#settlement/relayer/rows/sender-queries.ts';
import { markMined } from '#settlement/relayer/rows/transaction-queries.ts';
import type { RequestPayloads } from '#settlement/requests.ts';
import { upsertChainPayments } from '#settlement/settled/settled-queries.ts';

/**
 * Stores what was found on the chain in one transaction: mined transactions, completed or requeued
 * jobs, and settled payments. Repeating it has no effect.
 * @throws SenderLost if another worker has taken one of the senders, and will do the same.
 */
export async function finish(
  relayer: RelayerState,
  resolutions: readonly Resolution[],
): Promise<void> {
  if (resolutions.length === 0) return;
  failpoint('settlement.receipt_seen');
  const { config } = relayer.chain;
  const answered = resolutions.flatMap((one) => one.answered);
  const requeued = resolutions.flatMap((one) => one.requeued);
  const { alarms, isQueued } = await relayer.db.transaction(async (tx) => {
    const settled = resolutions.flatMap((one) => one.settled);
    // This saves round trips. If the senders are lost, nothing is committed.
    const [, ids] = await Promise.all([
      holdSenders(tx, relayer, [...new Set(resolutions.map((one) => one.sender))]),
      writeOutcomes(tx, answered),
      markMined(tx, resolutions.map(toMined)),
      requeue(tx, requeued),
      upsertChainPayments(tx, config.livemode, settled),
      commitWithoutWaiting(tx),
    ]);
    const again = await followReorganization(tx, config, resolutions, new Set(ids));
    const raised = [...resolutions.flatMap((one) => one.alarms), ...again.alarms];
    await relayer.raise(tx, raised);
    if (again.isRevived) relayer.wakeups.send('chain-outcomes', 'payment');
    return { alarms: raised, isQueued: again.isQueued };
  });
  failpoint('settlement.outcome_committed');
  countMined(relayer, resolutions);
  for (const { sender, transaction } of resolutions) {
    sender.observe(transaction, { kind: 'result_written' });
  }
  for (const alarm of alarms) relayer.log.error(`settlement alarm: ${alarm.kind}`, { ...alarm });
  const kinds = new Set(answered.map(({ request }) => request.kind));
  for (const kind of kinds) relayer.wakeups.send('chain-outcomes', kind);
  if (isQueued || requeued.length > 0) relayer.wakeSenders();
}

/** Records the wait for the chain as a span of the sale's trace. */
function traceSettled(
  { chain }: RelayerState,
  { requests, signedAtMs, attempts }: OpenTransaction,
  { request, result }: Answered,
): void {
  if (!isTracing()) return;
  const { attempt } = request.payload as RequestPayloads['payment'];
  traceSpan('settle', {
    parent: (attempt as { readonly traceparent?: unknown } | undefined)?.traceparent,
    startMs: Date.now() - (performance.now() - (signedAtMs ?? performance.now())),
    attributes: {
      'tapline.network': chain.config.network,
      'tapline.succeeded': result.succeeded,
      'tapline.batch_size': requests.length,
      'tapline.transaction': attempts.at(-1)?.hash ?? '',
    },
  });
}

function countMined(relayer: RelayerState, resolutions: readonly Resolution[]): void {
  const { network } = relayer.chain.config;
  const now = relayer.clock.now().getTime();
  for (const { transaction, receipt, answered } of resolutions) {
    gasUsed.inc({ network, kind: transaction.kind }, Number(receipt.gasUsed));
    const { signedAtMs, requests } = transaction;
    const waitedMs = signedAtMs === null ? null : performance.now() - signedAtMs;
    if (waitedMs !== null) blockWait.observe({ network }, waitedMs / 1000);
    if (transaction.kind !== 'payment' || requests.length === 0) continue;
    batchSize.observe({ network }, requests.length);
    for (const one of answered) {
      const { request, result } = one;
      traceSettled(relayer, transaction, one);
      const seconds = (now - request.created.getTime()) / 1000;
      if (result.succeeded) tapToSettled.observe({ network }, Math.max(0, seconds));
    }
  }
}

async function holdSenders(
  tx: Tx,
  relayer: RelayerState,
  senders: readonly HeldSender[],
): Promise<void> {
  const held = new Set(await shareHeldSenders(tx, leasesOf(relayer, senders)));
  for (const sender of senders) if (!held.has(sender.sender)) throw new SenderLost(sender.sender);
}

function toMined({ transaction, receipt }: Resolution) {
  const { txHash: tx_hash, blockNumber: block_number, blockHash: block_hash } = receipt;
  return { id: transaction.id, tx_hash, block_number, block_hash };
}
