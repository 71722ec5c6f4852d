import { dayAfter, dayStart, type ShopDays } from '#core/calendar.ts';
import { daysBetween } from '#core/check-day-range.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database, Sql, Tx } from '#db/database.ts';

/** Deliveries of the events of one day, to all endpoints together. */
export interface DeliveriesRow {
  readonly day: string;
  readonly delivered: number;
  /** The number that failed or have not succeeded yet. */
  readonly undelivered: number;
  /** True if the day's counts are stored for all endpoints. */
  readonly is_kept: boolean;
}

interface Days {
  readonly tenant: Tenant;
  readonly shop: ShopDays;
  readonly from: string;
  /** The last day, inclusive. */
  readonly to: string;
}

// SQL: endpoints ($1 account, $2 mode) and days ($3 zone, $4 days, $5 and $6 their starts and ends)
// without a stored count.
const NOT_KEPT = `
  days as (
    select * from unnest($4::date[], $5::timestamptz[], $6::timestamptz[]) d (day, since, until)
  ), kept as materialized (
    select k.* from webhook_endpoints e
    join delivery_days k on k.endpoint_id = e.id and k.time_zone = $3 and k.day = any($4::date[])
    where e.account_id = $1 and e.livemode = $2
  ), not_kept as (
    select e.id, d.day, d.since, d.until from webhook_endpoints e cross join days d
    where e.account_id = $1 and e.livemode = $2
      and not exists (select from kept k where k.endpoint_id = e.id and k.day = d.day)
  )`;

function valuesOf({ tenant, shop, from, to }: Days): unknown[] {
  const days = daysBetween(from, to);
  // The start of each day, and of the day after the last: a day ends where the next one begins.
  const starts = daysBetween(from, dayAfter(to, 1)).map((day) => dayStart(shop, day));
  return [
    tenant.accountId,
    tenant.livemode,
    shop.timeZone,
    days,
    starts.slice(0, -1),
    starts.slice(1),
  ];
}

/** SQL: counts finished deliveries with an index range. */
function finished(status: 'succeeded' | 'failed'): string {
  return `(select count(*)::int from webhook_deliveries d
    where d.endpoint_id = o.id and d.status = '${status}'
      and d.event_created >= o.since and d.event_created < o.until)`;
}

const DUE = `from webhook_due d
  where d.endpoint_id = o.id and d.event_created >= o.since and d.event_created < o.until`;

export async function selectDeliveryDays(sql: Sql, days: Days): Promise<DeliveriesRow[]> {
  return sql.query(
    `with ${NOT_KEPT}, counted as (
       select day, ${finished('succeeded')} as delivered,
         ${finished('failed')} + (select count(*)::int ${DUE} and d.attempt > 0) as undelivered
       from not_kept o
     )
     select d.day::text as day, coalesce(sum(c.delivered), 0)::int as delivered,
       coalesce(sum(c.undelivered), 0)::int as undelivered,
       bool_and(coalesce(c.is_kept, true)) as is_kept
     from days d left join (
       select day, delivered, undelivered, true as is_kept from kept
       union all select day, delivered, undelivered, false from counted
     ) c using (day)
     group by d.day order by d.day`,
    valuesOf(days),
  );
}

/**
 * Locks until the transaction ends, so that no other transaction counts, stores or deletes these
 * days. Locks each endpoint first, as its other users do: the foreign key of stored days would lock
 * it afterwards, which could deadlock.
 */
async function lockDays(tx: Tx, tenant: Tenant): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended('delivery days ' || id, 0))
     from (select id from webhook_endpoints where account_id = $1 and livemode = $2
       order by id for key share) e`,
    [tenant.accountId, tenant.livemode],
  );
}

/**
 * Stores missing days. (`limit 1` checks each day separately; an anti-join read the waiting
 * deliveries of all merchants.)
 */
async function insertDays(tx: Tx, days: Days, now: Date): Promise<void> {
  await tx.query(
    `with ${NOT_KEPT}
     insert into delivery_days (endpoint_id, time_zone, day, delivered, undelivered)
     select id, $3::text, day, ${finished('succeeded')}, ${finished('failed')} from not_kept o
     where until <= $7 and (select true ${DUE} limit 1) is null
     on conflict do nothing`,
    [...valuesOf(days), now],
  );
}

/** Stores the counts of past days that have no waiting deliveries. */
export async function storeDeliveryDays(db: Database, days: Days, now: Date): Promise<void> {
  await db.transaction(async (tx) => {
    await lockDays(tx, days.tenant);
    await insertDays(tx, days, now);
  });
}

async function lockDaysOf(tx: Tx, endpointId: string): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended('delivery days ' || $1::text, 0))`,
    [endpointId],
  );
}

async function deleteDays(
  tx: Tx,
  filter: { readonly endpointId: string; readonly since: Date; readonly until: Date },
): Promise<void> {
  await tx.query(
    `delete from delivery_days where endpoint_id = $1
       and day between ($2::timestamptz at time zone 'UTC')::date - 1
         and ($3::timestamptz at time zone 'UTC')::date + 1`,
    [filter.endpointId, filter.since, filter.until],
  );
}

/**
 * Deletes the stored counts of days, in any zone, whose deliveries are about to be queued again.
 * The caller has locked the endpoint before, so that no two transactions deadlock.
 */
export async function forgetDeliveryDays(
  tx: Tx,
  filter: { readonly endpointId: string; readonly since: Date; readonly until: Date },
): Promise<void> {
  await lockDaysOf(tx, filter.endpointId);
  await deleteDays(tx, filter);
}
