import Type from 'typebox';
import { checkLocation } from '#accounts/locations.ts';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { listRoute } from '#apis/merchant/payment-intent-list.ts';
import { cancelRoute, createRoute, retrieveRoute } from '#apis/merchant/payment-intent-routes.ts';
import { OrderId, PaymentList, PaymentSchema } from '#apis/merchant/payment-schema.ts';
import { answerWith, isRefusal, resourceMissing } from '#core/answer.ts';
import { answerPage, readPage } from '#http/cursors.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { createdParameters, idOf, oneOf, pageParameters } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { PAYMENT_EXAMPLE } from '#payments/api-examples.ts';
import { PAYMENT_STATUSES } from '#payments/payment.ts';
import { selectPayment, selectPaymentPage } from '#payments/payment-queries.ts';
import { renderPayment } from '#payments/render.ts';

const PaymentListQuery = Type.Object({
  ...pageParameters,
  ...createdParameters,
  terminal: Type.Optional(idOf('tml_', 'terminal')),
  payment_intent: Type.Optional(idOf('pi_', 'payment intent')),
  order_id: Type.Optional(OrderId),
  location: Type.Optional(idOf('loc_', 'location')),
  status: Type.Optional(oneOf(PAYMENT_STATUSES, 'The refund status of the payment.')),
});

function listPaymentsRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller, typeof PaymentListQuery>({
    method: 'GET',
    path: '/payments',
    operationId: 'listPayments',
    moves: 'nothing',
    tag: 'Payments',
    summary: 'List payments, newest first',
    scope: 'payments:read',
    idempotency: 'ignored',
    query: PaymentListQuery,
    responses: { 200: { schema: PaymentList, description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query }) => {
      const pagination = { list: 'payments', tenant, query, cursorKey: ctx.keys.cursor };
      const page = readPage(pagination, query);
      if (isRefusal(page)) return page;
      const { location } = query;
      const unknown = await checkLocation(ctx.db, [tenant.accountId], location);
      if (unknown !== null) return unknown;
      const filters = {
        terminal_id: query.terminal ?? null,
        payment_intent_id: query.payment_intent ?? null,
        order_id: query.order_id ?? null,
        status: query.status ?? null,
      };
      const payments = await selectPaymentPage(
        ctx.db,
        { tenant, filters },
        location === undefined ? page : { ...page, location },
      );
      return answerPage(pagination, page, payments, (one) => renderPayment(one, ctx.pages));
    },
  });
}

function retrievePaymentRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller>({
    method: 'GET',
    path: '/payments/{id}',
    operationId: 'retrievePayment',
    moves: 'nothing',
    tag: 'Payments',
    summary: 'Retrieve a payment',
    scope: 'payments:read',
    idempotency: 'ignored',
    params: { id: 'payment' },
    responses: {
      200: { schema: PaymentSchema, description: 'The payment.', example: PAYMENT_EXAMPLE },
    },
    errors: ['resource_missing'],
    handle: async ({ caller, params }) => {
      const payment = await selectPayment(ctx.db, caller.tenant, params.id ?? '');
      if (payment === null) return resourceMissing('payment');
      return answerWith(200, renderPayment(payment, ctx.pages));
    },
  });
}

export function paymentRoutes(ctx: ApiContext): AnyRoute<MerchantCaller>[] {
  return [
    createRoute(ctx),
    listRoute(ctx),
    retrieveRoute(ctx),
    cancelRoute(ctx),
    listPaymentsRoute(ctx),
    retrievePaymentRoute(ctx),
  ];
}
