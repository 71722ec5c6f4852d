import { getAddress } from 'viem';
import {
  AUTHORIZATION_ERRORS,
  AuthorizationBody,
  PayLinkQuery,
  PayLinkSchema,
  PayOutcomeSchema,
} from '#apis/pay/pay-schema.ts';
import { receiptRoute } from '#apis/pay/receipt-data-route.ts';
import { answerPayer, renderLink } from '#apis/pay/render-link.ts';
import { tagRoutes } from '#apis/pay/tag-routes.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { defineRoute, type Surface } from '#http/route.ts';
import { type Visitor, visitor } from '#http/visitor.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { PAYMENT_INTENT_EXAMPLE } from '#payments/api-examples.ts';
import { authorizeLink } from '#payments/authorize-link.ts';
import { findPayLink, payLinkMissing } from '#payments/pay-link.ts';
import { openPayLink } from '#payments/pay-terms.ts';

const TAG = 'Pay links';

function linkRoute(ctx: ApiContext) {
  return defineRoute<Visitor, typeof PayLinkQuery>({
    method: 'GET',
    path: '/{token}',
    operationId: 'retrievePayLink',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve a pay link, and the data that a wallet signs to pay it',
    description:
      'Without `from`, and on a link that cannot be paid now, `typed_data` is null. Sign only ' +
      'data that you have recomputed: `to` is the settlement contract, `value` is ' +
      '`total_charged` minus the cashback, and `nonce` binds merchant, amount, number, order and ' +
      'salt.',
    scope: null,
    idempotency: 'ignored',
    params: { token: 'text' },
    query: PayLinkQuery,
    responses: { 200: { schema: PayLinkSchema, description: 'The link, even if it is closed.' } },
    errors: ['resource_missing', 'service_unavailable'],
    handle: async ({ params, query }) => {
      const opened = await openPayLink(ctx, {
        token: params.token ?? '',
        address: query.from === undefined ? null : getAddress(query.from),
        tipAmount: query.tip_amount,
      });
      if (isRefusal(opened)) return opened;
      return answerWith(200, renderLink(opened.link, opened.terms, query.from));
    },
  });
}

function authorizationRoute(ctx: ApiContext) {
  return defineRoute<Visitor, undefined, typeof AuthorizationBody>({
    method: 'POST',
    path: '/{token}/authorization',
    operationId: 'authorizePayLink',
    moves: 'money',
    tag: TAG,
    summary: "Pay with a wallet's signature",
    description:
      'Only one authorization is processed at a time. Sending the same `from` and ' +
      '`signature` again returns the first response. The payer needs no gas.',
    scope: null,
    idempotency: 'ignored',
    params: { token: 'text' },
    body: AuthorizationBody,
    responses: {
      200: {
        schema: PayOutcomeSchema,
        description: 'The intent: succeeded, processing, or declined with `last_payment_error`.',
        example: { ...PAYMENT_INTENT_EXAMPLE, receipt_url: null },
      },
    },
    errors: AUTHORIZATION_ERRORS,
    handle: async ({ caller, params, body, requestId, now, whenGone }) => {
      const { from, signature, tip_amount: tipAmount } = body;
      const token = params.token ?? '';
      const link = await findPayLink(ctx, { token, address: getAddress(from) });
      if (link === null) return payLinkMissing();
      const { address: ip } = caller;
      const by = { from, signature, tipAmount, address: ip };
      const signed = { ...by, requestId, now, gone: whenGone() };
      const answer = await authorizeLink(ctx, link, signed);
      if (isRefusal(answer)) return answer;
      return answerPayer(link, { answer, receipts: ctx.pages }, (intent) => intent);
    },
  });
}

/**
 * Creates the API of receipts and of pay links, which terminals show and any wallet can pay
 * (behavior.md 19 and 6.5).
 */
export function paySurface(ctx: ApiContext): Surface<Visitor> {
  return {
    root: '/api/pay/v1',
    authenticate: async ({ address }) => visitor(address),
    routes: [...tagRoutes(ctx), linkRoute(ctx), authorizationRoute(ctx), receiptRoute(ctx)],
  };
}
