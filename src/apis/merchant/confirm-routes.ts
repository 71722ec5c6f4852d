import Type from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { PaymentIntentSchema } from '#apis/merchant/payment-schema.ts';
import { refuse } from '#core/answer.ts';
import { isSecret } from '#core/bearer-secrets.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { PAYMENT_INTENT_EXAMPLE } from '#payments/api-examples.ts';
import { payIntent } from '#payments/pay.ts';

const ConfirmBody = Type.Object({
  agent_token: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "The token of the payer's AI agent (agt_…), passed on unchanged.",
  }),
});

/**
 * Returns the route that pays an intent with an agent token. It is the only way to pay without a
 * terminal or a wallet's signature.
 */
export function confirmRoute(ctx: ApiContext): AnyRoute<MerchantCaller> {
  return defineRoute<MerchantCaller, undefined, typeof ConfirmBody>({
    method: 'POST',
    path: '/payment_intents/{id}/confirm',
    operationId: 'confirmPaymentIntent',
    moves: 'money',
    checksCredential: true,
    tag: 'Payment intents',
    summary: 'Pay a payment intent with an AI agent token',
    description:
      'The token was minted by the payer for this merchant and amount and pays once. ' +
      '`processing` and `requires_action` are followed by webhooks or by retrieving, never by ' +
      'confirming again. ' +
      'Use a terminal that no device polls for intents.',
    scope: 'payments:write',
    idempotency: 'required',
    params: { id: 'paymentIntent' },
    body: ConfirmBody,
    bodyExample: { agent_token: 'agt_2Yv9AbcExample' },
    responses: {
      200: {
        schema: PaymentIntentSchema,
        description: 'The intent: paid, on its way, waiting for its payer, or declined.',
        example: PAYMENT_INTENT_EXAMPLE,
      },
    },
    errors: [
      'resource_missing',
      'kyb_required',
      'account_not_live',
      'payment_intent_unexpected_state',
      'service_unavailable',
    ],
    handle: async ({ caller, params, body, idempotency, requestId, now, whenGone }) => {
      if (!isSecret('agentToken', body.agent_token)) {
        return refuse(
          'parameter_invalid',
          "agent_token must be the token from the payer's AI agent (agt_…), unchanged. " +
            'Passes and API keys are not accepted here.',
          'agent_token',
        );
      }
      return payIntent(ctx, {
        merchant: caller.merchant,
        intentId: params.id ?? '',
        presented: { type: 'agent_token', value: body.agent_token },
        tip: null,
        idempotency,
        requestId,
        now,
        gone: whenGone(),
      });
    },
  });
}
