import type { Tx } from '#db/database.ts';
import type { Alarm } from '#settlement/alarms.ts';
import type { PaymentSettled } from '#settlement/contract/contract-events.ts';
import { eventResult } from '#settlement/relayer/rows/facts.ts';
import { answers } from '#settlement/relayer/rows/kinds.ts';
import {
  type ChainPaymentRow,
  reviveDeclined,
  selectChainPayments,
} from '#settlement/relayer/rows/outcome-queries.ts';
import { selectDeclined, toOpenRequest } from '#settlement/relayer/rows/transaction-queries.ts';

/**
 * The chain shows these numbers as settled, and no outcome that is being written says so. Where
 * that is a payment that was declined (a reorganization deeper than what we wait for), the ledger
 * follows the chain: its request succeeds now, for its domain to apply, and an alarm names it.
 * While another attempt of the same intent is under way, that one is answered first; see `resolve`.
 */
export async function followChain(
  tx: Tx,
  settled: {
    readonly livemode: boolean;
    readonly chainId: number;
    readonly numbers: readonly bigint[];
  },
): Promise<Alarm[]> {
  const { livemode, chainId, numbers } = settled;
  if (numbers.length === 0) return [];
  const declined = await selectDeclined(tx, { livemode, numbers });
  if (declined.length === 0) return [];
  const alarms: Alarm[] = [];
  for (const row of await selectChainPayments(tx, { livemode, numbers })) {
    const event = toEvent(row);
    const match = declined.find(
      (one) => one.number === row.number && answers(event, toOpenRequest(one)),
    );
    if (match === undefined) continue;
    const result = eventResult(event, row.block_time, chainId);
    const { attempt = null } = match.payload as { attempt?: unknown };
    await reviveDeclined(tx, match.id, { ...result, afterDecline: attempt });
    const details = { number: row.number, txHash: row.tx_hash, block: row.block_number };
    alarms.push({ kind: 'settled_after_decline', subject: match.subject_id, details });
  }
  return alarms;
}

function toEvent(row: ChainPaymentRow): PaymentSettled {
  return {
    event: 'PaymentSettled',
    number: row.number,
    batchNumber: row.batch_number,
    payer: row.payer,
    merchantNumber: row.merchant_number,
    amount: row.amount,
    orderId: row.order_id,
    feeAcquirer: row.fee_acquirer,
    feeProtocol: row.fee_protocol,
    cashback: row.cashback,
    txHash: row.tx_hash,
    blockNumber: row.block_number,
    logIndex: row.log_index,
    // Neither kept nor part of an outcome.
    blockHash: '0x',
  };
}
