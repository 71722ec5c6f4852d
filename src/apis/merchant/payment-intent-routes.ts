import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import {
  CreateIntentBody,
  IntentForPeople,
  PaymentIntentSchema,
} from '#apis/merchant/payment-schema.ts';
import { askedSale, CREATE_ERRORS } from '#apis/merchant/presentment-schema.ts';
import { answerWith, isRefusal, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { defineRoute } from '#http/route.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { PAYMENT_INTENT_EXAMPLE } from '#payments/api-examples.ts';
import { cancelIntent } from '#payments/cancel-intent.ts';
import { createIntent } from '#payments/create-intent.ts';
import { readIntent } from '#payments/read-intents-together.ts';
import { renderIntent, renderIntentForPeople } from '#payments/render.ts';

/** The default of behavior.md 5.1. */
const DEFAULT_EXPIRES_IN_SECONDS = 120;

const intentResponse = (description: string) => ({
  schema: PaymentIntentSchema,
  description,
  example: PAYMENT_INTENT_EXAMPLE,
});

export function createRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller, undefined, typeof CreateIntentBody>({
    method: 'POST',
    path: '/payment_intents',
    operationId: 'createPaymentIntent',
    moves: 'money',
    checksCredential: true,
    tag: 'Payment intents',
    summary: 'Create a payment intent for a terminal',
    description:
      'The terminal picks the intent up, shows the amount and waits for a tap until expires_at. ' +
      'When order_id and amount are those of an intent that was rebuilt (`recovered`), the ' +
      'response is that intent, with `Idempotent-Replayed: true`.',
    scope: 'payments:write',
    idempotency: 'required',
    body: CreateIntentBody,
    bodyExample: { amount: 2500000, terminal: PAYMENT_INTENT_EXAMPLE.terminal, order_id: 'A-1001' },
    responses: { 201: intentResponse('The new payment intent.') },
    errors: CREATE_ERRORS,
    handle: async ({ caller, body, idempotency, requestId, now }) => {
      const sale = askedSale(body);
      if (isRefusal(sale)) return sale;
      return createIntent(ctx, {
        merchant: caller.merchant,
        idempotency: present(idempotency, 'idempotency key'),
        requestId,
        now,
        input: {
          ...sale,
          tipping: body.tipping ?? null,
          terminalId: body.terminal,
          orderId: body.order_id ?? null,
          description: body.description ?? null,
          metadata: body.metadata ?? {},
          source: 'api',
          splitGroup: null,
          expiresIn: body.expires_in ?? DEFAULT_EXPIRES_IN_SECONDS,
        },
      });
    },
  });
}

const FOR_SERVERS = { response: intentResponse('The payment intent.'), render: renderIntent };
const FOR_PEOPLE = {
  response: { schema: IntentForPeople, description: 'The payment intent.' },
  render: renderIntentForPeople,
};

/** @param forPeople Adds the customer's total. */
export function retrieveRoute(ctx: ApiContext, { forPeople = false } = {}) {
  const { response, render } = forPeople ? FOR_PEOPLE : FOR_SERVERS;
  return defineRoute<MerchantCaller>({
    method: 'GET',
    path: '/payment_intents/{id}',
    operationId: 'retrievePaymentIntent',
    moves: 'nothing',
    tag: 'Payment intents',
    summary: 'Retrieve a payment intent',
    scope: 'payments:read',
    idempotency: 'ignored',
    params: { id: 'paymentIntent' },
    responses: { 200: response },
    errors: ['resource_missing'],
    handle: async ({ caller, params }) => {
      const intent = await readIntent(ctx, caller.tenant, params.id ?? '');
      if (intent === null) return resourceMissing('payment intent');
      return answerWith(200, render(intent));
    },
  });
}

export function cancelRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller>({
    method: 'POST',
    path: '/payment_intents/{id}/cancel',
    operationId: 'cancelPaymentIntent',
    moves: 'data',
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
      cancelIntent(ctx, {
        tenant: caller.tenant,
        intentId: params.id ?? '',
        idempotency,
        requestId,
        now,
      }),
  });
}
