import Type from 'typebox';
import { MODE, personRoute } from '#apis/dashboard/person-route.ts';
import { DeliveryListSchema } from '#apis/merchant/webhook-schema.ts';
import type { Page } from '#db/paging.ts';
import { answerList } from '#http/cursors.ts';
import { createdParameters, pageParameters } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectUndelivered } from '#webhooks/delivery-queries.ts';
import { renderDelivery } from '#webhooks/delivery-tables.ts';

const UndeliveredQuery = Type.Object({ ...pageParameters, ...createdParameters });

export function undeliveredRoute({ db, keys: { cursor: cursorKey } }: ApiContext) {
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
      const read = async (page: Page) =>
        (await selectUndelivered(db, tenant, page)).map((row) => ({
          ...{ row, created: row.event_created, position: row.event_position },
        }));
      return answerList(pagination, read, ({ row }) => renderDelivery(row));
    },
  });
}
