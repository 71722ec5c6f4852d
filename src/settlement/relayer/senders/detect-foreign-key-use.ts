import { present } from '#core/assert.ts';
import type { Tx } from '#db/database.ts';
import { findUsedNonce } from '#settlement/chain/read/used-nonce.ts';
import { independentProviders } from '#settlement/chain/rpc/provider-quorum.ts';
import { jobsOf, requeue } from '#settlement/relayer/jobs/job-queries.ts';
import { inSender } from '#settlement/relayer/jobs/sender-queries.ts';
import { markForeign } from '#settlement/relayer/jobs/transaction-queries.ts';
import type {
  HeldSender,
  RelayerState,
  Sighting,
} from '#settlement/relayer/state-machine/relayer-state.ts';
import type { OpenTransaction } from '#settlement/relayer/state-machine/transaction.ts';
import { selectSenders, stopSender } from '#settlement/sender-rows.ts';

/** If only one address shows a foreign transaction, it must show it again after this time. */
const TWICE_MS = 30_000;

/**
 * Returns the foreign transaction that has used a nonce of the sender; `null` until two addresses
 * have reported it, or one address twice, half a minute apart. A missing receipt for our own
 * transaction proves nothing.
 */
async function showUsedNonce(sender: HeldSender, nonce: bigint): Promise<Sighting | null> {
  const { relayer } = sender;
  const head = relayer.head?.number ?? (await relayer.chain.newest()).number;
  const expected = { address: sender.address, nonce, head };
  const nodes = independentProviders(relayer.chain.rpc.inOrder());
  const hashes = await Promise.all(nodes.map((node) => findUsedNonce(node, expected)));
  const at = performance.now();
  const seen = nodes.flatMap(({ host }, index): Sighting[] => {
    const hash = hashes[index] ?? null;
    return hash === null ? [] : [{ hash, nonce, host, at }];
  });
  const before = (relayer.sightings.get(sender.sender) ?? []).filter((one) => one.nonce === nonce);
  // Drop earlier sightings that the same node now contradicts.
  const known = before.filter((one) =>
    seen.every(({ host, hash }) => one.host !== host || one.hash === hash),
  );
  const fresh = seen.filter((one) => known.every(({ host }) => host !== one.host));
  relayer.sightings.set(sender.sender, [...known, ...fresh]);
  const isShown = (one: Sighting) =>
    [...known, ...seen].some(
      ({ hash, host, at }) => hash === one.hash && (host !== one.host || one.at - at >= TWICE_MS),
    );
  return seen.find(isShown) ?? null;
}

/**
 * Handles a sender whose next nonce on the chain is higher than in the database.
 * @returns true if nodes have shown the transaction that used the nonce; the sender is then
 * stopped.
 */
export async function stopIfShown(
  sender: HeldSender,
  { nextNonce, chainNonce }: { readonly nextNonce: bigint; readonly chainNonce: bigint },
): Promise<boolean> {
  const { relayer } = sender;
  const shown = await showUsedNonce(sender, nextNonce);
  if (shown === null) {
    const details = { chainNonce, nextNonce };
    const fields = { sender: sender.sender, ...details };
    relayer.log.error('the chain has used nonces of a sender that are not in the database', fields);
    const alarm = { kind: 'nonce_ahead', subject: `sender ${sender.sender}`, details };
    await inSender(sender, (tx) => relayer.raise(tx, [alarm]));
    return false;
  }
  await stopForForeignKey(sender, { ...shown, nextNonce: chainNonce });
  return true;
}

/**
 * Asks nodes which transaction has used one of our nonces. If the transaction is foreign, the
 * sender stops, and its jobs go to other senders. If that transaction has settled a job, its event
 * shows it.
 */
export async function lookAtNonce(sender: HeldSender, transaction: OpenTransaction): Promise<void> {
  const { id, nonce, attempts } = transaction;
  const shown = await showUsedNonce(sender, nonce);
  if (shown === null || attempts.some(({ hash }) => hash === shown.hash)) return;
  await stopForForeignKey(sender, { ...shown, nextNonce: nonce + 1n }, async (tx) => {
    await markForeign(tx, id);
    await requeue(tx, jobsOf(transaction));
  });
  sender.observe(transaction, { kind: 'foreign' });
  sender.relayer.wakeSenders();
}

/**
 * Stops a sender whose key a foreign transaction has used: the sender takes no new work, and
 * operators are alerted. The results of transactions that it has signed are still collected. `also`
 * runs in the same commit.
 */
async function stopForForeignKey(
  sender: HeldSender,
  { hash, nonce, nextNonce }: Sighting & { readonly nextNonce: bigint },
  also: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  const { relayer, sender: number, address } = sender;
  const details = { address, nonce, tx_hash: hash };
  const alarm = { kind: 'foreign_key_used', subject: `sender ${number}`, details };
  await inSender(sender, async (tx) => {
    await also(tx);
    await stopSender(tx, { livemode: relayer.livemode, address, nextNonce }, relayer.clock.now());
    await relayer.raise(tx, [alarm]);
  });
  sender.see({ isStopped: true });
  const fields = { sender: number, address, nonce, txHash: hash };
  const what = 'the key of a sender was used outside this service: the sender is stopped';
  relayer.log.error(what, fields);
}

/**
 * Checks whether idle senders' keys were used elsewhere, which would otherwise be noticed only when
 * such a sender is needed. Active senders notice it anyway.
 */
export async function watchIdleNonces(
  relayer: RelayerState,
  senders: readonly HeldSender[],
): Promise<void> {
  const idle = senders.filter((sender) => sender.open.size === 0 && !sender.isStopped);
  const ahead = await findAhead(relayer, idle);
  if (ahead.length === 0) return;
  // The node may now serve another chain, on which the address has used other nonces.
  await relayer.chain.rpc.confirmChain();
  const lasting = ahead.map(({ sender }) => sender);
  for (const { sender, ...nonces } of await findAhead(relayer, lasting)) {
    await stopIfShown(sender, nonces);
  }
}

/**
 * Returns the senders whose nonce on the chain is ahead of the ledger. Reads the chain first,
 * because the ledger stores each nonce before the chain can use it.
 */
async function findAhead(relayer: RelayerState, senders: readonly HeldSender[]) {
  if (senders.length === 0) return [];
  const { chain, db, sightings } = relayer;
  const used = await chain.nonces(senders.map(({ address }) => address));
  const rows = await selectSenders(db, chain.config.livemode);
  const known = new Map(rows.map((row) => [row.sender, row.next_nonce]));
  return senders.flatMap((sender, index) => {
    const chainNonce = present(used[index], 'nonce of a sender');
    const nextNonce = present(known.get(sender.sender), 'row of a sender');
    if (chainNonce > nextNonce) return [{ sender, chainNonce, nextNonce }];
    sightings.delete(sender.sender);
    return [];
  });
}
