import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import type { Row } from '#db/table.ts';
import { events } from '#events/event-queries.ts';
import type { WaitsFor } from '#settlement/chain-request-queries.ts';
import { type DeliveryStatus, webhookDeliveries } from '#webhooks/delivery-tables.ts';

export interface AttemptRow {
  readonly status: 'queued' | 'submitted' | 'succeeded' | 'failed';
  readonly decided_at: Date;
  readonly deadline: Date | null;
  readonly signed_at: Date | null;
  readonly times_sent: number;
  /** Set once the transaction is in a block that must get more confirmations. */
  readonly included_at: Date | null;
  readonly waits_for: WaitsFor | null;
  readonly block_number: bigint | null;
  readonly applied_at: Date | null;
  readonly final_at: Date | null;
}

/**
 * SQL: the jobs that settle intent $1, in mode $2 with number $3. Failed jobs are found through
 * another index (by number) than open and paid ones (by intent).
 */
export const PAYMENT_JOBS = `
  select * from chain_requests
  where kind = 'payment' and subject_id = $1 and status in ('queued', 'submitted', 'succeeded')
  union all
  select * from chain_requests
  where kind = 'payment' and status = 'failed' and livemode = $2 and number = $3
    and subject_id = $1`;

/** Returns every attempt to settle an intent, oldest first, with its result on the chain. */
export async function selectSettlementAttempts(
  sql: Sql,
  filter: { readonly intentId: string; readonly livemode: boolean; readonly number: bigint | null },
): Promise<AttemptRow[]> {
  return sql.query<AttemptRow>(
    `with found as (${PAYMENT_JOBS})
     select r.status, r.created as decided_at, r.deadline, r.applied_at,
       s.signed_at, coalesce(s.times, 0)::int as times_sent,
       t.included_at, t.waits_for, t.block_number, t.finalized_at as final_at
     from found r
     left join chain_transactions t on t.id = r.transaction_id
     left join lateral (
       select min(a.created) as signed_at, count(*) as times from chain_attempts a
       where a.transaction_id = t.id and not a.cancels
     ) s on true
     order by r.id`,
    [filter.intentId, filter.livemode, filter.number],
  );
}

const EVENT = events.pick(['id', 'type', 'created', 'position']);

export type TimelineEventRow = Row<typeof EVENT>;

export async function selectEventsOf(
  sql: Sql,
  tenant: Tenant,
  filter: {
    readonly objects: readonly string[];
    readonly from: Date;
    readonly to: Date;
    readonly limit: number;
  },
): Promise<TimelineEventRow[]> {
  return sql.query<TimelineEventRow>(
    `select ${EVENT} from events
     where account_id = $1 and livemode = $2 and created >= $3 and created <= $4
       and object_id = any($5)
     order by created, position limit $6`,
    [tenant.accountId, tenant.livemode, filter.from, filter.to, filter.objects, filter.limit],
  );
}

const DELIVERY = webhookDeliveries.pick(
  ['id', 'endpoint_id', 'event_id', 'attempt', 'response_status', 'updated'],
  'd',
);

export type TimelineDeliveryRow = Row<typeof DELIVERY> & { status: DeliveryStatus };

export async function selectDeliveriesOf(
  sql: Sql,
  tenant: Tenant,
  told: readonly TimelineEventRow[],
): Promise<TimelineDeliveryRow[]> {
  const places = [told.map(({ created }) => created), told.map(({ position }) => position)];
  return sql.query<TimelineDeliveryRow>(
    `with places as (select * from unnest($3::timestamptz[], $4::bigint[]) p (created, position)),
     told as (
       select ${DELIVERY}, d.status
       from webhook_endpoints e cross join places p cross join (values ('succeeded'), ('failed'))
         s (status)
       join webhook_deliveries d on d.endpoint_id = e.id and d.status = s.status
         and d.event_created = p.created and d.event_position = p.position
       where e.account_id = $1 and e.livemode = $2
       union all
       select ${DELIVERY}, 'pending'
       from webhook_endpoints e cross join places p
       join webhook_due d on d.endpoint_id = e.id
         and d.event_created = p.created and d.event_position = p.position
       where e.account_id = $1 and e.livemode = $2
     )
     select * from told order by updated, id`,
    [tenant.accountId, tenant.livemode, ...places],
  );
}
