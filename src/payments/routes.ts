import Type from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { answerWith } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { isRefusal, resourceMissing } from '#core/refusal.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { answerPage, readPage } from '#http/paging.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { createdParameters, idOf, oneOf, pageParameters } from '#http/schema.ts';
import { cancelIntent } from '#payments/cancel.ts';
import type { CreateIntent } from '#payments/create.ts';
import { PAYMENT_EXAMPLE, PAYMENT_INTENT_EXAMPLE } from '#payments/examples.ts';
import { PAYMENT_STATUSES } from '#payments/payment.ts';
import { asOf } from '#payments/payment-intent.ts';
import { selectPayment, selectPaymentPage } from '#payments/payment-queries.ts';
import { selectIntentPage } from '#payments/queries.ts';
import type { ReadIntent } from '#payments/read-intent.ts';
import { renderIntent, renderPayment } from '#payments/render.ts';
import {
  CreateIntentBody,
  PaymentIntentList,
  PaymentIntentSchema,
  PaymentList,
  PaymentSchema,
} from '#payments/schema.ts';

export interface PaymentRoutesDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly createIntent: CreateIntent;
  readonly readIntent: ReadIntent;
  readonly cursorKey: Buffer;
}

/** api-v1.md section 4. */
const DEFAULT_EXPIRES_IN_SECONDS = 120;

const intentResponse = (description: string) => ({
  schema: PaymentIntentSchema,
  description,
  example: PAYMENT_INTENT_EXAMPLE,
});

function createRoute(deps: PaymentRoutesDeps) {
  return defineRoute<MerchantCaller, undefined, typeof CreateIntentBody>({
    method: 'POST',
    path: '/payment_intents',
    operationId: 'createPaymentIntent',
    checksCredential: true,
    tag: 'Payment intents',
    summary: 'Create a payment intent for a terminal',
    description:
      'The terminal picks the intent up, shows the amount and waits for a tap until expires_at. ' +
      'An order_id and amount of an intent that was rebuilt (`recovered`) get that intent, with ' +
      '`Idempotent-Replayed: true`.',
    scope: 'payments:write',
    idempotency: 'required',
    body: CreateIntentBody,
    bodyExample: { amount: 2500000, terminal: PAYMENT_INTENT_EXAMPLE.terminal, order_id: 'A-1001' },
    responses: { 201: intentResponse('The new payment intent.') },
    errors: ['kyb_required', 'account_not_live', 'order_id_in_use', 'terminal_inactive'],
    handle: async ({ caller, body, idempotency, requestId, now }) =>
      deps.createIntent({
        standing: caller.standing,
        idempotency: present(idempotency, 'idempotency key'),
        requestId,
        now,
        input: {
          amount: body.amount,
          terminalId: body.terminal,
          orderId: body.order_id ?? null,
          description: body.description ?? null,
          metadata: body.metadata ?? {},
          source: 'api',
          splitGroup: null,
          expiresIn: body.expires_in ?? DEFAULT_EXPIRES_IN_SECONDS,
        },
      }),
  });
}

const IntentListQuery = Type.Object({
  ...pageParameters,
  ...createdParameters,
  terminal: Type.Optional(idOf('tml_', 'terminal')),
  source: Type.Optional(oneOf(['api', 'terminal'] as const, 'Who created it.')),
});

function listRoute(deps: PaymentRoutesDeps) {
  return defineRoute<MerchantCaller, typeof IntentListQuery>({
    method: 'GET',
    path: '/payment_intents',
    operationId: 'listPaymentIntents',
    tag: 'Payment intents',
    summary: 'List payment intents, newest first',
    scope: 'payments:read',
    idempotency: 'ignored',
    query: IntentListQuery,
    responses: { 200: { schema: PaymentIntentList, description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query, now }) => {
      const walk = { list: 'payment_intents', tenant, query, cursorKey: deps.cursorKey };
      const page = readPage(walk, query);
      if (isRefusal(page)) return page;
      const filters = { terminal_id: query.terminal ?? null, source: query.source ?? null };
      const intents = await selectIntentPage(deps.db, { tenant, filters }, page);
      return answerPage(walk, page, intents, (intent) => renderIntent(asOf(intent, now)));
    },
  });
}

function retrieveRoute(deps: PaymentRoutesDeps) {
  return defineRoute<MerchantCaller>({
    method: 'GET',
    path: '/payment_intents/{id}',
    operationId: 'retrievePaymentIntent',
    tag: 'Payment intents',
    summary: 'Retrieve a payment intent',
    scope: 'payments:read',
    idempotency: 'ignored',
    params: { id: 'paymentIntent' },
    responses: { 200: intentResponse('The payment intent.') },
    errors: ['resource_missing'],
    handle: async ({ caller, params }) => {
      const intent = await deps.readIntent(caller.tenant, params.id ?? '');
      if (intent === null) return resourceMissing('payment intent');
      return answerWith(200, renderIntent(intent));
    },
  });
}

function cancelRoute(deps: PaymentRoutesDeps) {
  return defineRoute<MerchantCaller>({
    method: 'POST',
    path: '/payment_intents/{id}/cancel',
    operationId: 'cancelPaymentIntent',
    tag: 'Payment intents',
    summary: 'Cancel an unpaid payment intent',
    description:
      'Possible until the settlement is sent or the payer has confirmed. Canceling a canceled ' +
      'intent returns it unchanged.',
    scope: 'payments:write',
    idempotency: 'accepted',
    params: { id: 'paymentIntent' },
    responses: { 200: intentResponse('The canceled payment intent.') },
    errors: ['resource_missing', 'payment_intent_unexpected_state'],
    handle: async ({ caller, params, idempotency, requestId, now }) =>
      cancelIntent(deps, {
        tenant: caller.tenant,
        intentId: params.id ?? '',
        idempotency,
        requestId,
        now,
      }),
  });
}

const PaymentListQuery = Type.Object({
  ...pageParameters,
  ...createdParameters,
  terminal: Type.Optional(idOf('tml_', 'terminal')),
  payment_intent: Type.Optional(idOf('pi_', 'payment intent')),
  status: Type.Optional(oneOf(PAYMENT_STATUSES, 'How much was refunded.')),
});

function listPaymentsRoute(deps: PaymentRoutesDeps) {
  return defineRoute<MerchantCaller, typeof PaymentListQuery>({
    method: 'GET',
    path: '/payments',
    operationId: 'listPayments',
    tag: 'Payments',
    summary: 'List payments, newest first',
    scope: 'payments:read',
    idempotency: 'ignored',
    query: PaymentListQuery,
    responses: { 200: { schema: PaymentList, description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query }) => {
      const walk = { list: 'payments', tenant, query, cursorKey: deps.cursorKey };
      const page = readPage(walk, query);
      if (isRefusal(page)) return page;
      const filters = {
        terminal_id: query.terminal ?? null,
        payment_intent_id: query.payment_intent ?? null,
        status: query.status ?? null,
      };
      const payments = await selectPaymentPage(deps.db, { tenant, filters }, page);
      return answerPage(walk, page, payments, renderPayment);
    },
  });
}

function retrievePaymentRoute(deps: PaymentRoutesDeps) {
  return defineRoute<MerchantCaller>({
    method: 'GET',
    path: '/payments/{id}',
    operationId: 'retrievePayment',
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
      const payment = await selectPayment(deps.db, caller.tenant, params.id ?? '');
      if (payment === null) return resourceMissing('payment');
      return answerWith(200, renderPayment(payment));
    },
  });
}

/** Payment intents and payments of the merchant API. */
export function paymentRoutes(deps: PaymentRoutesDeps): AnyRoute<MerchantCaller>[] {
  return [
    createRoute(deps),
    listRoute(deps),
    retrieveRoute(deps),
    cancelRoute(deps),
    listPaymentsRoute(deps),
    retrievePaymentRoute(deps),
  ];
}
