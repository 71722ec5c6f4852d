import Type from 'typebox';
import { MODE, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { DeliveryListSchema } from '#apis/merchant/webhook-schema.ts';
import { isRefusal } from '#core/answer.ts';
import { answerPage, readPage } from '#http/cursors.ts';
import { createdParameters, pageParameters } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectUndelivered } from '#webhooks/delivery-queries.ts';
import { renderDelivery } from '#webhooks/delivery-tables.ts';

const UndeliveredQuery = Type.Object({ ...pageParameters, ...createdParameters });

function undeliveredRoute({ db, keys: { cursor: cursorKey } }: ApiContext) {
  return personRoute<typeof UndeliveredQuery>({
    method: 'GET',
    path: `${MODE}/undelivered`,
    operationId: 'listUndelivered',
    moves: 'nothing',
    tag: 'Webhook deliveries',
    summary: 'List deliveries without success, over all endpoints, newest event first',
    description:
      'Those that failed for good, and those without success so far. ' +
      '`created_gte` and `created_lt` are times of the events.',
    access: 'viewer',
    query: UndeliveredQuery,
    response: DeliveryListSchema,
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query }) => {
      const pagination = { list: 'undelivered', tenant, query, cursorKey };
      const page = readPage(pagination, query);
      if (isRefusal(page)) return page;
      const rows = await selectUndelivered(db, tenant, page);
      const placed = rows.map((row) => ({
        row,
        created: row.event_created,
        position: row.event_position,
      }));
      return answerPage(pagination, page, placed, ({ row }) => renderDelivery(row));
    },
  });
}

export function undeliveredRoutes(ctx: ApiContext): PersonRoute[] {
  return [undeliveredRoute(ctx)];
}
