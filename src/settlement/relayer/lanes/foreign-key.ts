import type { Tx } from '#db/database.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import { findUsedNonce } from '#settlement/chain/used-nonce.ts';
import { witnessesOf } from '#settlement/chain/witness.ts';
import { stopLane } from '#settlement/lanes.ts';
import type {
  HeldLane,
  RelayerState,
  ShownTransaction,
  Sighting,
} from '#settlement/relayer/machine/state.ts';
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
 * Somebody else has used the lane's key: the lane takes no new work, and a person is told. What it
 * has signed is still seen to its end.
 */
export async function stopForForeignKey(
  tx: Tx,
  relayer: RelayerState,
  lane: Pick<HeldLane, 'lane' | 'address'>,
  found: ShownTransaction & { readonly nextNonce: bigint },
): Promise<void> {
  const { livemode } = relayer.chain.config;
  const now = relayer.clock.now();
  await stopLane(tx, { livemode, address: lane.address, nextNonce: found.nextNonce }, now);
  const details = { address: lane.address, nonce: found.nonce, tx_hash: found.hash };
  const alarm = { kind: 'foreign_key_used', subject: `lane ${lane.lane}`, details };
  await insertAlarms(tx, livemode, [alarm], now);
}

/** The log says it too, once the lane is stopped. */
export function tellForeignKey(
  relayer: RelayerState,
  lane: Pick<HeldLane, 'lane' | 'address'>,
  { hash, nonce }: ShownTransaction,
): void {
  const { network } = relayer.chain.config;
  const fields = { network, lane: lane.lane, address: lane.address, nonce, txHash: hash };
  relayer.log.error('somebody else has used the key of a lane: the lane is stopped', fields);
}
