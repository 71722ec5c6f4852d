import type { Sql } from '#db/database.ts';
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
       on t.livemode = l.livemode and t.lane = l.lane and t.status = 'signed'
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
