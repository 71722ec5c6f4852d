import type { Json } from '#core/canonical-json.ts';
import { newId } from '#core/ids.ts';
import { networkOf, type Tenant } from '#core/mode.ts';
import type { Stamp } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { type EventType, familyOf } from '#events/types.ts';
import { CURRENT_API_VERSION } from '#events/versions.ts';

export { CURRENT_API_VERSION };

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

const APPEND = `
  with input as (
    select * from jsonb_to_recordset($1::jsonb) as t (
      id text, account_id text, livemode boolean, position bigint, created timestamptz,
      type text, topics text[], object_id text, body text)
  ), written as (
    insert into events (id, account_id, livemode, position, created, type, object_id, body)
    select id, account_id, livemode, position, created, type, object_id, body from input
  )
  insert into webhook_due
    (endpoint_id, event_created, event_position, id, account_id, livemode, event_id, event_type,
     created, updated, due_at)
  select e.id, i.created, i.position, webhook_delivery_id(i.id, e.id), i.account_id, i.livemode,
    i.id, i.type, i.created, i.created, i.created
  from input i
  join webhook_endpoints e
    on e.account_id = i.account_id and e.livemode = i.livemode
    and e.status = 'enabled' and e.enabled_events && i.topics
  where i.type <> 'ping'
  returning 1 as delivery`;

/** An event as it was written. */
export interface WrittenEvent {
  readonly id: string;
  readonly created: Date;
  readonly position: bigint;
  readonly body: string;
}

/** Like {@link appendEvents}, for callers that need the events themselves. */
export async function writeEvents(
  tx: Tx,
  drafts: readonly EventDraft[],
): Promise<{ readonly events: readonly WrittenEvent[]; readonly deliveries: number }> {
  const rows = drafts.map(toRow);
  const deliveries = (await tx.query(APPEND, [JSON.stringify(rows)])).length;
  const events = rows.map(({ id, created, position, body }) => ({
    id,
    created,
    position: BigInt(position),
    body,
  }));
  return { events, deliveries };
}

/**
 * Writes the events and, in the same statement, one delivery per endpoint that listens: what an
 * endpoint gets is decided in the transaction that caused the event. (A `ping` goes to the
 * endpoint under test alone and has no delivery here.)
 * @returns the number of deliveries. Send the `deliveries` wake-up after the commit when it is > 0.
 */
export async function appendEvents(tx: Tx, drafts: readonly EventDraft[]): Promise<number> {
  return (await writeEvents(tx, drafts)).deliveries;
}
