import { present } from '#core/assert.ts';
import type { Database } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { type PaymentCall, pack } from '#settlement/contract/contract-calls.ts';
import {
  eventTopics,
  type PaymentSettled,
  readEvents,
} from '#settlement/contract/contract-events.ts';
import { upsertChainPayments } from '#settlement/relayer/rows/outcome-queries.ts';
import type { RefundProof } from '#settlement/relayer/rows/payloads.ts';
import {
  type ChainPaymentRow,
  selectBatchOf,
} from '#settlement/relayer/rows/refund-proof-queries.ts';
import { paymentLeaf, paymentProof } from '../../../../contracts/payment-tree.ts';

/** The proof from what we stored of the batch; null when we do not know the payment. */
export async function storedProof(
  db: Database,
  wanted: { readonly livemode: boolean; readonly number: bigint },
): Promise<RefundProof | null> {
  const batch = await selectBatchOf(db, wanted);
  const own = batch.find((row) => row.number === wanted.number);
  if (own === undefined) return null;
  return proofIn(batch.map(toCall), { number: wanted.number, batchNumber: own.batch_number });
}

function toCall(row: ChainPaymentRow): PaymentCall {
  return {
    number: row.number,
    payer: row.payer,
    merchantNumber: row.merchant_number,
    amount: row.amount,
    orderId: row.order_id,
  };
}

function proofIn(
  batch: readonly PaymentCall[],
  wanted: { readonly number: bigint; readonly batchNumber: bigint },
): RefundProof | null {
  const index = batch.findIndex((payment) => payment.number === wanted.number);
  const payment = batch[index];
  if (payment === undefined) return null;
  const leaves = batch.map((one) => paymentLeaf(pack(one)));
  return { payment, batchNumber: wanted.batchNumber, proof: paymentProof(leaves, index) };
}

/**
 * The proof from the chain alone, for when our rows are missing or a reorganisation has moved the
 * payment to another batch. Stores what it finds. null: the chain knows no such payment.
 */
export async function rebuiltProof(
  deps: { readonly db: Database; readonly chain: Chain },
  number: bigint,
): Promise<RefundProof | null> {
  const { db, chain } = deps;
  const settled = await findSettled(chain, number);
  if (settled === null) return null;
  const [receipt] = await chain.receipts([settled.txHash]);
  const block = await chain.block(settled.blockNumber);
  if (receipt === null || receipt === undefined || block === null) {
    // The event exists, so a node without a receipt for it has not caught up.
    throw new RpcUnavailable('the receipt of a settled payment is not there at present');
  }
  const batch = readEvents(chain.config.settlement, receipt.logs).filter(
    (event): event is PaymentSettled => event.event === 'PaymentSettled',
  );
  const rows = batch.map((payment) => ({ payment, blockTime: block.time }));
  await db.transaction((tx) => upsertChainPayments(tx, chain.config.livemode, rows));
  return proofIn(batch, { number, batchNumber: settled.batchNumber });
}

async function findSettled(chain: Chain, number: bigint): Promise<PaymentSettled | null> {
  const topics = eventTopics({ event: 'PaymentSettled', number });
  const head = present(await chain.block('latest'), 'newest block');
  const range = { fromBlock: chain.config.deployedAtBlock, toBlock: head.number };
  for await (const { logs } of chain.logPortions({ ...range, topics, newestFirst: true })) {
    const event = readEvents(chain.config.settlement, logs).find(
      (one) => one.event === 'PaymentSettled' && one.number === number,
    );
    if (event?.event === 'PaymentSettled') return event;
  }
  return null;
}
