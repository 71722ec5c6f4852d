import type { Tx } from '#db/database.ts';
import { rebuildWithdrawal } from '#payouts/rebuild-withdrawal.ts';
import {
  answerRequest,
  insertAnswered,
  type LostTransferRow,
  selectLostTransfers,
} from '#recovery/lost-queries.ts';
import type { RecoveryDeps } from '#recovery/recovery-lease.ts';
import { rebuildRefund } from '#refunds/rebuild-refund.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import type { ScannedRange } from '#settlement/chain/read/chain-scan.ts';
import type { ChainPlace } from '#settlement/chain-requests.ts';
import { countRecovered } from '#settlement/network-recovery-queries.ts';

/**
 * This service never issues this number or a higher one, because its withdrawal numbers have 63
 * bits.
 */
const NEVER_OURS = 2n ** 63n;

/**
 * Returns the alarm's subject, which is the same as in reconciliation, so that both update one
 * alarm.
 */
function subjectOf({ kind, number, tx_hash }: LostTransferRow): string {
  return kind === 'refund' ? `refund ${number}/${tx_hash}` : `withdrawal ${number}`;
}

async function alarm(
  tx: Tx,
  deps: RecoveryDeps,
  lost: { readonly kind: string; readonly row: LostTransferRow },
): Promise<void> {
  const { merchant_number, recipient, amount, tx_hash } = lost.row;
  const details = { merchant_number, recipient, amount, tx_hash };
  const one = { kind: lost.kind, subject: subjectOf(lost.row), details };
  await insertAlarms(tx, deps.chain.config.livemode, [one], deps.clock.now());
}

function placeOf(row: LostTransferRow): ChainPlace {
  return {
    txHash: row.tx_hash,
    blockNumber: row.block_number.toString(),
    logIndex: row.log_index,
    blockTime: row.block_time.toISOString(),
  };
}

/** Books one refund or withdrawal. @returns true if the ledger had lost it. */
async function bookOne(tx: Tx, deps: RecoveryDeps, row: LostTransferRow): Promise<boolean> {
  const { pages, clock, chain } = deps;
  const { livemode } = chain.config;
  const { account_id: accountId, payment_id: paymentId, reference, request_id: requestId } = row;
  if (requestId !== null) {
    if (row.bytes_known) return false;
    return answerRequest(tx, { requestId, outcome: { succeeded: true, facts: placeOf(row) } });
  }
  // The chain has paid a transfer that the ledger has marked as failed, so an operator must decide.
  if (row.object_id !== null) {
    await alarm(tx, deps, { kind: 'paid_after_failure', row });
    return false;
  }
  const given = { idKey: pages.idKey, receipts: pages, now: clock.now() };
  const tenant = { accountId: accountId ?? '', livemode };
  const { amount, tx_hash: txHash, block_time: blockTime } = row;
  const lost = { tenant, amount, txHash, blockTime };
  if (row.kind === 'withdrawal' && accountId !== null && row.number < NEVER_OURS) {
    const { number, recipient: wallet } = row;
    await rebuildWithdrawal(tx, { ...lost, number, wallet }, given);
    return true;
  }
  if (row.kind === 'refund' && accountId !== null && paymentId !== null && reference !== null) {
    return (await rebuildRefund(tx, { ...lost, paymentId, reference }, given)) !== null;
  }
  // The refund's payment is not booked yet, so the refund cannot be either. Reconciliation reports
  // the refund as missing, and another recovery books it.
  if (accountId !== null && row.payment_under_way) return false;
  await alarm(tx, deps, { kind: 'foreign_settlement', row });
  return false;
}

/**
 * Books a range's lost refunds and withdrawals in one transaction, and restores their settlement
 * jobs. The range's payments are already booked.
 */
export async function bookTransfers(
  tx: Tx,
  deps: RecoveryDeps,
  { fromBlock, toBlock }: ScannedRange,
): Promise<void> {
  const { livemode, chainId } = deps.chain.config;
  const rows = await selectLostTransfers(tx, { livemode, fromBlock, toBlock });
  const counts = { refund: 0, withdrawal: 0 };
  for (const row of rows) if (await bookOne(tx, deps, row)) counts[row.kind]++;
  await insertAnswered(tx, { livemode, fromBlock, toBlock, chainId }, deps.clock.now());
  await countRecovered(tx, livemode, {
    refunds: counts.refund,
    withdrawals: counts.withdrawal,
    oldest: rows.length === 0 ? null : deps.clock.now(),
  });
}
