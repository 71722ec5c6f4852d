import { present } from '#core/assert.ts';
import { selectLanes } from '#settlement/lanes.ts';
import { stopIfShown } from '#settlement/relayer/lanes/nonces.ts';
import type { HeldLane, RelayerState } from '#settlement/relayer/machine/state.ts';

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
