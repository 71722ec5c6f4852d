import { present } from '#core/assert.ts';
import type { Database } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { type PaymentCall, pack } from '#settlement/contract/contract-calls.ts';
import {
  eventTopics,
  type PaymentSettled,
  readEvents,
} from '#settlement/contract/contract-events.ts';
import { contractsOf, contractVersionOf } from '#settlement/contract-versions.ts';
import { foldBatches } from '#settlement/settled/fold-batches.ts';
import {
  type ChainPaymentRow,
  type ContractBatches,
  deleteBatchesFrom,
  lockBatches,
  type PaymentPlace,
  selectBatchBlocks,
  selectBatches,
  selectBatchOf,
  selectLastBatch,
  upsertChainPayments,
} from '#settlement/settled/settled-queries.ts';
import {
  batchesOnPath,
  lastingNodeOf,
  nodeIndexOf,
  rangePath,
} from '../../../contracts/batch-range.ts';
import { paymentLeaf, paymentProof, paymentTreeRoot } from '../../../contracts/payment-tree.ts';

// A proof leads from a payment to the root of its batch, and from there to a node of the contract's
// Merkle mountain range. Later batches eventually overwrite that node, so the proof is built just
// before its refund is signed, from the chain's current state.

export interface RefundProof {
  readonly payment: PaymentCall;
  /** Index of the node at which the proof ends. */
  readonly nodeIndex: bigint;
  readonly proof: readonly Hex[];
}

/** A payment, and the number of batches that its contract has settled so far. */
export interface ProvedPayment extends PaymentPlace {
  readonly batches: bigint;
}

/**
 * Builds the proof from the rows, after updating them to the newest block if necessary. `null` if
 * the rows lack the payment or contradict each other: see {@link rereadPayment}.
 */
export async function storedProof(
  from: { readonly db: Database; readonly chain: Chain },
  payment: ProvedPayment,
): Promise<RefundProof | null> {
  const { db, chain } = from;
  const contract = contractOfPayment(chain, payment);
  const rows = await selectBatchOf(db, { livemode: contract.livemode, ...payment });
  const index = rows.findIndex(({ number }) => number === payment.number);
  const own = rows[index];
  if (own === undefined || own.batch_number > payment.batches) return null;
  const batch = own.batch_number;
  const top = lastingNodeOf(batch, payment.batches);
  if ((await selectLastBatch(db, contract)) < top) await readBatches(from, contract);
  const needed = [batch, ...batchesOnPath(batch, top)];
  const known = await selectBatches(db, contract, needed);
  const leaves = rows.map((row) => paymentLeaf(pack(toCall(row))));
  if (needed.some((number) => !known.has(number))) return null;
  if (known.get(batch)?.root !== paymentTreeRoot(leaves)) return null;
  const path = rangePath({ batch, top }, (number) => present(known.get(number), 'batch'));
  return {
    payment: toCall(own),
    nodeIndex: nodeIndexOf(top),
    proof: [...paymentProof(leaves, index), ...path],
  };
}

function contractOfPayment({ config }: Chain, { merchantNumber }: PaymentPlace): ContractBatches {
  return { livemode: config.livemode, contractVersion: contractVersionOf(merchantNumber) };
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

/**
 * Reads the payment and the batches from the chain again, because rows are missing or a
 * reorganization has moved the payment to another batch.
 * @returns true if the chain has the payment.
 */
export async function rereadPayment(
  from: { readonly db: Database; readonly chain: Chain },
  position: PaymentPlace,
): Promise<boolean> {
  const { db, chain } = from;
  const settled = await findSettled(chain, position);
  if (settled === null) return false;
  const [receipt] = await chain.receipts([settled.txHash]);
  const block = await chain.block(settled.blockNumber);
  if (receipt === null || receipt === undefined || block === null) {
    // The event exists, so a node that does not return its receipt lags.
    throw new RpcUnavailable('the receipt of a settled payment is currently missing');
  }
  const rows = readEvents(chain.config, receipt.logs)
    .filter((event): event is PaymentSettled => event.event === 'PaymentSettled')
    .map((payment) => ({ payment, blockTime: block.time }));
  await db.transaction((tx) => upsertChainPayments(tx, chain.config.livemode, rows));
  await readBatches(from, contractOfPayment(chain, position));
  return true;
}

async function findSettled(
  chain: Chain,
  { number, merchantNumber }: PaymentPlace,
): Promise<PaymentSettled | null> {
  const topics = eventTopics({ event: 'PaymentSettled', number });
  const { settlement: address, deployedAtBlock } = placeOf(
    chain,
    contractVersionOf(merchantNumber),
  );
  const head = present(await chain.block('latest'), 'newest block');
  const range = { address, fromBlock: deployedAtBlock, toBlock: head.number };
  for await (const { logs } of chain.logPortions({ ...range, topics, newestFirst: true })) {
    const event = readEvents(chain.config, logs).find(
      (one) => one.event === 'PaymentSettled' && one.number === number,
    );
    if (event?.event === 'PaymentSettled') return event;
  }
  return null;
}

function placeOf({ config }: Chain, contractVersion: number) {
  const contract = contractsOf(config)[contractVersion];
  if (contract !== undefined) return contract;
  throw new RpcUnavailable('the settings of this process omit the contract of a merchant');
}

/** Updates the batches' rows to the newest block, from the last block that rows and chain share. */
export async function readBatches(
  { db, chain }: { readonly db: Database; readonly chain: Chain },
  contract: ContractBatches,
): Promise<void> {
  const { settlement: address, deployedAtBlock } = placeOf(chain, contract.contractVersion);
  const fromBlock = (await forgetLostBatches({ db, chain }, contract)) ?? deployedAtBlock;
  const { number: toBlock } = await chain.newest();
  const topics = [SETTLED];
  for await (const { logs } of chain.logPortions({ address, fromBlock, toBlock, topics })) {
    const events = readEvents(chain.config, logs);
    await db.transaction((tx) => foldBatches(tx, contract.livemode, events));
  }
}

const SETTLED = present(eventTopics({ event: 'PaymentSettled', number: 0n })[0], 'topic');

/** Number of batches whose blocks are requested at once. */
const BLOCKS_AT_ONCE = 64;

/**
 * Deletes the rows of blocks that have left the chain. Each block commits to its parent, so all
 * blocks below an existing block are unchanged.
 * @returns the newest stored block that still exists; `null` if none does.
 */
async function forgetLostBatches(
  { db, chain }: { readonly db: Database; readonly chain: Chain },
  contract: ContractBatches,
): Promise<bigint | null> {
  let before = (await selectLastBatch(db, contract)) + 1n;
  for (let isLost = false; ; isLost = true) {
    const rows = await selectBatchBlocks(db, contract, { before, limit: BLOCKS_AT_ONCE });
    const shown = await chain.blocks(rows.map(({ blockNumber }) => blockNumber));
    const index = rows.findIndex((row, at) => {
      const block = shown[at];
      if (block) return block.hash === row.blockHash;
      throw new RpcUnavailable('no node returned the block of a known batch');
    });
    const kept = rows[index];
    const lowest = rows.at(-1);
    if (kept === undefined && lowest !== undefined) {
      before = lowest.first;
      continue;
    }
    if (isLost || index > 0) {
      await db.transaction(async (tx) => {
        await lockBatches(tx, contract);
        await deleteBatchesFrom(tx, contract, (kept?.last ?? 0n) + 1n);
      });
    }
    return kept?.blockNumber ?? null;
  }
}
