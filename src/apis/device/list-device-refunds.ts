import Type from 'typebox';
import { deviceRoute } from '#apis/device/device-route.ts';
import { RefundList } from '#apis/merchant/refund-schema.ts';
import type { Page } from '#db/paging.ts';
import { answerList } from '#http/cursors.ts';
import { idOf, pageParameters } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectRefundPage } from '#refunds/refund-queries.ts';
import { renderRefund } from '#refunds/render.ts';

const ListQuery = Type.Object({ ...pageParameters, payment: idOf('pay_', 'payment') });

export function listDeviceRefundsRoute(ctx: ApiContext) {
  return deviceRoute<typeof ListQuery>({
    method: 'GET',
    path: '/refunds',
    operationId: 'listDeviceRefunds',
    moves: 'nothing',
    summary: 'List the refunds of a payment, newest first',
    description: 'They tell what is left of the lines of a sale, of any till of the merchant.',
    query: ListQuery,
    responses: { 200: { schema: RefundList, description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query }) => {
      const pagination = { list: 'refunds', tenant, query, cursorKey: ctx.keys.cursor };
      const filter = { tenant, paymentId: query.payment };
      const read = (page: Page) => selectRefundPage(ctx.db, filter, page);
      return answerList(pagination, read, (one) => renderRefund(one, ctx.pages));
    },
  });
}
