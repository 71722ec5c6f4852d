import type { Sql } from '#db/database.ts';
import { checked } from '#db/plan-shapes.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { LaneRole } from '#settlement/networks.ts';
import type { Hex } from '#settlement/requests.ts';

export interface LaneStatusRow {
  lane: number;
  role: LaneRole;
  address: Hex;
  next_nonce: bigint;
  owner: string | null;
  unmined: number;
  oldest_unmined: Date | null;
}

export async function selectLaneStatus(sql: Sql, livemode: boolean): Promise<LaneStatusRow[]> {
  return sql.query(
    `select l.lane, l.role, l.address, l.next_nonce,
       case when l.lease_until > now() then l.lease_owner end as owner,
       count(t.id)::int as unmined, min(t.created) as oldest_unmined
     from relayer_lanes l
     left join chain_transactions t
       on t.status = 'signed' and ${checked('t.livemode = l.livemode and t.lane = l.lane')}
       and t.included_at is null
     where l.livemode = $1
     group by l.livemode, l.lane order by l.lane`,
    [livemode],
  );
}

export interface QueueStatusRow {
  kind: string;
  status: 'queued' | 'submitted' | 'answered';
  count: number;
  oldest: Date;
}

/** Requests under way, and outcomes that their domain has not applied yet. */
export async function selectQueueStatus(sql: Sql, livemode: boolean): Promise<QueueStatusRow[]> {
  return sql.query(
    `select kind,
       case when status in ('succeeded', 'failed') then 'answered' else status end as status,
       count(*)::int as count, min(created) as oldest
     from chain_requests
     where livemode = $1 and (status in ('queued', 'submitted')
       or (status in ('succeeded', 'failed') and applied_at is null
         and kind in ('payment', 'refund', 'withdrawal', 'merchant_registration')))
     group by 1, 2 order by 1, 2`,
    [livemode],
  );
}

export async function countOpenDifferences(sql: Sql, livemode: boolean): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `select count(*)::int as count from reconciliation_differences
     where livemode = $1 and resolved_at is null and accepted_at is null`,
    [livemode],
  );
  return rows[0]?.count ?? 0;
}

/** Those that settle, by whichever worker. */
export async function countLanesAtWork(sql: Sql, livemode: boolean): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `select count(*)::int as count from relayer_lanes
     where livemode = $1 and role = 'operator' and lease_until > now()`,
    [livemode],
  );
  return rows[0]?.count ?? 0;
}

/** So many rows are looked at: of more, as many at even distances. */
const LOOKED_AT = 20_000n;
const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;

/**
 * Payments a day that this network has settled within the last week; of a younger one, since its
 * first request, but at least within a day. Nobody keeps an index by time for this: ids grow with
 * time, so the first one of the week is found by halving, and of many rows some are counted.
 */
export async function paymentsPerDay(sql: Sql, livemode: boolean, now: Date): Promise<number> {
  const weekAgo = new Date(now.getTime() - WEEK_DAYS * DAY_MS);
  const [ends] = await sql.query<{ first: bigint; last: bigint; since: Date }>(
    `with recursive halves as (
       select coalesce(min(id), 1) as low, coalesce(max(id), 0) + 1 as high from chain_requests
       union all
       select case when at.created < $1 then at.id + 1 else low end,
         case when at.created < $1 then high else (low + high) / 2 end
       from halves, lateral (
         select id, created from chain_requests where id >= (low + high) / 2 order by id limit 1
       ) as at
       where low < high
     )
     select low as first, (select max(id) from chain_requests) as last,
       (select created from chain_requests where id >= low order by id limit 1) as since
     from halves where low >= high
       and exists (select from chain_requests where id >= low) limit 1`,
    [weekAgo],
  );
  if (ends === undefined) return 0;
  const span = ends.last - ends.first + 1n;
  const step = (span + LOOKED_AT - 1n) / LOOKED_AT;
  const [counted] = await sql.query<{ count: number }>(
    `select count(*)::int as count
     from generate_series($1::bigint, $2::bigint, $3::bigint) as asked (id)
     join chain_requests r on r.id = asked.id
     where r.livemode = $4 and r.kind = 'payment' and r.status = 'succeeded'`,
    [ends.first, ends.last, step, livemode],
  );
  const days = Math.max(1, (now.getTime() - ends.since.getTime()) / DAY_MS);
  return ((counted?.count ?? 0) * Number(step)) / days;
}

/** A week changes little in this time, and each counting reads some thousand rows. */
const RATE_AGE_MS = 600_000;

/** What {@link paymentsPerDay} has counted some minutes ago at most. */
export function weeklyRate(sql: Sql, { config, remember }: Chain): Promise<number> {
  const count = () => paymentsPerDay(sql, config.livemode, new Date());
  return remember('payments a day', RATE_AGE_MS, count);
}
