import type { Sql, Tx } from '#db/database.ts';
import type { LaneRole } from '#settlement/networks.ts';
import type { Hex } from '#settlement/requests.ts';

/** A lane as it is written down: what is seen, raised and stopped also where no relayer runs. */
export interface LaneRow {
  lane: number;
  role: LaneRole;
  address: Hex;
  next_nonce: bigint;
  fence: bigint;
  /** Somebody else has used its key: it takes no new work. */
  stopped: boolean;
}

export async function selectLanes(tx: Sql, livemode: boolean): Promise<LaneRow[]> {
  return tx.query(
    `select lane, role, address, next_nonce, fence, stopped_at is not null as stopped
     from relayer_lanes where livemode = $1 order by lane`,
    [livemode],
  );
}

/** The chain has used more nonces than we know: goes on after them. */
export async function raiseNextNonce(
  tx: Tx,
  lane: { readonly livemode: boolean; readonly lane: number; readonly nextNonce: bigint },
): Promise<void> {
  await tx.query(
    `update relayer_lanes set next_nonce = greatest(next_nonce, $3)
     where livemode = $1 and lane = $2`,
    [lane.livemode, lane.lane, lane.nextNonce],
  );
}

/**
 * Somebody else has used the lane's key: from now on it takes no new work. Its next nonce goes on
 * after theirs, so that no transaction of ours waits for one that cannot come.
 */
export async function stopLane(
  tx: Tx,
  lane: { readonly livemode: boolean; readonly address: string; readonly nextNonce: bigint },
  now: Date,
): Promise<number | null> {
  const rows = await tx.query<{ lane: number }>(
    `update relayer_lanes set stopped_at = coalesce(stopped_at, $4),
       next_nonce = greatest(next_nonce, $3)
     where livemode = $1 and lower(address) = lower($2) returning lane`,
    [lane.livemode, lane.address, lane.nextNonce, now],
  );
  return rows[0]?.lane ?? null;
}
