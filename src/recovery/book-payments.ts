import type { Tx } from '#db/database.ts';
import { createPayer } from '#payers/create-payer.ts';
import { type LostPayment, rebuildPayments } from '#payments/rebuild-payments.ts';
import {
  type After,
  answerRequest,
  endAttempts,
  type LostPaymentRow,
  selectLostPayments,
} from '#recovery/lost-queries.ts';
import type { RecoveryDeps } from '#recovery/recovery-lease.ts';
import { type Alarm, insertAlarms } from '#settlement/alarms.ts';
import type { ScannedRange } from '#settlement/chain/read/chain-scan.ts';
import { NOT_IN_TIME, type OutcomeFacts } from '#settlement/chain-requests.ts';
import { countRecovered } from '#settlement/network-recovery-queries.ts';
import { isOfCell } from '#settlement/settlement-numbers.ts';
import { ensureRecoveredTerminal } from '#terminals/recovered-terminal.ts';

/** The action for a settlement on the chain for which the ledger has no payment. */
type Plan =
  | { readonly kind: 'leave' }
  | { readonly kind: 'alarm'; readonly alarm: Alarm }
  | { readonly kind: 'answer'; readonly requestId: bigint }
  | { readonly kind: 'rebuild'; readonly accountId: string };

function alarmOf(row: LostPaymentRow, kind: string): Plan {
  const { number, payer, merchant_number, amount, order_id, tx_hash } = row;
  const details = { payer, merchant_number, amount, order_id, tx_hash, intent: row.intent_id };
  return { kind: 'alarm', alarm: { kind, subject: `payment ${number}`, details } };
}

/**
 * Decides what to do. If the ledger has the transaction's bytes or an unapplied result, the usual
 * path books the payment, unless the ledger waits for a different attempt. A payment to an unknown
 * merchant, or with a number that this service cannot have issued, is not booked. A payment by an
 * unknown payer is booked, because its payer is just an address. If the chain settled an intent's
 * number for a different sale, the operators are alerted.
 */
function plan(row: LostPaymentRow, cell: number): Plan {
  const { account_id: accountId, request_id: requestId } = row;
  const isOurs = accountId !== null && isOfCell(cell, row.number);
  if (!isOurs) return alarmOf(row, 'foreign_settlement');
  if (row.intent_id !== null && !row.intent_fits) return alarmOf(row, 'number_taken');
  if (requestId === null) return { kind: 'rebuild', accountId };
  if (row.bytes_known) return { kind: 'leave' };
  return row.same_payment ? { kind: 'answer', requestId } : { kind: 'rebuild', accountId };
}

function factsOf(row: LostPaymentRow, chainId: number): OutcomeFacts['payment'] {
  return {
    txHash: row.tx_hash,
    blockNumber: row.block_number.toString(),
    logIndex: row.log_index,
    blockTime: row.block_time.toISOString(),
    settlementNumber: row.number.toString(),
    batchNumber: row.batch_number.toString(),
    feeAcquirer: row.fee_acquirer.toString(),
    feeProtocol: row.fee_protocol.toString(),
    cashback: row.cashback.toString(),
    chainId,
  };
}

interface Portion {
  readonly range: ScannedRange;
  readonly after: After;
  readonly limit: number;
}

async function toLost(
  tx: Tx,
  deps: RecoveryDeps,
  rows: readonly { readonly row: LostPaymentRow; readonly plan: Plan & { kind: 'rebuild' } }[],
): Promise<LostPayment[]> {
  const { livemode, chainId } = deps.chain.config;
  const now = deps.clock.now();
  const terminals = new Map<string, string>();
  const lost: LostPayment[] = [];
  for (const { row, plan } of rows) {
    const tenant = { accountId: plan.accountId, livemode };
    const known = terminals.get(plan.accountId);
    const terminalId = known ?? (await ensureRecoveredTerminal(tx, tenant, now));
    terminals.set(plan.accountId, terminalId);
    const payer = await createPayer(tx, { livemode, address: row.payer, now });
    lost.push({
      tenant,
      number: row.number,
      payerId: payer.id,
      payerAddress: row.payer,
      amount: row.amount,
      orderId: row.order_id,
      intentId: row.intent_id,
      terminalId,
      facts: factsOf(row, chainId),
    });
  }
  return lost;
}

/**
 * Books a range's lost payments in one transaction.
 * @returns the position to continue after; `null` at the end of the range.
 */
export async function bookPayments(
  tx: Tx,
  deps: RecoveryDeps,
  portion: Portion,
): Promise<After | null> {
  const { chain, clock, pages } = deps;
  const { livemode, chainId } = chain.config;
  const { fromBlock, toBlock } = portion.range;
  const { after, limit } = portion;
  const rows = await selectLostPayments(tx, { livemode, fromBlock, toBlock, after, limit });
  const planned = rows.map((row) => ({ row, plan: plan(row, tx.cell) }));
  for (const { row, plan } of planned) {
    if (plan.kind !== 'answer') continue;
    const outcome = { succeeded: true, facts: factsOf(row, chainId) };
    await answerRequest(tx, { requestId: plan.requestId, outcome });
  }
  const toRebuild = planned.flatMap(({ row, plan }) =>
    plan.kind === 'rebuild' ? [{ row, plan }] : [],
  );
  const now = clock.now();
  const intentIds = toRebuild.flatMap(({ row }) => row.intent_id ?? []);
  await endAttempts(tx, { intentIds, outcome: NOT_IN_TIME, now });
  const lost = await toLost(tx, deps, toRebuild);
  const rebuilt = await rebuildPayments(tx, lost, { pages, now });
  const alarms = planned.flatMap(({ plan }) => (plan.kind === 'alarm' ? [plan.alarm] : []));
  const displaced = rebuilt.displaced.map((intent) => ({
    kind: 'order_id_taken',
    subject: intent.id,
    details: { account: intent.account_id, order_id: intent.order_id },
  }));
  await insertAlarms(tx, livemode, [...alarms, ...displaced], now);
  const payments = rebuilt.intents.length;
  await countRecovered(tx, livemode, { payments, oldest: rebuilt.oldest });
  const last = rows.length < limit ? undefined : rows.at(-1);
  return last === undefined ? null : { block: last.block_number, logIndex: last.log_index };
}
