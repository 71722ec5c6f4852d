import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';

export const webhookReplays = table('webhook_replays', {
  id: 'text',
  account_id: 'text',
  livemode: 'boolean',
  endpoint_id: 'text',
  since: 'timestamptz',
  until: 'timestamptz',
  types: as<string[]>('text[]'),
  status: as<'running' | 'completed'>('text'),
  events_queued: 'int',
  place_created: 'timestamptz',
  place_position: 'bigint',
  created: 'timestamptz',
  updated: 'timestamptz',
});

export type ReplayRow = Row<typeof webhookReplays>;

export async function selectReplay(
  sql: Sql,
  tenant: Tenant,
  id: string,
): Promise<ReplayRow | undefined> {
  return webhookReplays.findOwn(sql, tenant, id);
}

/**
 * Locks and returns the oldest running replay whose endpoint is enabled and has capacity. The
 * endpoint is locked too, so that it is not disabled or deleted during the batch.
 */
export async function selectRunningReplay(
  tx: Tx,
  maxBacklog: number,
): Promise<ReplayRow | undefined> {
  const rows = await tx.query<ReplayRow>(
    `select ${webhookReplays.of('r')} from webhook_replays r
     join webhook_endpoints e on e.id = r.endpoint_id
     where r.status = 'running' and e.status = 'enabled'
       and (
         select count(*) from (
           select from webhook_due d where d.endpoint_id = r.endpoint_id limit $1) b
       ) < $1
     order by r.created limit 1
     for update of r skip locked for share of e skip locked`,
    [maxBacklog],
  );
  return rows[0];
}

/** Counts undelivered work of the replay's endpoint, up to `most`. */
export async function backlogOf(tx: Tx, replay: ReplayRow, most: number): Promise<number> {
  const rows = await tx.query<{ count: bigint }>(
    `select count(*) from (
       select from webhook_due where endpoint_id = $1 limit $2) b`,
    [replay.endpoint_id, most],
  );
  return Number(rows[0]?.count ?? 0);
}

// SQL: a finished delivery is queued again with its id and attempt count; a waiting one is left as
// it is; an event that the endpoint never got gets its first delivery.
const PORTION = `
  with portion as (
    select e.id, e.created, e.position, e.type from events e
    where e.account_id = $2 and e.livemode = $3 and e.created < $6 and e.created >= $4
      and (e.created, e.position) > ($4, $5) and e.type = any($7)
    order by e.created, e.position limit $9
  ), old as (
    delete from webhook_deliveries d using portion p
    where d.endpoint_id = $1 and d.status in ('succeeded', 'failed')
      and d.event_created = p.created and d.event_position = p.position
    returning d.*
  ), added as (
    insert into webhook_due
      (endpoint_id, event_created, event_position, id, account_id, livemode, event_id, event_type,
       created, updated, due_at, attempt, response_status, response_body, error, duration_ms)
    select $1, p.created, p.position, webhook_delivery_id(p.id, $1), $2, $3, p.id, p.type,
      coalesce(o.created, $8), $8, $8, coalesce(o.attempt, 0), o.response_status,
      o.response_body, o.error, o.duration_ms
    from portion p
    left join old o on o.event_created = p.created and o.event_position = p.position
    on conflict (endpoint_id, event_created, event_position) do nothing
  )
  select created as event_created, position as event_position from portion
  order by created, position`;

/** Queues the next events of a replay. @returns their positions, in order. */
export async function replayPortion(
  tx: Tx,
  portion: {
    readonly replay: ReplayRow;
    readonly types: readonly string[];
    readonly now: Date;
    readonly limit: number;
  },
): Promise<{ event_created: Date; event_position: bigint }[]> {
  const { replay, types, now, limit } = portion;
  return tx.query(PORTION, [
    replay.endpoint_id,
    replay.account_id,
    replay.livemode,
    replay.place_created,
    replay.place_position,
    replay.until,
    types,
    now,
    limit,
  ]);
}

/** Writes a replay's progress, and adds the number of events that were just queued. */
export async function updateReplay(tx: Tx, row: ReplayRow, queued: number): Promise<void> {
  const { id, status, place_created, place_position, updated } = row;
  await webhookReplays.update(
    tx,
    { status, place_created, place_position, updated },
    { where: 'id = $1', values: [id, queued], also: 'events_queued = events_queued + $2' },
  );
}
