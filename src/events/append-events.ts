import { only } from '#core/assert.ts';
import type { Json } from '#core/canonical-json.ts';
import { newId } from '#core/ids.ts';
import { networkOf, type Tenant } from '#core/mode.ts';
import { columnsFrom } from '#db/columns.ts';
import type { Stamp } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { type EventType, familyOf } from '#events/event-types.ts';
import { CURRENT_API_VERSION } from '#events/event-versions.ts';

export { CURRENT_API_VERSION };

export interface EventDraft {
  readonly tenant: Tenant;
  readonly type: EventType;
  readonly objectId: string;
  /** The resource as it is at the end of this transaction, in its API form. */
  readonly object: { readonly [key: string]: Json };
  /** For `*.updated`: the changed fields with their previous values. */
  readonly previousAttributes?: { readonly [key: string]: Json };
  /** The event's position in the account's order; it becomes the event's `sequence`. */
  readonly stamp: Stamp;
}

/** An event to be written. Its topics are `*`, its type and its family. */
const EVENTS = columnsFrom(1, {
  id: 'text',
  account_id: 'text',
  livemode: 'boolean',
  position: 'bigint',
  created: 'timestamptz',
  type: 'text',
  family: 'text',
  object_id: 'text',
  body: 'text',
});

/** Returns the beginning of an event's JSON, up to the place where the `sequence` number goes. */
function eventHead(event: {
  readonly id: string;
  readonly type: EventType;
  readonly livemode: boolean;
  readonly created: Date;
}): string {
  const head = JSON.stringify({
    id: event.id,
    object: 'event',
    type: event.type,
    api_version: CURRENT_API_VERSION,
    livemode: event.livemode,
    network: networkOf(event.livemode),
    created: event.created.toISOString(),
  });
  return `${head.slice(0, -1)},"sequence":`;
}

function toRow(draft: EventDraft) {
  const { created } = draft.stamp;
  const position = draft.stamp.next();
  const id = newId('event', created);
  const { tenant, type } = draft;
  const data =
    draft.previousAttributes === undefined
      ? { object: draft.object }
      : { object: draft.object, previous_attributes: draft.previousAttributes };
  const head = eventHead({ id, type, livemode: tenant.livemode, created });
  return {
    id,
    account_id: tenant.accountId,
    livemode: tenant.livemode,
    position,
    created,
    type,
    family: familyOf(type),
    object_id: draft.objectId,
    body: `${head}${position},"data":${JSON.stringify(data)}}`,
  };
}

const COPIED = ['account_id', 'livemode', 'position', 'created', 'object_id', 'body'] as const;

const APPEND = `
  with happened as (
    select id, type, array['*', type, ${EVENTS.at('family', 'n')}] as topics,
      ${EVENTS.select(COPIED, 'n')}
    from unnest(${EVENTS.all('id')}, ${EVENTS.all('type')})
      with ordinality as t (id, type, n)
  ), appended as (
    insert into events (id, account_id, livemode, position, created, type, object_id, body)
    select id, account_id, livemode, position, created, type, object_id, body from happened
  ), due as (
    insert into webhook_due
      (endpoint_id, event_created, event_position, id, account_id, livemode, event_id, event_type,
       created, updated, due_at)
    select e.id, h.created, h.position, webhook_delivery_id(h.id, e.id), h.account_id, h.livemode,
      h.id, h.type, least(h.created, now()), least(h.created, now()), least(h.created, now())
    from happened h
    join webhook_endpoints e on e.account_id = h.account_id and e.livemode = h.livemode
    where h.type <> 'ping' and e.status = 'enabled' and e.enabled_events && h.topics
    returning 1 as delivery
  )
  select count(*) as deliveries from due`;

/**
 * Topic of the hint that an account has new events in a mode, which wakes the account's streams.
 */
export const EVENTS_TOPIC = 'events';

export function eventsKey({ accountId, livemode }: Tenant): string {
  return `${accountId}.${livemode}`;
}

export interface WrittenEvent {
  readonly id: string;
  readonly created: Date;
  readonly position: bigint;
  readonly body: string;
}

/** Like {@link appendEvents}, but returns the events, for callers that need them. */
export async function writeEvents(
  tx: Tx,
  drafts: readonly EventDraft[],
): Promise<{ readonly events: readonly WrittenEvent[]; readonly deliveries: number }> {
  const rows = drafts.map(toRow);
  for (const { tenant } of drafts) tx.hint(EVENTS_TOPIC, eventsKey(tenant));
  const results = await EVENTS.run<{ deliveries: bigint }>(tx, APPEND, { rows });
  const events = rows.map(({ id, created, position, body }) => ({ id, created, position, body }));
  return { events, deliveries: Number(only(results, 'count').deliveries) };
}

/**
 * Writes the events and, in the same statement, one delivery per subscribed endpoint: the
 * transaction that causes the event also decides which endpoints get it. (A `ping` goes to the
 * tested endpoint alone and has no delivery here.)
 * @returns the number of deliveries. Send the `deliveries` wake-up after the commit if it is > 0.
 */
export async function appendEvents(tx: Tx, drafts: readonly EventDraft[]): Promise<number> {
  return (await writeEvents(tx, drafts)).deliveries;
}
