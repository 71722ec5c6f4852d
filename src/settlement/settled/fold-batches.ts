import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { present } from '#core/assert.ts';
import type { Tx } from '#db/database.ts';
import { pack } from '#settlement/contract/contract-calls.ts';
import type { PaymentSettled, SettlementEvent } from '#settlement/contract/contract-events.ts';
import { contractVersionOf } from '#settlement/contract-versions.ts';
import {
  type BatchRow,
  type ContractBatches,
  deleteBatchesFrom,
  insertBatches,
  lockBatches,
  selectBatches,
} from '#settlement/settled/settled-queries.ts';
import { openRange, peaksOf } from '../../../contracts/batch-range.ts';
import { paymentLeaf, paymentTreeRoot } from '../../../contracts/payment-tree.ts';

/** Number of rows that are hashed and written at once, which takes a fraction of a second. */
const ROWS_AT_ONCE = 1_000;

/**
 * A batch according to the chain's events. Its payments are in the order of the Merkle tree's
 * leaves.
 */
export interface SettledBatch {
  readonly contractVersion: number;
  readonly number: bigint;
  readonly payments: readonly PaymentSettled[];
}

/** Returns the batches of whole blocks, in the order in which the chain settled them. */
export function batchesOf(events: readonly SettlementEvent[]): SettledBatch[] {
  const batches = new Map<string, SettledBatch & { payments: PaymentSettled[] }>();
  for (const event of events) {
    if (event.event !== 'PaymentSettled') continue;
    const contractVersion = contractVersionOf(event.merchantNumber);
    const key = `${contractVersion} ${event.batchNumber}`;
    const known = batches.get(key);
    if (known === undefined) {
      batches.set(key, { contractVersion, number: event.batchNumber, payments: [event] });
    } else known.payments.push(event);
  }
  return [...batches.values()];
}

export function rootOf({ payments }: SettledBatch): BatchRow['root'] {
  return paymentTreeRoot(payments.map((payment) => paymentLeaf(pack(payment))));
}

/**
 * Updates the batches' rows from the events of whole blocks. Rows are kept while their block is in
 * the chain; from the first row that differs on, all rows are replaced. Batches after a gap are
 * omitted, and are stored with the events of the blocks that fill the gap.
 */
export async function foldBatches(
  tx: Tx,
  livemode: boolean,
  events: readonly SettlementEvent[],
): Promise<void> {
  for (const [contractVersion, batches] of Map.groupBy(
    batchesOf(events),
    (batch) => batch.contractVersion,
  )) {
    const contract = { livemode, contractVersion };
    await lockBatches(tx, contract);
    const changed = await changedBatches(tx, contract, batches);
    const first = changed[0]?.number;
    if (first === undefined) continue;
    await deleteBatchesFrom(tx, contract, first);
    await appendBatches(tx, contract, changed);
  }
}

/** Returns the given batches from the first one on whose block differs from the stored one. */
async function changedBatches(
  tx: Tx,
  contract: ContractBatches,
  batches: readonly SettledBatch[],
): Promise<readonly SettledBatch[]> {
  const numbers = batches.map(({ number }) => number);
  const known = await selectBatches(tx, contract, numbers);
  const index = batches.findIndex(
    (one) => known.get(one.number)?.blockHash !== blockOf(one).blockHash,
  );
  return index < 0 ? [] : batches.slice(index);
}

function blockOf({ payments }: SettledBatch): PaymentSettled {
  return present(payments[0], 'payment of a batch');
}

/**
 * Writes rows as they are computed: a range of blocks may hold tens of thousands of batches, and
 * PostgreSQL would end a transaction that is idle while they are all hashed.
 */
async function appendBatches(
  tx: Tx,
  contract: ContractBatches,
  batches: readonly SettledBatch[],
): Promise<void> {
  let count = present(batches[0], 'batch').number - 1n;
  const peaks = peaksOf(count);
  const known = await selectBatches(tx, contract, peaks);
  if (known.size < peaks.length) return;
  const range = openRange(count, known);
  const rows: BatchRow[] = [];
  for (const batch of batches) {
    if (batch.number !== count + 1n) break;
    count++;
    const root = rootOf(batch);
    const { blockNumber, blockHash } = blockOf(batch);
    rows.push({ number: batch.number, blockNumber, blockHash, root, node: range.append(root) });
    if (rows.length === ROWS_AT_ONCE) await insertBatches(tx, contract, rows.splice(0));
    // Let other work run, because there may be many thousands of hashes.
    await yieldToOthers();
  }
  await insertBatches(tx, contract, rows);
}
