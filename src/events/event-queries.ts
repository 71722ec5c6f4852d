import { idTime } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import { boundsOf, LEAST_POSITION, type Page } from '#db/paging.ts';
import { checked } from '#db/plan-shapes.ts';
import { type Row, table } from '#db/table.ts';

export const events = table(
  'events',
  {
    created: 'timestamptz',
    position: 'bigint',
    /** The JSON text, exactly as it is delivered. */
    body: 'text',
  },
  { id: 'text', type: 'text' },
);

export type EventRow = Row<typeof events>;

/** Returns one event of the tenant, if it is not older than `since`. */
export async function selectEvent(
  sql: Sql,
  tenant: Tenant,
  filter: { readonly id: string; readonly since: Date },
): Promise<EventRow | undefined> {
  return events.find(
    sql,
    'where id = $1 and created = $2 and created >= $3 and account_id = $4 and livemode = $5',
    [filter.id, idTime('event', filter.id), filter.since, tenant.accountId, tenant.livemode],
  );
}

/** Bounds of a page, as parameters $1 to $7 of the statements below. */
function pageValues(tenant: Tenant, page: Page): unknown[] {
  return [tenant.accountId, tenant.livemode, ...boundsOf(page), page.limit + 1];
}

const WITHIN = (created: string, position: string) => `
  (${created}, ${position}) < ($3, $4) and ${created} >= $5 and ${created} < $6`;

const NEWEST_FIRST = 'order by created desc, position desc limit $7';

/** Returns a page of all events, newest first, and one row more if there is a next page. */
export async function selectEvents(sql: Sql, tenant: Tenant, page: Page): Promise<EventRow[]> {
  return events.list(
    sql,
    `where account_id = $1 and livemode = $2 and ${WITHIN('created', 'position')} ${NEWEST_FIRST}`,
    pageValues(tenant, page),
  );
}

const TYPE_KEY = '(e.type, e.account_id, e.livemode, e.created, e.position)';
/** A range of the index that begins with the type: see `plan-shapes.ts`. `$3` is before `$6`. */
const OF_TYPE = `${TYPE_KEY} < (wanted.type, $1, $2, $3, $4)
  and ${TYPE_KEY} >= (wanted.type, $1, $2, $5, ${LEAST_POSITION}) and $6::timestamptz is not null`;
const OF_TYPE_ORDER = `
  order by e.type desc, e.account_id desc, e.livemode desc, e.created desc, e.position desc
  limit $7`;

/**
 * Like {@link selectEvents} for some types: each type is a range of an index, and the short ranges
 * are merged.
 */
export async function selectEventsOfTypes(
  sql: Sql,
  filter: { readonly tenant: Tenant; readonly types: readonly string[] },
  page: Page,
): Promise<EventRow[]> {
  return sql.query(
    `select ${events.of('e')} from unnest($8::text[]) as wanted (type)
     cross join lateral (
       select ${events.columns} from events e
       where ${OF_TYPE} ${OF_TYPE_ORDER}
     ) e
     ${NEWEST_FIRST}`,
    [...pageValues(filter.tenant, page), filter.types],
  );
}

/**
 * Events of these types with a pending or failed delivery. Read from the deliveries of each of the
 * tenant's endpoints (at most 16), so that the many successes in between cost nothing.
 */
export async function selectUndeliveredEvents(
  sql: Sql,
  filter: { readonly tenant: Tenant; readonly types: readonly string[] },
  page: Page,
): Promise<EventRow[]> {
  const within = `event_type = any($8) and ${WITHIN('event_created', 'event_position')}
    order by event_created desc, event_position desc limit $7`;
  return sql.query(
    `select ${events.of('e')} from (
       select distinct on (event_created, event_position) event_created, event_position, event_id
       from webhook_endpoints p
       cross join lateral (
         (select event_created, event_position, event_id from webhook_due
          where endpoint_id = p.id and ${within})
         union all
         (select event_created, event_position, event_id from webhook_deliveries
          where endpoint_id = p.id and status = 'failed' and ${within})
       ) d
       where p.account_id = $1 and p.livemode = $2
       order by event_created desc, event_position desc limit $7
     ) d
     join events e on e.id = d.event_id and e.created = d.event_created
     order by e.created desc, e.position desc`,
    [...pageValues(filter.tenant, page), filter.types],
  );
}

/** Events of these types without a pending or failed delivery. */
export async function selectDeliveredEvents(
  sql: Sql,
  filter: { readonly tenant: Tenant; readonly types: readonly string[] },
  page: Page,
): Promise<EventRow[]> {
  const hasOne = (table: string, condition: string) => `exists (
    select from webhook_endpoints p cross join lateral (
      select from ${table} d
      where d.endpoint_id = p.id and ${condition} d.event_created = e.created
        and d.event_position = e.position
      limit 1) d
    where p.account_id = $1 and p.livemode = $2)`;
  const hasDue = hasOne('webhook_due', '');
  const hasFailed = hasOne('webhook_deliveries', "d.status = 'failed' and");
  return sql.query(
    `select ${events.of('e')} from unnest($8::text[]) as wanted (type)
     cross join lateral (
       select ${events.columns} from events e
       where ${OF_TYPE} and ${checked(`not ${hasDue} and not ${hasFailed}`)} ${OF_TYPE_ORDER}
     ) e
     ${NEWEST_FIRST}`,
    [...pageValues(filter.tenant, page), filter.types],
  );
}
