import type { Sql, Tx } from '#db/database.ts';
import { checked } from '#db/plan-shapes.ts';
import type { LaneRow } from '#settlement/lanes.ts';
import type { LaneRole } from '#settlement/networks.ts';
import type { HeldLane, RelayerState } from '#settlement/relayer/machine/memory.ts';
import type { Hex } from '#settlement/requests.ts';

// Leases are measured with the database's clock, the only one that all workers share.

/** A worker of a network. */
interface Worker {
  readonly livemode: boolean;
  readonly owner: string;
}

/** Lanes that a worker has leased, and the fencing token of each. */
interface Leases extends Worker {
  readonly lanes: readonly number[];
  readonly fences: readonly bigint[];
}

export function leasesOf(
  { chain, owner }: Pick<RelayerState, 'chain' | 'owner'>,
  held: readonly Pick<HeldLane, 'lane' | 'fence'>[],
): Leases {
  const { livemode } = chain.config;
  return {
    livemode,
    owner,
    lanes: held.map(({ lane }) => lane),
    fences: held.map(({ fence }) => fence),
  };
}

/** Lets the worker take part in sharing lanes; workers not seen for `forgetMs` are forgotten. */
export async function upsertWorker(
  tx: Tx,
  worker: Worker & { readonly forgetMs: number },
): Promise<number> {
  const rows = await tx.query<{ workers: number }>(
    `with gone as (
       delete from relayer_workers
       where livemode = $1 and seen_at < now() - $3 * interval '1 millisecond' and owner <> $2
       returning shares_lanes
     ), seen as (
       insert into relayer_workers (livemode, owner, seen_at) values ($1, $2, now())
       on conflict (livemode, owner) do update
       set seen_at = excluded.seen_at, shares_lanes = true
     )
     select (select count(*)::int from relayer_workers
             where livemode = $1 and owner <> $2 and shares_lanes)
       - (select count(*)::int from gone where shares_lanes) + 1 as workers`,
    [worker.livemode, worker.owner, worker.forgetMs],
  );
  return rows[0]?.workers ?? 1;
}

/**
 * Takes the worker out of the sharing of lanes: it holds none any more. What it saw of the network
 * stays until it is too old: payments that are taken meanwhile wait for the next worker.
 */
export async function leaveSharing(sql: Sql, worker: Worker): Promise<void> {
  await sql.query(
    `update relayer_workers
     set shares_lanes = false, lanes = 0, funded_lanes = 0, payments_left = null
     where livemode = $1 and owner = $2`,
    [worker.livemode, worker.owner],
  );
}

/** A number that no other lock has (test/tidy.test.ts). */
const CONFIGURE_LOCK = 7_218_344_191;

/** Makes starts configure lanes one after the other; leases go on meanwhile. */
export async function lockConfiguration(tx: Tx): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [CONFIGURE_LOCK]);
}

/** A new address gets the next number; a known one keeps its number and its nonce. */
export async function upsertLane(
  tx: Tx,
  lane: {
    readonly livemode: boolean;
    readonly role: LaneRole;
    readonly address: Hex;
    readonly nextNonce: bigint;
  },
): Promise<void> {
  await tx.query(
    `insert into relayer_lanes (livemode, lane, role, address, next_nonce)
     select $1, coalesce(max(lane) + 1, 0), $2, $3, $4 from relayer_lanes where livemode = $1
     on conflict (livemode, address) do update set role = excluded.role`,
    [lane.livemode, lane.role, lane.address, lane.nextNonce],
  );
}

/** Signed, or mined in a block that may still leave the chain: only its key can send it again. */
export async function countUnfinished(
  tx: Tx,
  wanted: { readonly livemode: boolean; readonly lane: number },
): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    `select count(*)::int as count from chain_transactions
     where status in ('signed', 'mined') and ${checked('livemode = $1 and lane = $2')}`,
    [wanted.livemode, wanted.lane],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Keeps the leases of these lanes; a lane that is missing from the answer is lost. Locked in the
 * order in which outcomes share them, or two statements of one worker could wait in a circle.
 */
export async function renewLeases(
  sql: Sql,
  lease: Leases & { readonly leaseMs: number },
): Promise<number[]> {
  const rows = await sql.query<{ lane: number }>(
    `update relayer_lanes l
     set lease_until = now() + $5 * interval '1 millisecond'
     from (
       select m.lane from relayer_lanes m
       join unnest($3::int[], $4::bigint[]) as held (lane, fence)
         on m.lane = held.lane and m.fence = held.fence
       where m.livemode = $1 and m.lease_owner = $2
       order by m.lane for no key update of m
     ) mine
     where l.livemode = $1 and l.lane = mine.lane
     returning l.lane`,
    [lease.livemode, lease.owner, lease.lanes, lease.fences.map(String), lease.leaseMs],
  );
  return rows.map((row) => row.lane);
}

/**
 * Takes up to `limit` lanes that nobody holds, and that have something to do. Each gets a new
 * fence.
 */
export async function takeLanes(
  sql: Sql,
  wanted: Worker & {
    readonly addresses: readonly Hex[];
    readonly limit: number;
    readonly leaseMs: number;
  },
): Promise<LaneRow[]> {
  return sql.query(
    `update relayer_lanes l
     set lease_owner = $2, lease_until = now() + $5 * interval '1 millisecond',
       fence = l.fence + 1
     from (
       select lane from relayer_lanes
       where livemode = $1 and address = any($3)
         and (lease_owner is null or lease_until < now() or lease_owner = $2)
         and (stopped_at is null or exists (
           select from chain_transactions t
           where t.status in ('signed', 'mined')
             and ${checked('t.livemode = $1 and t.lane = relayer_lanes.lane')}))
       order by lane limit $4 for update skip locked
     ) free
     where l.livemode = $1 and l.lane = free.lane
     returning l.lane, l.role, l.address, l.next_nonce, l.fence,
       l.stopped_at is not null as stopped`,
    [wanted.livemode, wanted.owner, wanted.addresses, wanted.limit, wanted.leaseMs],
  );
}

export async function releaseLanes(sql: Sql, lease: Omit<Leases, 'fences'>): Promise<void> {
  await sql.query(
    `update relayer_lanes l set lease_owner = null, lease_until = null
     from (
       select lane from relayer_lanes
       where livemode = $1 and lease_owner = $2 and lane = any($3::int[])
       order by lane for no key update
     ) mine
     where l.livemode = $1 and l.lane = mine.lane`,
    [lease.livemode, lease.owner, lease.lanes],
  );
}

/**
 * Locks the lane for as long as the transaction lasts and returns its next nonce; null when the
 * lease was lost, or when this process does not know any more whether its ledger is complete. The
 * fence, not the time, decides: a worker that took the lane over has raised it.
 */
export async function lockHeldLane(
  tx: Tx,
  held: Worker & Pick<HeldLane, 'lane' | 'fence'>,
): Promise<bigint | null> {
  if (!tx.watch.signs(held.livemode)) return null;
  const rows = await tx.query<{ next_nonce: bigint }>(
    `select next_nonce from relayer_lanes
     where livemode = $1 and lane = $2 and lease_owner = $3 and fence = $4 for update`,
    [held.livemode, held.lane, held.owner, held.fence],
  );
  return rows[0]?.next_nonce ?? null;
}

/** Keeps the leases of these lanes as they are until the transaction ends. */
export async function shareHeldLanes(tx: Tx, held: Leases): Promise<number[]> {
  const rows = await tx.query<{ lane: number }>(
    `select l.lane from relayer_lanes l
     join unnest($3::int[], $4::bigint[]) as held (lane, fence)
       on l.lane = held.lane and l.fence = held.fence
     where l.livemode = $1 and l.lease_owner = $2
     order by l.lane for share of l`,
    [held.livemode, held.owner, held.lanes, held.fences.map(String)],
  );
  return rows.map((row) => row.lane);
}

/** The lease is gone, so what this process remembers about the lane is void. */
export class LaneLost extends Error {
  override name = 'LaneLost';
  readonly lane: number;

  constructor(lane: number) {
    super(`lane ${lane} belongs to another worker now`);
    this.lane = lane;
  }
}

/**
 * Writes while the lane is ours, all or nothing. `nonce`: the lane's next one.
 * @throws LaneLost when another worker has it.
 */
export async function inLane<T>(
  { chain, db, owner }: RelayerState,
  { lane, fence }: HeldLane,
  work: (tx: Tx, nonce: bigint) => Promise<T>,
): Promise<T> {
  const { livemode } = chain.config;
  return db.transaction(async (tx) => {
    const nonce = await lockHeldLane(tx, { livemode, lane, owner, fence });
    if (nonce === null) throw new LaneLost(lane);
    return work(tx, nonce);
  });
}
