import { only } from '#core/assert.ts';
import { idTime } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sent } from '#db/columns.ts';
import type { Sql, Tx } from '#db/database.ts';
import { boundsOf, type Page } from '#db/paging.ts';
import {
  ANSWER_COLUMNS,
  type DeliveryRow,
  type DeliveryStatus,
  PLACE_COLUMNS,
  webhookDeliveries,
} from '#webhooks/delivery-tables.ts';

const SHARED = `${PLACE_COLUMNS}, ${ANSWER_COLUMNS}, updated`;

// SQL: a delivery that was resent manually is due now, even before earlier deliveries.
const PENDING = `${SHARED}, 'pending' as status, greatest(due_at, updated) as next_attempt_at`;
const FINISHED = `${SHARED}, status, null::timestamptz(3) as next_attempt_at`;

const BEFORE = `
  and (event_created, event_position) < ($2, $3)
  order by event_created desc, event_position desc limit $4`;

function finishedOf(status: 'succeeded' | 'failed'): string {
  return `(select ${FINISHED} from webhook_deliveries
    where endpoint_id = $1 and status = '${status}' ${BEFORE})`;
}

const PARTS: Readonly<Record<DeliveryStatus, string>> = {
  pending: `(select ${PENDING} from webhook_due where endpoint_id = $1 ${BEFORE})`,
  succeeded: finishedOf('succeeded'),
  failed: finishedOf('failed'),
};

/**
 * Returns a page of an endpoint's deliveries, newest event first, and one row more if there is a
 * next page. Each status is a range of an index; the three short ranges are merged.
 */
export async function selectDeliveries(
  sql: Sql,
  filter: { readonly endpointId: string; readonly status: DeliveryStatus | null },
  page: Page,
): Promise<DeliveryRow[]> {
  const parts = filter.status === null ? Object.values(PARTS) : [PARTS[filter.status]];
  const { after, limit } = page;
  return sql.query(
    `select * from (${parts.join(' union all ')}) d
     order by event_created desc, event_position desc limit $4`,
    [filter.endpointId, after?.created ?? 'infinity', after?.position ?? 0n, limit + 1],
  );
}

/**
 * Returns a page of the tenant's undelivered events over all endpoints: failed, or without a
 * success so far. Each endpoint contributes at most a page from its own index.
 */
export async function selectUndelivered(
  sql: Sql,
  tenant: Tenant,
  page: Page,
): Promise<DeliveryRow[]> {
  const range = `
    and (event_created, event_position) < ($3, $4)
    and event_created >= $5 and event_created < $6
    order by event_created desc, event_position desc limit $7`;
  return sql.query(
    `select d.* from webhook_endpoints e cross join lateral (
       (select ${FINISHED} from webhook_deliveries
        where endpoint_id = e.id and status = 'failed' ${range})
       union all
       (select ${PENDING} from webhook_due
        where endpoint_id = e.id and attempt > 0 ${range})
     ) d
     where e.account_id = $1 and e.livemode = $2
     order by event_created desc, event_position desc limit $7`,
    [tenant.accountId, tenant.livemode, ...boundsOf(page), page.limit + 1],
  );
}

/** The time in a delivery's ID may differ from its event's time by up to a millisecond. */
const ID_SLACK_MS = 1;

/** Returns a delivery of one of the tenant's endpoints, from any table. */
export async function selectDelivery(
  sql: Sql,
  tenant: Tenant,
  id: string,
): Promise<DeliveryRow | undefined> {
  const time = idTime('webhookDelivery', id)?.getTime();
  if (time === undefined) return undefined;
  const from = new Date(time - ID_SLACK_MS);
  const to = new Date(time + ID_SLACK_MS);
  const rows = await sql.query<DeliveryRow>(
    `select d.* from webhook_endpoints e cross join lateral (
       select ${PENDING} from webhook_due
       where endpoint_id = e.id and event_created between $3 and $4 and id = $5
       union all
       select ${FINISHED} from webhook_deliveries
       where endpoint_id = e.id and status in ('succeeded', 'failed')
         and event_created between $3 and $4 and id = $5
     ) d
     where e.account_id = $1 and e.livemode = $2`,
    [tenant.accountId, tenant.livemode, from, to, id],
  );
  return rows[0];
}

export type DeliveryKey = Pick<DeliveryRow, 'endpoint_id' | 'event_created' | 'event_position'>;

/** Moves a delivery, pending or finished, to the front of its endpoint's queue. */
export async function moveToFront(tx: Tx, key: DeliveryKey, now: Date): Promise<void> {
  await tx.query(
    `with old as (
       delete from webhook_deliveries
       where endpoint_id = $1 and status in ('succeeded', 'failed') and event_created = $2
         and event_position = $3
       returning *
     ), back as (
       insert into webhook_due (${PLACE_COLUMNS}, ${ANSWER_COLUMNS}, updated, due_at)
       select ${PLACE_COLUMNS}, ${ANSWER_COLUMNS}, $4, '-infinity' from old
     )
     update webhook_due set due_at = '-infinity', updated = $4
     where endpoint_id = $1 and event_created = $2 and event_position = $3`,
    [key.endpoint_id, key.event_created, key.event_position, now],
  );
}

const TESTED = webhookDeliveries.batch(1, [
  'endpoint_id',
  'status',
  'event_created',
  'event_position',
  'event_id',
  'account_id',
  'livemode',
  'event_type',
  'created',
  'updated',
  'attempt',
  'response_status',
  'response_body',
  'error',
  'duration_ms',
]);

const INSERT_TESTED = `
  insert into webhook_deliveries (id, ${TESTED.names.join(', ')})
  select webhook_delivery_id(event_id, endpoint_id), ${TESTED.names.join(', ')}
  from ${TESTED.table('t')} returning id`;

/** Inserts a finished delivery that did not go through the queue: a manual test. */
export async function insertFinished(tx: Tx, row: Sent<typeof TESTED>): Promise<string> {
  const rows = await TESTED.run<{ id: string }>(tx, INSERT_TESTED, { rows: [row] });
  return only(rows, 'delivery of a test').id;
}

export async function deliveryIdOf(
  sql: Sql,
  filter: { readonly eventId: string; readonly endpointId: string },
): Promise<string> {
  const rows = await sql.query<{ id: string }>('select webhook_delivery_id($1, $2) as id', [
    filter.eventId,
    filter.endpointId,
  ]);
  return rows[0]?.id ?? '';
}
