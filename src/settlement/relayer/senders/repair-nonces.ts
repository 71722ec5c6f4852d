import { compare } from '#settlement/chain/fees/gas-fees.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { inSender } from '#settlement/relayer/jobs/sender-queries.ts';
import {
  type OfferRow,
  type OpenTransactionRow,
  reopenFromNonce,
  selectMissingNonces,
  selectOpenNonces,
  selectOpenTransactions,
} from '#settlement/relayer/jobs/transaction-queries.ts';
import { storeCancellations } from '#settlement/relayer/send/sign-and-broadcast.ts';
import { stopIfShown } from '#settlement/relayer/senders/detect-foreign-key-use.ts';
import {
  type HeldSender,
  inNonceOrder,
  type RelayerState,
} from '#settlement/relayer/state-machine/relayer-state.ts';
import {
  fromRows,
  isExpired,
  type Offer,
  type OpenRequest,
  type OpenTransaction,
} from '#settlement/relayer/state-machine/transaction.ts';

/**
 * Makes a sender and the chain agree on the next nonce. If the chain is ahead, another program uses
 * the key (if our data were lost, the network would not sign), so the sender stops when nodes show
 * which transactions used the nonces. If the chain is behind, it has lost blocks: stored
 * transactions from its nonce on are sent again, and empty nonces are filled, because otherwise
 * nothing after them could be mined.
 * @returns true if the sender can be used.
 */
export async function catchUpNonce(sender: HeldSender, nextNonce: bigint): Promise<boolean> {
  const { relayer } = sender;
  if (sender.isStopped) return true;
  const at = relayer.head?.number ?? 'latest';
  const [reported = nextNonce] = await relayer.chain.nonces([sender.address], at);
  const chainNonce = await surestNonce(sender, { reported, known: nextNonce });
  if (chainNonce > nextNonce) return stopIfShown(sender, { nextNonce, chainNonce });
  if (chainNonce < nextNonce) await fillGap(sender, { from: chainNonce, to: nextNonce });
  return true;
}

/** Stores a cancellation transaction for each empty nonce from `from` up to `to`. */
export async function fillGap(
  held: HeldSender,
  { from, to }: { readonly from: bigint; readonly to: bigint },
): Promise<void> {
  const { relayer, sender } = held;
  const gap = { livemode: relayer.livemode, sender, from, to };
  await inSender(held, async (tx, nonce) => {
    const reopened = await reopenFromNonce(tx, gap);
    const missing = await selectMissingNonces(tx, gap);
    await storeCancellations(tx, held, nonce, missing);
    if (reopened + missing.length === 0) return;
    const fields = { sender, from, reopened, filled: missing.length };
    relayer.log.warn('the chain lacks transactions of a sender: sending them again', fields);
  });
}

/**
 * If a node reports a lower nonce than `known`, returns the highest that any address of this chain
 * reports, but at most `known`: a node that lags, or now serves another chain, must not reopen
 * transactions that have long been final.
 * @throws RpcUnavailable if no address of this chain answers.
 */
export async function surestNonce(
  { relayer: { chain }, address }: HeldSender,
  { reported, known }: { readonly reported: bigint; readonly known: bigint },
): Promise<bigint> {
  if (reported >= known) return reported;
  await chain.rpc.confirmChain();
  const call = { method: 'eth_getTransactionCount', params: [address, 'latest'] };
  const replies = chain.rpc.inOrder().map((node) => node.ask([call], { urgent: false }));
  const nonces = (await Promise.all(replies)).flat().flatMap((reply) => {
    return reply.status === 'answered' ? [BigInt(reply.result as Hex)] : [];
  });
  const highest = nonces.toSorted(compare).at(-1);
  if (highest === undefined) throw new RpcUnavailable('no node returned the nonce of a sender');
  return highest < known ? highest : known;
}

/**
 * Loads open transactions whose rows this process does not know. Results are committed without
 * waiting for the disk, so a crash of PostgreSQL can undo the latest results, and only their rows
 * would show it.
 */
export async function rereadOpen(relayer: RelayerState): Promise<void> {
  const { livemode } = relayer;
  const senders = [...relayer.senders.keys()];
  if (senders.length === 0) return;
  const stored = await selectOpenNonces(relayer.db, { livemode, senders });
  for (const sender of relayer.senders.values()) {
    const ours = stored.filter((row) => row.sender === sender.sender);
    if (ours.every(({ nonce }) => sender.open.has(nonce))) continue;
    await loadOpen(sender);
    relayer.log.info('reloaded the open transactions of a sender', { sender: sender.sender });
  }
}

/**
 * Transactions already known stay unchanged.
 * @returns all that are open, in nonce order.
 */
export async function loadOpen(sender: HeldSender): Promise<OpenTransaction[]> {
  const { relayer } = sender;
  const of = { livemode: relayer.livemode, sender: sender.sender };
  const rows = await selectOpenTransactions(relayer.db, of);
  const unknown = rows.filter(({ nonce }) => !sender.open.has(nonce));
  sender.add(unknown.map((row) => toOpen(row, relayer.head)));
  return inNonceOrder(sender);
}

/**
 * True if stored bytes may be sent again, although they may now succeed where they failed before.
 * They must not be sent if one of their jobs has failed (its failure was or will be announced) or
 * is in progress with other bytes. The contract would refuse expired bytes anyway.
 */
function maySendAgain(row: OpenTransactionRow, head: RelayerState['head']): boolean {
  const { attempts, unsigned, requests, retired } = row;
  if (attempts.at(-1)?.cancels === true || unsigned?.cancels === true) return true;
  const isWhole = !retired && !isExpired(row, head) && requests.length > 0;
  return isWhole && requests.every((request) => !request.failed);
}

function toOpen(row: OpenTransactionRow, head: RelayerState['head']): OpenTransaction {
  const { attempts, unsigned, requests, retired: _retired, ...stored } = row;
  const facts = {
    ...stored,
    attempts: attempts.map(({ hash, raw, ...offer }) => ({ hash, raw, ...toOffer(offer) })),
    wanted: unsigned === null ? null : toOffer(unsigned),
    requests: requests.flatMap(toOpenRequest),
    signedAtMs: null,
  };
  return fromRows(facts, 'always', !maySendAgain(row, head));
}

function toOffer({ cancels, maxFee, maxTip }: OfferRow): Offer {
  return { cancels, fees: { maxFeePerGas: BigInt(maxFee), maxPriorityFeePerGas: BigInt(maxTip) } };
}

/** A failed job keeps its result, whatever happens to the transaction. */
function toOpenRequest(row: OpenTransactionRow['requests'][number]): OpenRequest[] {
  const { failed, id, created, ...same } = row;
  const number = row.number === null ? null : BigInt(row.number);
  const deadline = row.deadline === null ? null : new Date(row.deadline);
  return failed ? [] : [{ ...same, id: BigInt(id), number, created: new Date(created), deadline }];
}
