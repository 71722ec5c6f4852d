import Type from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import {
  CreateRefundBody,
  REFUND_EXAMPLE,
  REFUND_LIMIT_MS,
  RefundList,
  RefundSchema,
  refundAskedFor,
} from '#apis/merchant/refund-schema.ts';
import { answerWith, isRefusal, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Page } from '#db/paging.ts';
import { answerList } from '#http/cursors.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { createdParameters, idOf, oneOf, pageParameters } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { createRefund } from '#refunds/create-refund.ts';
import { REFUND_STATUSES } from '#refunds/refund.ts';
import { selectRefund, selectRefundPage } from '#refunds/refund-queries.ts';
import { renderRefund } from '#refunds/render.ts';

const refundResponse = (description: string) => ({
  schema: RefundSchema,
  description,
  example: REFUND_EXAMPLE,
});

function createRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller, undefined, typeof CreateRefundBody>({
    method: 'POST',
    path: '/refunds',
    operationId: 'createRefund',
    moves: 'money',
    checksCredential: true,
    tag: 'Refunds',
    summary: 'Refund a payment, in full or in part',
    description:
      'Paid from the merchant balance on the payment’s network. Waits up to 60 seconds for ' +
      'the transaction, and not at all while settlement is paused. A `pending` refund ' +
      'resolves by itself: never retry it with a new key. ' +
      'If the refund was rebuilt (`recovered`), the response is that refund, with ' +
      '`Idempotent-Replayed: true`.',
    scope: 'refunds:write',
    idempotency: 'required',
    body: CreateRefundBody,
    bodyExample: {
      payment: REFUND_EXAMPLE.payment,
      amount: 1000000,
      reason: 'One cup was returned',
    },
    responses: { 201: refundResponse('The refund: succeeded, pending or failed.') },
    errors: ['amount_too_large', 'payment_already_refunded', 'service_unavailable'],
    timeLimitMs: REFUND_LIMIT_MS,
    handle: async ({ caller, body, idempotency, requestId, now }) => {
      const request = refundAskedFor(body);
      if (isRefusal(request)) return request;
      return createRefund(ctx, {
        tenant: caller.tenant,
        keyHash: caller.merchant.keyHash,
        idempotency: present(idempotency, 'idempotency key'),
        requestId,
        now,
        input: { ...request, source: 'api' },
      });
    },
  });
}

const ListQuery = Type.Object({
  ...pageParameters,
  ...createdParameters,
  payment: Type.Optional(idOf('pay_', 'payment')),
  payment_intent: Type.Optional(idOf('pi_', 'payment intent')),
  status: Type.Optional(oneOf(REFUND_STATUSES, 'The status of the refund.')),
});

function listRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller, typeof ListQuery>({
    method: 'GET',
    path: '/refunds',
    operationId: 'listRefunds',
    moves: 'nothing',
    tag: 'Refunds',
    summary: 'List refunds, newest first',
    scope: 'refunds:read',
    idempotency: 'ignored',
    query: ListQuery,
    responses: { 200: { schema: RefundList, description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query }) => {
      const pagination = { list: 'refunds', tenant, query, cursorKey: ctx.keys.cursor };
      const filter = {
        tenant,
        paymentId: query.payment ?? null,
        paymentIntentId: query.payment_intent ?? null,
        status: query.status ?? null,
      };
      const read = (page: Page) => selectRefundPage(ctx.db, filter, page);
      return answerList(pagination, read, (one) => renderRefund(one, ctx.pages));
    },
  });
}

function retrieveRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller>({
    method: 'GET',
    path: '/refunds/{id}',
    operationId: 'retrieveRefund',
    moves: 'nothing',
    tag: 'Refunds',
    summary: 'Retrieve a refund',
    scope: 'refunds:read',
    idempotency: 'ignored',
    params: { id: 'refund' },
    responses: { 200: refundResponse('The refund.') },
    errors: ['resource_missing'],
    handle: async ({ caller, params }) => {
      const refund = await selectRefund(ctx.db, caller.tenant, params.id ?? '');
      if (refund === null) return resourceMissing('refund');
      return answerWith(200, renderRefund(refund, ctx.pages));
    },
  });
}

export function refundRoutes(ctx: ApiContext): AnyRoute<MerchantCaller>[] {
  return [createRoute(ctx), listRoute(ctx), retrieveRoute(ctx)];
}
