import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { EVENT_EXAMPLE } from '#apis/merchant/event-catalog.ts';
import { EventList, EventListQuery, EventSchema } from '#apis/merchant/event-schema.ts';
import { isRefusal } from '#core/answer.ts';
import { getEvent, listEvents } from '#events/list-events.ts';
import { encodeCursor, readPage } from '#http/cursors.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import type { ApiContext } from '#payments/api-context.ts';

const TAG = 'Events';

function listRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller, typeof EventListQuery>({
    method: 'GET',
    path: '/events',
    operationId: 'listEvents',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the events of the last 30 days, newest first',
    description:
      'The same objects that webhooks deliver. To catch up after downtime, page through the list ' +
      'with delivery_success=false, or with created_gte set to the time of your last event.',
    scope: 'events:read',
    idempotency: 'ignored',
    query: EventListQuery,
    responses: { 200: { schema: EventList, description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query, now }) => {
      const pagination = { list: 'events', tenant, query, cursorKey: ctx.keys.cursor };
      const page = readPage(pagination, query);
      if (isRefusal(page)) return page;
      const filter = {
        type: query.type ?? null,
        deliverySuccess: query.delivery_success ?? null,
      };
      const rows = await listEvents(ctx.db, { tenant, filter, now }, page);
      const shown = rows.slice(0, page.limit);
      const last = rows.length > page.limit ? shown.at(-1) : undefined;
      const cursor = last === undefined ? null : encodeCursor(pagination, last);
      // Copies the stored JSON unchanged: parsing it and printing it again could change bytes.
      const data = shown.map((row) => row.body).join(',');
      const rest = `"has_more":${last !== undefined},"next_cursor":${JSON.stringify(cursor)}`;
      return { status: 200, body: `{"object":"list","data":[${data}],${rest}}` };
    },
  });
}

function retrieveRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller>({
    method: 'GET',
    path: '/events/{id}',
    operationId: 'retrieveEvent',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve an event',
    description: 'Byte for byte what webhooks deliver.',
    scope: 'events:read',
    idempotency: 'ignored',
    params: { id: 'event' },
    responses: {
      200: { schema: EventSchema, description: 'The event.', example: EVENT_EXAMPLE },
    },
    errors: ['resource_missing'],
    handle: async ({ caller, params, now }) => {
      const event = await getEvent(ctx.db, caller.tenant, { id: params.id ?? '', now });
      return isRefusal(event) ? event : { status: 200, body: event.body };
    },
  });
}

export function eventRoutes(ctx: ApiContext): AnyRoute<MerchantCaller>[] {
  return [listRoute(ctx), retrieveRoute(ctx)];
}
