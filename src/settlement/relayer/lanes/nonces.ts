import { insertAlarms } from '#settlement/alarms.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import {
  showUsedNonce,
  stopForForeignKey,
  tellForeignKey,
} from '#settlement/relayer/lanes/foreign-key.ts';
import { feesNow } from '#settlement/relayer/machine/now.ts';
import type { Observation } from '#settlement/relayer/machine/observation.ts';
import type { HeldLane, RelayerState } from '#settlement/relayer/machine/state.ts';
import type { OpenTransaction } from '#settlement/relayer/machine/transaction.ts';
import { inLane } from '#settlement/relayer/rows/lane-queries.ts';
import {
  markForeign,
  reopenFromNonce,
  selectNonces,
} from '#settlement/relayer/rows/mined-queries.ts';
import { requeue } from '#settlement/relayer/rows/outcome-queries.ts';
import {
  insertAttempt,
  insertFiller,
  upsertUnsigned,
} from '#settlement/relayer/rows/transaction-queries.ts';
import { NOOP_GAS_LIMIT } from '#settlement/relayer/send/gas.ts';
import { signAttempt } from '#settlement/relayer/send/sign-and-broadcast.ts';
import { type Asked, noop, sign } from '#settlement/relayer/send/sign-elsewhere.ts';
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

/**
 * The chain has used more nonces of a lane than we know of. @returns whether nodes have shown what
 * used them: the lane is stopped then.
 */
export async function stopIfShown(
  relayer: RelayerState,
  lane: HeldLane,
  { nextNonce, chainNonce }: { readonly nextNonce: bigint; readonly chainNonce: bigint },
): Promise<boolean> {
  const { livemode, network } = relayer.chain.config;
  const shown = await showUsedNonce(relayer, lane, nextNonce);
  const fields = { network, lane: lane.lane, chainNonce, nextNonce };
  if (shown === null) {
    relayer.log.error('the chain has used more nonces of a lane than we know of', fields);
    const details = { chainNonce, nextNonce };
    const alarm = { kind: 'nonce_ahead', subject: `lane ${lane.lane}`, details };
    await inLane(relayer, lane, (tx) => insertAlarms(tx, livemode, [alarm], relayer.clock.now()));
    return false;
  }
  await inLane(relayer, lane, (tx) =>
    stopForForeignKey(tx, relayer, lane, { ...shown, nextNonce: chainNonce }),
  );
  lane.see({ kind: 'foreign_key' });
  tellForeignKey(relayer, lane, shown);
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
  await inLane(relayer, lane, async (tx) => {
    const reopened = await reopenFromNonce(tx, { livemode, lane: lane.lane, nonce: from });
    const stored = new Set(await selectNonces(tx, { livemode, lane: lane.lane, from, to }));
    let filled = 0;
    for (let nonce = from; nonce < to; nonce++) {
      if (stored.has(nonce)) continue;
      await storeFiller(tx, relayer, lane, nonce);
      filled++;
    }
    if (reopened + filled === 0) return;
    const fields = { network, lane: lane.lane, from, reopened, filled };
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

type LaneTx = Parameters<typeof insertFiller>[0];

async function storeFiller(
  tx: LaneTx,
  relayer: RelayerState,
  lane: HeldLane,
  nonce: bigint,
): Promise<void> {
  const { chain, clock } = relayer;
  const { livemode, chainId } = chain.config;
  const where = { livemode, lane: lane.lane, nonce, target: lane.address };
  const id = await insertFiller(tx, { ...where, gasLimit: NOOP_GAS_LIMIT }, clock.now());
  const fees = feesNow(relayer);
  // The caller reads the row again, and asks for its bytes.
  if (lane.signsElsewhere) return upsertUnsigned(tx, id, { noop: true, fees }, clock.now());
  const attempt = await signAttempt(lane.account, noop(lane, { nonce, chainId, fees }), true);
  await insertAttempt(tx, id, attempt, clock.now());
}

/**
 * Stores another offer for the nonce of an open transaction: the same call for more, or a
 * cancellation. With `requeue` its jobs are queued again in the same commit, to be sent under new
 * bytes. Should the old ones be mined all the same, nothing is paid twice: the contract's replay
 * guard knows a payment by its intent's number. With a key of this process the bytes are signed
 * before and stored; a signer elsewhere is asked after the commit, which holds what it is asked
 * for. So is a key that has come back into the process while its signer still owed something.
 * @returns what the transaction has to learn.
 */
export async function storeOffer(
  relayer: RelayerState,
  asked: Asked,
  requeued: boolean,
): Promise<Observation> {
  const { lane, transaction, offer } = asked;
  const now = relayer.clock.now();
  const { id: transactionId, requests } = transaction;
  const carried = requeued
    ? requests.map(({ id: requestId }) => ({ requestId, transactionId }))
    : [];
  const isAsked = lane.signsElsewhere || transaction.wanted !== null;
  const attempt = isAsked ? null : await sign(relayer, asked);
  await inLane(relayer, lane, async (tx) => {
    if (attempt === null) await upsertUnsigned(tx, transactionId, offer, now);
    else await insertAttempt(tx, transactionId, attempt, now);
    await requeue(tx, carried);
  });
  if (carried.length > 0) relayer.wakeups.send('chain-requests', relayer.chain.config.network);
  return attempt === null
    ? { kind: 'offer_stored', offer, isRequeued: requeued }
    : { kind: 'attempt_stored', attempt, isRequeued: requeued };
}

/**
 * Asks nodes what has used the nonce of a transaction of ours. Where it is shown to be another one,
 * somebody else has the key: the lane stops, and what the transaction carried goes to other lanes.
 * The contract's replay guard makes that safe: should the foreign transaction have settled it, its
 * event answers.
 */
export async function lookAtNonce(
  relayer: RelayerState,
  lane: HeldLane,
  transaction: OpenTransaction,
): Promise<void> {
  const { id: transactionId, nonce, attempts, requests } = transaction;
  const shown = await showUsedNonce(relayer, lane, nonce);
  if (shown === null || attempts.some(({ hash }) => hash === shown.hash)) return;
  await inLane(relayer, lane, async (tx) => {
    await markForeign(tx, transactionId);
    await requeue(
      tx,
      requests.map(({ id: requestId }) => ({ requestId, transactionId })),
    );
    await stopForForeignKey(tx, relayer, lane, { ...shown, nextNonce: nonce + 1n });
  });
  lane.observe(transaction, { kind: 'foreign' });
  lane.see({ kind: 'foreign_key' });
  tellForeignKey(relayer, lane, shown);
  relayer.wakeups.send('chain-requests', relayer.chain.config.network);
}
