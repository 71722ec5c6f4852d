import type { Json } from '#core/canonical-json.ts';
import { newId } from '#core/ids.ts';
import { networkOf, type Tenant } from '#core/mode.ts';
import type { Stamp } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { type EventType, familyOf } from '#events/types.ts';

/** The version that events are stored in; older shapes are rendered from it on the way out. */
export const CURRENT_API_VERSION = '2026-09-28';

export interface EventDraft {
  readonly tenant: Tenant;
  readonly type: EventType;
  readonly objectId: string;
  /** The resource as it is at the end of this transaction, as the API shows it. */
  readonly object: { readonly [key: string]: Json };
  /** For `*.updated`: the changed fields with the values that they had before. */
  readonly previousAttributes?: { readonly [key: string]: Json };
  /** One place of the account's order; the event's `sequence`. */
  readonly stamp: Stamp;
}

interface EventRow {
  id: string;
  account_id: string;
  livemode: boolean;
  position: string;
  created: Date;
  type: string;
  topics: string[];
  object_id: string;
  body: string;
}

function toRow(draft: EventDraft): EventRow {
  const { created } = draft.stamp;
  const position = draft.stamp.next();
  const id = newId('event', created);
  const { livemode } = draft.tenant;
  const data =
    draft.previousAttributes === undefined
      ? { object: draft.object }
      : { object: draft.object, previous_attributes: draft.previousAttributes };
  const body = JSON.stringify({
    id,
    object: 'event',
    type: draft.type,
    api_version: CURRENT_API_VERSION,
    livemode,
    network: networkOf(livemode),
    created: created.toISOString(),
    sequence: Number(position),
    data,
  });
  return {
    id,
    account_id: draft.tenant.accountId,
    livemode,
    position: position.toString(),
    created,
    type: draft.type,
    topics: ['*', draft.type, familyOf(draft.type)],
    object_id: draft.objectId,
    body,
  };
}

// Deliveries get their ids in SQL: an event may have none or sixteen. Eleven of the characters
// are the event's own (time order), the rest is random.
const APPEND = `
  with input as (
    select * from jsonb_to_recordset($1::jsonb) as t (
      id text, account_id text, livemode boolean, position bigint, created timestamptz,
      type text, topics text[], object_id text, body text)
  ), written as (
    insert into events (id, account_id, livemode, position, created, type, object_id, body)
    select id, account_id, livemode, position, created, type, object_id, body from input
  ), fan_out as (
    select 'wdl_' || substr(i.id, 5, 8)
        || left(translate(encode(uuid_send(gen_random_uuid()), 'base64'), '+/=', 'aZ'), 14) as id,
      i.account_id, i.livemode, e.id as endpoint_id, i.id as event_id, i.type, i.created
    from input i
    join webhook_endpoints e
      on e.account_id = i.account_id and e.livemode = i.livemode
      and e.status = 'enabled' and e.enabled_events && i.topics
  ), deliveries as (
    insert into webhook_deliveries
      (id, account_id, livemode, endpoint_id, event_id, event_type, created, updated, status,
       next_attempt_at)
    select id, account_id, livemode, endpoint_id, event_id, type, created, created, 'pending',
      created
    from fan_out
  )
  insert into webhook_due (delivery_id, endpoint_id, created, due_at)
  select id, endpoint_id, created, created from fan_out
  returning delivery_id`;

/**
 * Writes the events and, in the same statement, one delivery per endpoint that listens: what an
 * endpoint gets is decided in the transaction that caused the event.
 * @returns the number of deliveries. Send the `deliveries` wake-up after the commit when it is > 0.
 */
export async function appendEvents(tx: Tx, drafts: readonly EventDraft[]): Promise<number> {
  const rows = drafts.map(toRow);
  return (await tx.query(APPEND, [JSON.stringify(rows)])).length;
}
