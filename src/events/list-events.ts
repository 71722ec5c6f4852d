import { type Refusal, resourceMissing } from '#core/answer.ts';
import { isId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import type { Page, Place } from '#db/paging.ts';
import {
  type EventRow,
  selectDeliveredEvents,
  selectEvent,
  selectEvents,
  selectEventsOfTypes,
  selectUndeliveredEvents,
} from '#events/event-queries.ts';
import { retainedSince } from '#events/event-retention.ts';
import { EVENT_TYPES, familyOf } from '#events/event-types.ts';

export interface EventFilter {
  /** An exact type, a family such as `refund.*`, or null for all. */
  readonly type: string | null;
  readonly deliverySuccess: boolean | null;
}

function typesOf(filter: string | null): readonly string[] {
  if (filter === null) return EVENT_TYPES;
  return EVENT_TYPES.filter((type) => type === filter || familyOf(type) === filter);
}

/**
 * Returns a page of the last 30 days' events, newest first, and one row more if there is a next
 * page.
 */
export async function listEvents(
  sql: Sql,
  input: { readonly tenant: Tenant; readonly filter: EventFilter; readonly now: Date },
  page: Page,
): Promise<EventRow[]> {
  const { tenant, filter, now } = input;
  const since = retainedSince(now);
  const createdGte = page.createdGte !== null && page.createdGte > since ? page.createdGte : since;
  const kept = { ...page, createdGte };
  const criteria = { tenant, types: typesOf(filter.type) };
  if (filter.deliverySuccess === false) return selectUndeliveredEvents(sql, criteria, kept);
  if (filter.deliverySuccess === true) return selectDeliveredEvents(sql, criteria, kept);
  if (filter.type === null) return selectEvents(sql, tenant, kept);
  return selectEventsOfTypes(sql, criteria, kept);
}

/** Returns the event as it is delivered, byte for byte. */
export async function getEvent(
  sql: Sql,
  tenant: Tenant,
  filter: { readonly id: string; readonly now: Date },
): Promise<EventRow | Refusal> {
  const row = await selectEvent(sql, tenant, { id: filter.id, since: retainedSince(filter.now) });
  return row ?? resourceMissing('event');
}

/**
 * Returns the position of an event in the order of its account and mode; undefined if there is
 * none.
 */
export async function findEventPlace(
  sql: Sql,
  tenant: Tenant,
  filter: { readonly id: string; readonly now: Date },
): Promise<Place | undefined> {
  if (!isId('event', filter.id)) return undefined;
  return selectEvent(sql, tenant, { id: filter.id, since: retainedSince(filter.now) });
}
