import Type from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import {
  OFFLINE_PAYMENT_EXAMPLE,
  OfflinePaymentList,
  OfflinePaymentSchema,
} from '#apis/merchant/offline-schema.ts';
import { answerWith, resourceMissing } from '#core/answer.ts';
import type { Page } from '#db/paging.ts';
import { answerList } from '#http/cursors.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { createdParameters, idOf, oneOf, pageParameters } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectOfflinePage, selectOfflinePayment } from '#payments/offline/offline-queries.ts';
import { OFFLINE_STATUSES } from '#payments/offline/offline-states.ts';
import { offlineObject } from '#payments/offline/render-offline-payment.ts';

const TAG = 'Offline payments';

const ListQuery = Type.Object({
  ...pageParameters,
  ...createdParameters,
  status: Type.Optional(oneOf(OFFLINE_STATUSES, 'Only sales of this status.')),
  terminal: Type.Optional(idOf('tml_', 'terminal')),
});

function listRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller, typeof ListQuery>({
    method: 'GET',
    path: '/offline_payments',
    operationId: 'listOfflinePayments',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the sales that tills accepted offline, newest first',
    scope: 'payments:read',
    idempotency: 'ignored',
    query: ListQuery,
    responses: { 200: { schema: OfflinePaymentList, description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query }) => {
      const pagination = { list: 'offline payments', tenant, query, cursorKey: ctx.keys.cursor };
      const filters = { terminal_id: query.terminal ?? null, status: query.status ?? null };
      const read = (page: Page) => selectOfflinePage(ctx.db, { tenant, filters }, page);
      return answerList(pagination, read, offlineObject);
    },
  });
}

function retrieveRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller>({
    method: 'GET',
    path: '/offline_payments/{id}',
    operationId: 'retrieveOfflinePayment',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve a sale that a till accepted offline',
    scope: 'payments:read',
    idempotency: 'ignored',
    params: { id: 'offlinePayment' },
    responses: {
      200: {
        schema: OfflinePaymentSchema,
        description: 'The sale.',
        example: OFFLINE_PAYMENT_EXAMPLE,
      },
    },
    errors: ['resource_missing'],
    handle: async ({ caller, params }) => {
      const row = await selectOfflinePayment(ctx.db, caller.tenant, params.id ?? '');
      if (row === undefined) return resourceMissing('offline payment');
      return answerWith(200, offlineObject(row));
    },
  });
}

export function offlinePaymentRoutes(ctx: ApiContext): AnyRoute<MerchantCaller>[] {
  return [listRoute(ctx), retrieveRoute(ctx)];
}
