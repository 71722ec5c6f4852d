import { present } from '#core/assert.ts';
import type { Tx } from '#db/database.ts';
import type { ScannedRange } from '#settlement/chain/read/chain-scan.ts';
import type { SettlementEvent } from '#settlement/contract/contract-events.ts';
import {
  deleteOtherPayments,
  replaceTransfers,
  type TransferRow,
} from '#settlement/reconciliation/reconcile-queries.ts';
import { foldBatches } from '#settlement/settled/fold-batches.ts';
import {
  movePayments,
  type SettledInBlock,
  upsertChainPayments,
} from '#settlement/settled/settled-queries.ts';
import { toNumberColumn } from '#settlement/uint64-columns.ts';

/**
 * Stores the events of a range, replacing the rows of that range. Payments that a reorganization
 * has moved get their new position, and so do the batches that prove refunds.
 */
export async function stageRange(tx: Tx, livemode: boolean, scanned: ScannedRange): Promise<void> {
  const { fromBlock, toBlock, events } = scanned;
  const range = { livemode, fromBlock, toBlock };
  const settled = events.flatMap((event) => toSettled(event, scanned));
  const numbers = settled.map(({ payment }) => payment.number);
  await deleteOtherPayments(tx, range, numbers);
  await upsertChainPayments(tx, livemode, settled);
  await movePayments(tx, { livemode, numbers });
  await foldBatches(tx, livemode, events);
  await replaceTransfers(
    tx,
    range,
    events.flatMap((event) => toTransfer(event, scanned)),
  );
}

function toSettled(event: SettlementEvent, { times }: ScannedRange): SettledInBlock[] {
  if (event.event !== 'PaymentSettled') return [];
  return [{ payment: event, blockTime: present(times.get(event.blockNumber), 'block time') }];
}

function toTransfer(event: SettlementEvent, { times }: ScannedRange): TransferRow[] {
  if (event.event !== 'PaymentRefunded' && event.event !== 'Withdrawn') return [];
  const refund = event.event === 'PaymentRefunded';
  return [
    {
      tx_hash: event.txHash,
      log_index: event.logIndex,
      kind: refund ? 'refund' : 'withdrawal',
      number: toNumberColumn(event.number).toString(),
      merchant_number: event.merchantNumber.toString(),
      recipient: refund ? event.payer : event.wallet,
      amount: event.amount.toString(),
      block_number: event.blockNumber.toString(),
      block_time: present(times.get(event.blockNumber), 'block time').toISOString(),
      reference: refund ? event.reference.slice(2) : null,
    },
  ];
}
