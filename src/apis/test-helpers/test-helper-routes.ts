import Type, { type Static } from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { EventSchema } from '#apis/merchant/event-schema.ts';
import { PaymentIntentSchema, TipAmount } from '#apis/merchant/payment-schema.ts';
import { TappedCredential } from '#apis/merchant/terminal-schema.ts';
import { ExpiresIn, NewAgentTokenSchema } from '#apis/payer/payer-schema.ts';
import { clockRoutes } from '#apis/test-helpers/clock-routes.ts';
import { offlinePaymentRoute } from '#apis/test-helpers/offline-payment-routes.ts';
import type { SampleType } from '#apis/test-helpers/sample-objects.ts';
import { simulatedTapRoutes } from '#apis/test-helpers/simulated-tap-routes.ts';
import { testHelperRoute } from '#apis/test-helpers/test-helper-route.ts';
import { triggerEvent } from '#apis/test-helpers/trigger-event.ts';
import { answerWith, isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { hashSecret, isSecret } from '#core/bearer-secrets.ts';
import { atoms } from '#core/money.ts';
import { EVENT_TYPES } from '#events/event-types.ts';
import type { AnyRoute } from '#http/route.ts';
import { Amount, idOf, oneOf } from '#http/schema.ts';
import { findReplay } from '#idempotency/run-once-per-key.ts';
import { renderAgentToken } from '#payers/agent-token.ts';
import { AGENT_TOKEN_SECONDS, createAgentToken } from '#payers/create-agent-token.ts';
import { selectPassByHash, selectPayer } from '#payers/payer-queries.ts';
import { answerConfirmation } from '#payments/answer-confirmation.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { PAYMENT_INTENT_EXAMPLE } from '#payments/api-examples.ts';
import { awaitSettled } from '#payments/await-settlement.ts';
import { type Presented, readTapped } from '#payments/credential.ts';
import { selectNextForTerminals, updatePickedUp } from '#payments/intent-queries.ts';
import { payIntent } from '#payments/pay.ts';
import { renderIntent } from '#payments/render.ts';
import { expireNow } from '#payments/simulate-expiry.ts';
import { selectTerminal } from '#terminals/terminal-queries.ts';

const intentResponse = (description: string) => ({
  schema: PaymentIntentSchema,
  description,
  example: PAYMENT_INTENT_EXAMPLE,
});

function passMissing(param: string): Refusal {
  return refuse('parameter_missing', `${param} is required, because there is no demo pass.`, param);
}

const HelperTapBody = Type.Object({
  credential: Type.Optional(TappedCredential),
  payment_intent: Type.Optional(idOf('pi_', 'payment intent')),
  tip_amount: Type.Optional(TipAmount),
});

function presentedIn(
  body: Static<typeof HelperTapBody>,
  defaultPass: string | null,
): Presented | Refusal {
  if (body.credential !== undefined) return readTapped(body.credential);
  return defaultPass === null ? passMissing('credential') : { type: 'nfc_id', value: defaultPass };
}

async function findOpenIntent(
  ctx: ApiContext,
  terminalId: string,
  now: Date,
): Promise<string | Refusal> {
  const [intent] = await selectNextForTerminals(ctx.db, [terminalId], now);
  if (intent !== undefined) return intent.id;
  return refuse(
    'payment_intent_unexpected_state',
    'The terminal has no open payment intent. Create one first.',
  );
}

function tapRoute(ctx: ApiContext) {
  return testHelperRoute<typeof HelperTapBody>({
    method: 'POST',
    path: '/test_helpers/terminals/{id}/tap',
    operationId: 'testTapTerminal',
    moves: 'data',
    summary: 'Simulate a customer who taps a pass on the terminal',
    description: 'Default: the demo pass `ok` on the oldest open intent of the terminal.',
    idempotency: 'accepted',
    params: { id: 'terminal' },
    body: HelperTapBody,
    bodyExample: {},
    responses: { 200: intentResponse('The intent after the tap.') },
    errors: ['resource_missing', 'terminal_inactive', 'payment_intent_unexpected_state'],
    handle: async ({ caller, params, body, idempotency, requestId, now, whenGone }) => {
      const presented = presentedIn(body, ctx.demo.defaultPass);
      if (isRefusal(presented)) return presented;
      const terminal = await selectTerminal(ctx.db, caller.tenant, params.id ?? '');
      if (terminal === null) return resourceMissing('terminal');
      if (terminal.status === 'inactive') {
        return refuse('terminal_inactive', 'The terminal is inactive. Activate it first.');
      }
      // Checked before looking for an open intent, because the first request has already paid it.
      const replay = await findReplay(ctx.db, idempotency, now);
      if (replay !== null) return replay;
      const intentId = body.payment_intent ?? (await findOpenIntent(ctx, terminal.id, now));
      if (isRefusal(intentId)) return intentId;
      await updatePickedUp(ctx.db, { id: intentId, terminalId: terminal.id, now });
      return payIntent(ctx, {
        merchant: caller.merchant,
        intentId,
        terminalId: terminal.id,
        presented,
        tip: body.tip_amount === undefined ? null : atoms(body.tip_amount),
        idempotency,
        requestId,
        now,
        gone: whenGone(),
      });
    },
  });
}

const PayerConfirmBody = Type.Object({
  approve: Type.Boolean({ description: 'true: the payer approves; false: the payer rejects.' }),
});

function payerConfirmRoute(ctx: ApiContext) {
  return testHelperRoute<typeof PayerConfirmBody>({
    method: 'POST',
    path: '/test_helpers/payment_intents/{id}/payer_confirm',
    operationId: 'testPayerConfirm',
    moves: 'data',
    summary: "Simulate the payer's answer in the payer app's confirmation",
    params: { id: 'paymentIntent' },
    body: PayerConfirmBody,
    bodyExample: { approve: true },
    responses: { 200: intentResponse("The intent after the payer's answer.") },
    errors: ['resource_missing', 'payment_intent_unexpected_state', 'service_unavailable'],
    handle: async ({ caller, params, body, now, whenGone }) => {
      const { accountId, livemode } = caller.tenant;
      const intent = await answerConfirmation(ctx, {
        intentId: params.id ?? '',
        mayAnswer: (one) => one.account_id === accountId && one.livemode === livemode,
        approve: body.approve,
        now,
      });
      if (isRefusal(intent)) return intent;
      const settled =
        intent.status === 'processing' ? await awaitSettled(ctx, intent.id, whenGone()) : intent;
      return answerWith(200, renderIntent(settled ?? intent));
    },
  });
}

function expireRoute(ctx: ApiContext) {
  return testHelperRoute({
    method: 'POST',
    path: '/test_helpers/payment_intents/{id}/expire',
    operationId: 'testExpirePaymentIntent',
    moves: 'data',
    summary: 'Simulate the expiry of an unpaid intent',
    params: { id: 'paymentIntent' },
    responses: { 200: intentResponse('The intent, canceled as expired.') },
    errors: ['resource_missing', 'payment_intent_unexpected_state'],
    handle: async ({ caller, params, now }) => {
      const { tenant } = caller;
      const intent = await expireNow(ctx, { tenant, intentId: params.id ?? '', now });
      return isRefusal(intent) ? intent : answerWith(200, renderIntent(intent));
    },
  });
}

const HelperTokenBody = Type.Object({
  amount: Amount,
  expires_in: Type.Optional(ExpiresIn),
  pass: Type.Optional(
    Type.String({
      pattern: '^nfc_[0-9A-Za-z]{1,196}$',
      description: 'A pass (nfc_…) of the payer whose agent gets the token.',
    }),
  ),
});

function agentTokenRoute(ctx: ApiContext) {
  return testHelperRoute<typeof HelperTokenBody>({
    method: 'POST',
    path: '/test_helpers/agent_tokens',
    operationId: 'testCreateAgentToken',
    moves: 'data',
    summary: 'Create an AI agent token of a payer for this account and amount',
    description: 'Default: the payer of the demo pass `ok`, one hour.',
    body: HelperTokenBody,
    bodyExample: { amount: 2500000 },
    responses: { 201: { schema: NewAgentTokenSchema, description: 'The token, shown only once.' } },
    handle: async ({ caller, body, now }) => {
      const pass = body.pass ?? ctx.demo.defaultPass;
      if (pass === null) return passMissing('pass');
      const known = isSecret('pass', pass)
        ? await selectPassByHash(ctx.db, hashSecret(pass))
        : undefined;
      const payer = known && (await selectPayer(ctx.db, known.payer_id));
      if (payer === undefined || payer.livemode) {
        return refuse('parameter_invalid', 'pass must be a pass of the test network.', 'pass');
      }
      const { row, secret } = await ctx.db.transaction((tx) =>
        createAgentToken(tx, {
          payerId: payer.id,
          tenant: caller.tenant,
          amount: body.amount,
          expiresIn: body.expires_in ?? AGENT_TOKEN_SECONDS.default,
          now,
        }),
      );
      return answerWith(201, { ...renderAgentToken(row, 'active'), agent_token: secret });
    },
  });
}

const SAMPLE_TYPES: readonly string[] = EVENT_TYPES.filter((type) => type !== 'ping');

const TriggerBody = Type.Object({
  type: oneOf(SAMPLE_TYPES as readonly SampleType[], 'An event type; not ping.'),
});

function triggerRoute(ctx: ApiContext) {
  return testHelperRoute<typeof TriggerBody>({
    method: 'POST',
    path: '/test_helpers/events/trigger',
    operationId: 'testTriggerEvent',
    moves: 'data',
    summary: 'Send an event of any type',
    description:
      'The event is about the newest object of the account that was in such a state, or else ' +
      'about the newest of that kind, shown in that state. The object itself does ' +
      'not change. Only an account without such objects gets an event about a ' +
      'made-up one.',
    body: TriggerBody,
    bodyExample: { type: 'refund.failed' },
    responses: { 201: { schema: EventSchema, description: 'The event.' } },
    handle: async ({ caller, body, now }) => {
      return triggerEvent(ctx, { tenant: caller.tenant, type: body.type, now });
    },
  });
}

/**
 * Declares the simulations that developers call with curl (behavior.md 17.1). They need a test key.
 */
export function testHelperRoutes(ctx: ApiContext): AnyRoute<MerchantCaller>[] {
  return [
    tapRoute(ctx),
    payerConfirmRoute(ctx),
    expireRoute(ctx),
    agentTokenRoute(ctx),
    triggerRoute(ctx),
    offlinePaymentRoute(ctx),
    ...simulatedTapRoutes(ctx),
    ...clockRoutes(ctx),
  ];
}
