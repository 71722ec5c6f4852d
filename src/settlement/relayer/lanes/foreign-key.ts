import { present } from '#core/assert.ts';
import type { Tx } from '#db/database.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import { findUsedNonce } from '#settlement/chain/used-nonce.ts';
import { witnessesOf } from '#settlement/chain/witness.ts';
import { selectLanes, stopLane } from '#settlement/lanes.ts';
import type {
  HeldLane,
  RelayerState,
  ShownTransaction,
  Sighting,
} from '#settlement/relayer/machine/memory.ts';
import type { OpenTransaction } from '#settlement/relayer/machine/transaction.ts';
import { requeue } from '#settlement/relayer/rows/job-queries.ts';
import { inLane } from '#settlement/relayer/rows/lane-queries.ts';
import { markForeign } from '#settlement/relayer/rows/transaction-queries.ts';
import type { Hex } from '#settlement/requests.ts';

/** A single address has to show it again after this long. */
const TWICE_MS = 30_000;

/**
 * The transaction that has used a nonce of the lane. Only a transaction that is shown counts: by
 * two addresses, or by one twice, half a minute apart. null: not yet. That a node has no receipt
 * for ours proves nothing.
 */
export async function showUsedNonce(
  relayer: RelayerState,
  lane: Pick<HeldLane, 'lane' | 'address'>,
  nonce: bigint,
): Promise<ShownTransaction | null> {
  const head = relayer.head?.number ?? (await relayer.chain.newest()).number;
  const wanted = { address: lane.address, nonce, head };
  const nodes = witnessesOf(relayer.chain.rpc.inOrder());
  const hashes = await Promise.all(nodes.map((node) => findUsedNonce(node, wanted)));
  const at = performance.now();
  const seen = nodes.flatMap(({ host }, index): Sighting[] => {
    const hash = hashes[index] ?? null;
    return hash === null ? [] : [{ hash, nonce, host, at }];
  });
  const before = (relayer.sightings.get(lane.lane) ?? []).filter((one) => one.nonce === nonce);
  const known = before.filter((one) =>
    seen.every(({ host, hash }) => !contradicts(one, host, hash)),
  );
  const fresh = seen.filter((one) => known.every(({ host }) => host !== one.host));
  relayer.sightings.set(lane.lane, [...known, ...fresh]);
  const shown = seen.find((one) => isShown(one, [...known, ...seen]));
  return shown === undefined ? null : { hash: shown.hash, nonce };
}

/** The same address shows another transaction there by now. */
function contradicts(earlier: Sighting, host: string, hash: Hex): boolean {
  return earlier.host === host && earlier.hash !== hash;
}

function isShown(one: Sighting, all: readonly Sighting[]): boolean {
  return all.some(
    ({ hash, host, at }) => hash === one.hash && (host !== one.host || one.at - at >= TWICE_MS),
  );
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
  await stopForForeignKey(relayer, lane, { ...shown, nextNonce: chainNonce });
  return true;
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
  await stopForForeignKey(relayer, lane, { ...shown, nextNonce: nonce + 1n }, async (tx) => {
    await markForeign(tx, transactionId);
    await requeue(
      tx,
      requests.map(({ id: requestId }) => ({ requestId, transactionId })),
    );
  });
  lane.observe(transaction, { kind: 'foreign' });
  relayer.wakeups.send('chain-requests', relayer.chain.config.network);
}

/**
 * A foreign transaction has used the lane's key: the lane takes no new work, and operators are
 * alerted. What it has signed is still followed to its end. `also`: written in the same commit.
 */
async function stopForForeignKey(
  relayer: RelayerState,
  lane: HeldLane,
  { hash, nonce, nextNonce }: ShownTransaction & { readonly nextNonce: bigint },
  also: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  const { livemode, network } = relayer.chain.config;
  const { lane: number, address } = lane;
  const details = { address, nonce, tx_hash: hash };
  const alarm = { kind: 'foreign_key_used', subject: `lane ${number}`, details };
  await inLane(relayer, lane, async (tx) => {
    const now = relayer.clock.now();
    await also(tx);
    await stopLane(tx, { livemode, address, nextNonce }, now);
    await insertAlarms(tx, livemode, [alarm], now);
  });
  lane.see({ kind: 'foreign_key' });
  const fields = { network, lane: number, address, nonce, txHash: hash };
  relayer.log.error('somebody else has used the key of a lane: the lane is stopped', fields);
}

/**
 * Whether somebody else has used the key of a lane that has nothing under way: without this look a
 * thief would be noticed only when the lane is needed. A lane at work notices it by itself.
 */
export async function watchIdleNonces(
  relayer: RelayerState,
  lanes: readonly HeldLane[],
): Promise<void> {
  const idle = lanes.filter((lane) => lane.open.size === 0 && !lane.isStopped);
  const ahead = await findAhead(relayer, idle);
  if (ahead.length === 0) return;
  // The node may have become one of another chain, where the address has a history of its own.
  await relayer.chain.rpc.confirmChain();
  const lasting = ahead.map(({ lane }) => lane);
  for (const { lane, ...nonces } of await findAhead(relayer, lasting)) {
    await stopIfShown(relayer, lane, nonces);
  }
}

/** Chain first, ledger second: a nonce is in the ledger before it is used. */
async function findAhead(relayer: RelayerState, lanes: readonly HeldLane[]) {
  if (lanes.length === 0) return [];
  const { chain, db, sightings } = relayer;
  const used = await chain.nonces(lanes.map(({ address }) => address));
  const rows = await selectLanes(db, chain.config.livemode);
  const known = new Map(rows.map((row) => [row.lane, row.next_nonce]));
  return lanes.flatMap((lane, index) => {
    const chainNonce = present(used[index], 'nonce of a lane');
    const nextNonce = present(known.get(lane.lane), 'row of a lane');
    if (chainNonce > nextNonce) return [{ lane, chainNonce, nextNonce }];
    sightings.delete(lane.lane);
    return [];
  });
}
