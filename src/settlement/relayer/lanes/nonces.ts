import { assert } from '#core/assert.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { stopIfShown } from '#settlement/relayer/lanes/foreign-key.ts';
import { nowOf } from '#settlement/relayer/machine/chain-view.ts';
import {
  type HeldLane,
  inNonceOrder,
  type RelayerState,
} from '#settlement/relayer/machine/memory.ts';
import { cancellation, step } from '#settlement/relayer/machine/step.ts';
import {
  fromRows,
  isExpired,
  type Offer,
  type OpenRequest,
  type OpenTransaction,
  type TransactionFacts,
} from '#settlement/relayer/machine/transaction.ts';
import { inLane } from '#settlement/relayer/rows/lane-queries.ts';
import {
  type OfferRow,
  type OpenTransactionRow,
  reopenFromNonce,
  selectMissingNonces,
  selectOpenNonces,
  selectOpenTransactions,
} from '#settlement/relayer/rows/transaction-queries.ts';
import { storeFillers, storeOffer } from '#settlement/relayer/send/sign.ts';
import type { Hex } from '#settlement/requests.ts';

/**
 * Makes a lane and the chain agree on the next nonce. The chain is ahead, and the database has lost
 * nothing, or the guard would have closed the network: somebody else has the key. The lane stops
 * when nodes show what they did with it. The chain is behind: it lost blocks; what we stored from
 * there on is sent again, and a nonce for which we have nothing is filled, because otherwise
 * nothing after it could ever be mined.
 * @returns whether the lane can be worked on.
 */
export async function catchUpNonce(
  relayer: RelayerState,
  lane: HeldLane,
  nextNonce: bigint,
): Promise<boolean> {
  if (lane.isStopped) return true;
  const at = relayer.head?.number ?? 'latest';
  const [told = nextNonce] = await relayer.chain.nonces([lane.address], at);
  const chainNonce = await surestNonce(relayer, lane, { told, known: nextNonce });
  if (chainNonce > nextNonce) return stopIfShown(relayer, lane, { nextNonce, chainNonce });
  if (chainNonce < nextNonce) await fillGap(relayer, lane, chainNonce, nextNonce);
  return true;
}

/** Every nonce from `from` up to `to` gets a signed transaction again. */
export async function fillGap(
  relayer: RelayerState,
  lane: HeldLane,
  from: bigint,
  to: bigint,
): Promise<void> {
  const { livemode, network } = relayer.chain.config;
  const gap = { livemode, lane: lane.lane, from, to };
  await inLane(relayer, lane, async (tx, nonce) => {
    const reopened = await reopenFromNonce(tx, { livemode, lane: lane.lane, nonce: from });
    const missing = await selectMissingNonces(tx, gap);
    await storeFillers(tx, { relayer, lane, nonce }, missing);
    if (reopened + missing.length === 0) return;
    const fields = { network, lane: lane.lane, from, reopened, filled: missing.length };
    relayer.log.warn('the chain is behind a lane: sending again', fields);
  });
}

/**
 * The lane's nonce on the chain. Where a node reports fewer than we `know`, it is the highest that
 * any address of this chain reports, up to that: a node that lags, or has become one of another
 * chain, must not reopen what has long been final.
 * @throws RpcUnavailable: no address of this chain answers any more.
 */
export async function surestNonce(
  { chain }: RelayerState,
  lane: HeldLane,
  { told, known }: { readonly told: bigint; readonly known: bigint },
): Promise<bigint> {
  if (told >= known) return told;
  await chain.rpc.confirmChain();
  const call = { method: 'eth_getTransactionCount', params: [lane.address, 'latest'] };
  const asked = chain.rpc.inOrder().map((address) => address.ask([call], { urgent: false }));
  let highest: bigint | null = null;
  for (const reply of (await Promise.all(asked)).flat()) {
    if (reply.status !== 'answered') continue;
    const nonce = BigInt(reply.result as Hex);
    if (highest === null || nonce > highest) highest = nonce;
  }
  if (highest === null) throw new RpcUnavailable('no node tells the nonce of a lane');
  return highest < known ? highest : known;
}

/**
 * Loads transactions of held lanes that the rows have and this process has forgotten. Outcomes are
 * committed without waiting for the disk, so a crash of PostgreSQL can undo the last of them.
 * Nothing else shows it: the lanes stay ours, and what we know about them was true when we wrote
 * it.
 */
export async function rereadOpen(relayer: RelayerState): Promise<void> {
  const { livemode, network } = relayer.chain.config;
  const lanes = [...relayer.lanes.keys()];
  if (lanes.length === 0) return;
  const stored = await selectOpenNonces(relayer.db, { livemode, lanes });
  const forgotten = new Set<HeldLane>();
  for (const row of stored) {
    const lane = relayer.lanes.get(row.lane);
    if (lane !== undefined && !lane.open.has(row.nonce)) forgotten.add(lane);
  }
  for (const lane of forgotten) {
    await loadOpen(relayer, lane);
    relayer.log.info('read the open transactions of a lane again', { network, lane: lane.lane });
  }
}

/**
 * Reads the lane's open transactions from their rows; what this process knows already stays as it
 * is.
 * @returns all that are open now, in the order of their nonces.
 */
export async function loadOpen(relayer: RelayerState, lane: HeldLane): Promise<OpenTransaction[]> {
  const { livemode } = relayer.chain.config;
  const rows = await selectOpenTransactions(relayer.db, { livemode, lane: lane.lane });
  for (const row of rows) {
    if (lane.open.has(row.nonce)) continue;
    const loaded = toOpen(row, isExpired(toFacts(row), relayer.head));
    if (loaded.phase !== 'stuck') lane.add([loaded]);
    // First, so that no fault in between leaves the old bytes to be sent.
    else lane.add([await barOldBytes(relayer, lane, loaded)]);
  }
  return inNonceOrder(lane);
}

/** Bytes that must never go out again are canceled, and their jobs are queued again. */
async function barOldBytes(
  relayer: RelayerState,
  lane: HeldLane,
  loaded: OpenTransaction,
): Promise<OpenTransaction> {
  const offer = cancellation(loaded, nowOf(relayer));
  const stored = await storeOffer(relayer, { lane, transaction: loaded, offer }, true);
  const { transaction } = step(loaded, stored, nowOf(relayer));
  assert(transaction.phase !== 'done', 'what was loaded is open');
  return transaction;
}

/**
 * A reorganization has undone its block, or nobody had sent it yet. The same bytes could do this
 * time what they did not do the first time. So they never go out again once one of their requests
 * has failed (somebody was told, or is about to be) or is on its way under other bytes. When they
 * have expired the contract would refuse them anyway.
 */
function maySendAgain(
  { attempts, unsigned, requests, retired }: OpenTransactionRow,
  expired: boolean,
): boolean {
  if (attempts.at(-1)?.noop === true || unsigned?.noop === true) return true;
  const isWhole = !retired && !expired && requests.length > 0;
  return isWhole && requests.every((request) => !request.failed);
}

function toOpen(row: OpenTransactionRow, expired: boolean): OpenTransaction {
  const wanted = row.unsigned === null ? null : toOffer(row.unsigned);
  const isBarred = !maySendAgain(row, expired);
  return fromRows(toFacts(row), { wanted, query: 'always', isBarred });
}

function toFacts(row: OpenTransactionRow): TransactionFacts {
  const { id, nonce, kind, target, input, gasLimit, validUntil } = row;
  return {
    ...{ id, nonce, kind, target, input, gasLimit, validUntil },
    attempts: row.attempts.map(({ hash, raw, ...offer }) => ({ hash, raw, ...toOffer(offer) })),
    requests: row.requests.flatMap(toOpenRequest),
    signedAtMs: null,
  };
}

function toOffer({ noop, maxFee, maxTip }: OfferRow): Offer {
  return { noop, fees: { maxFeePerGas: BigInt(maxFee), maxPriorityFeePerGas: BigInt(maxTip) } };
}

/** What has failed has its answer: nothing that happens to the transaction changes that. */
function toOpenRequest(row: OpenTransactionRow['requests'][number]): OpenRequest[] {
  const { failed, id, number, created, deadline, ...same } = row;
  if (failed) return [];
  return [
    {
      ...same,
      id: BigInt(id),
      number: number === null ? null : BigInt(number),
      created: new Date(created),
      deadline: deadline === null ? null : new Date(deadline),
    },
  ];
}
