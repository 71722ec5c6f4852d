import { terminalInactive } from '#accounts/recheck-credentials.ts';
import { chipAuthorizationRoutes } from '#apis/device/authorization-routes.ts';
import { catalogueRoute } from '#apis/device/catalogue-route.ts';
import { createDeviceRefundRoute } from '#apis/device/create-device-refund.ts';
import {
  DEVICE_INTENT_EXAMPLE,
  DeviceIntentSchema,
  showOnTerminal,
} from '#apis/device/device-intent.ts';
import { deviceRoute } from '#apis/device/device-route.ts';
import { listFiscalRoute, signFiscalRoute } from '#apis/device/fiscal-routes.ts';
import { liftWithManager } from '#apis/device/lift-limits.ts';
import { listDevicePaymentsRoute } from '#apis/device/list-device-payments.ts';
import { listDeviceRefundsRoute } from '#apis/device/list-device-refunds.ts';
import { forwardRoute } from '#apis/device/offline-routes.ts';
import { receiptMailRoute } from '#apis/device/receipt-mail.ts';
import { shiftReportRoutes } from '#apis/device/shift-report-routes.ts';
import { shiftRoutes } from '#apis/device/shift-routes.ts';
import { smartTapRoute } from '#apis/device/smart-tap-route.ts';
import { readDeviceRoute, reportDeviceRoute } from '#apis/device/terminal-routes.ts';
import { testPassesRoute } from '#apis/device/test-pass-routes.ts';
import { totalsRoute } from '#apis/device/totals-route.ts';
import { askedSale, CREATE_ERRORS } from '#apis/merchant/presentment-schema.ts';
import {
  CashierIntentBody,
  NextQuery,
  namedCashier,
  TapBody,
  WatchQuery,
} from '#apis/merchant/terminal-schema.ts';
import { answerWith, isRefusal, type Refusal, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { atoms } from '#core/money.ts';
import type { Surface } from '#http/route.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { cancelIntent } from '#payments/cancel-intent.ts';
import { createIntent } from '#payments/create-intent.ts';
import { readTapped } from '#payments/credential.ts';
import { intentPolls, terminalPolls } from '#payments/intent-long-polls.ts';
import { updatePickedUp } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { payIntent } from '#payments/pay.ts';
import { asOf } from '#payments/payment-intent.ts';
import { renderIntent } from '#payments/render.ts';
import { selectWaitsFor } from '#settlement/chain-request-queries.ts';
import { createDeviceAuthenticator, type DeviceCaller } from '#terminals/authenticate-terminal.ts';

/**
 * Expiry of an intent that a cashier starts. It is short, because the customer is at the counter.
 */
const CASHIER_EXPIRES_IN_SECONDS = 120;

const intentResponse = (description: string) => ({
  schema: DeviceIntentSchema,
  description,
  example: DEVICE_INTENT_EXAMPLE,
});

function inactive(caller: DeviceCaller): Refusal | null {
  if (caller.active) return null;
  return terminalInactive();
}

function nextRoute(ctx: ApiContext) {
  return deviceRoute<typeof NextQuery>({
    method: 'GET',
    path: '/payment_intents/next',
    operationId: 'nextPaymentIntent',
    moves: 'nothing',
    summary: 'Retrieve the oldest open payment intent addressed to this terminal',
    description:
      'A long poll: the response is sent as soon as there is one, or 204 after `wait` seconds.',
    query: NextQuery,
    responses: {
      200: intentResponse('The intent to show.'),
      204: { schema: null, description: 'No intent arrived in time.' },
    },
    errors: ['terminal_inactive'],
    handle: async ({ caller, query, whenGone }) => {
      const refusal = inactive(caller);
      if (refusal !== null) return refusal;
      const waitMs = (query.wait ?? 0) * 1000;
      const intent = await terminalPolls(ctx).wait(caller.terminalId, {
        accept: (intent) => intent !== undefined,
        waitMs,
        gone: whenGone(),
      });
      if (intent === undefined) return { status: 204, body: '' };
      const { id, terminal_id: terminalId } = intent;
      const now = ctx.clock.now();
      const pickedUpAt =
        intent.picked_up_at ?? (await updatePickedUp(ctx.db, { id, terminalId, now })) ?? now;
      return showOnTerminal(
        ctx.pages,
        answerWith(200, renderIntent({ ...intent, picked_up_at: pickedUpAt })),
      );
    },
  });
}

function watchRoute(ctx: ApiContext) {
  return deviceRoute<typeof WatchQuery>({
    method: 'GET',
    path: '/payment_intents/{id}',
    operationId: 'watchPaymentIntent',
    moves: 'nothing',
    summary: 'Retrieve a payment intent of this terminal',
    description:
      'With `wait` this is a long poll: the response is sent as soon as the status differs from ' +
      '`status`.',
    params: { id: 'paymentIntent' },
    query: WatchQuery,
    responses: { 200: intentResponse('The intent.') },
    errors: ['resource_missing'],
    handle: async ({ caller, params, query, whenGone }) => {
      const { terminalId, tenant } = caller;
      const isOwn = (intent: PaymentIntent) =>
        intent.terminal_id === terminalId && intent.account_id === tenant.accountId;
      const intent = await intentPolls(ctx).wait(params.id ?? '', {
        accept: (seen) =>
          seen === undefined || !isOwn(seen) || asOf(seen, ctx.clock.now()).status !== query.status,
        waitMs: (query.wait ?? 0) * 1000,
        gone: whenGone(),
      });
      if (intent === undefined || !isOwn(intent)) return resourceMissing('payment intent');
      const seen = asOf(intent, ctx.clock.now());
      const isUnderWay = seen.status === 'processing';
      const waitsFor = isUnderWay ? await selectWaitsFor(ctx.db, seen.id) : null;
      return showOnTerminal(ctx.pages, answerWith(200, renderIntent(seen)), waitsFor);
    },
  });
}

function cashierRoute(ctx: ApiContext) {
  return deviceRoute<undefined, typeof CashierIntentBody>({
    method: 'POST',
    path: '/payment_intents',
    operationId: 'createCashierPaymentIntent',
    moves: 'money',
    checksCredential: true,
    summary: 'Create a payment intent on this terminal',
    description:
      'Where people have PINs, a discount needs the right of the signed-in person ' +
      '(`may_discount`), a `manager` or a `manager_code`; else it is refused with 403 ' +
      '`manager_required`.',
    credentials: ['manager'],
    idempotency: 'required',
    body: CashierIntentBody,
    bodyExample: { amount: 2500000, split_group: 'table-7', cashier: 'Ada' },
    responses: { 201: intentResponse('The new intent, `source: terminal`.') },
    errors: [...CREATE_ERRORS, 'manager_required', 'rate_limit_exceeded'],
    handle: async ({ caller, body, idempotency, requestId, now }) => {
      const sale = askedSale(body);
      if (isRefusal(sale)) return sale;
      const { terminalId, merchant } = caller;
      const answer = await liftWithManager(ctx, { terminalId, merchant, body, now }, (lifting) =>
        createIntent(ctx, {
          merchant,
          idempotency: present(idempotency, 'idempotency key'),
          requestId,
          now,
          input: {
            ...sale,
            tipping: body.tipping ?? null,
            terminalId,
            orderId: body.order_id ?? null,
            description: body.description ?? null,
            metadata: namedCashier(body),
            source: 'terminal',
            splitGroup: body.split_group ?? null,
            ...lifting,
            expiresIn: CASHIER_EXPIRES_IN_SECONDS,
          },
        }),
      );
      return showOnTerminal(ctx.pages, answer);
    },
  });
}

function tapRoute(ctx: ApiContext) {
  return deviceRoute<undefined, typeof TapBody>({
    method: 'POST',
    path: '/payment_intents/{id}/tap',
    operationId: 'tapPaymentIntent',
    moves: 'money',
    checksCredential: true,
    summary: 'Pay an intent of this terminal with the pass that was tapped',
    idempotency: 'required',
    params: { id: 'paymentIntent' },
    body: TapBody,
    bodyExample: { credential: { type: 'nfc_id', value: 'nfc_2Yv9AbcExample' } },
    responses: { 200: intentResponse('The intent after the tap.') },
    errors: [
      'resource_missing',
      'terminal_inactive',
      'kyb_required',
      'account_not_live',
      'payment_intent_unexpected_state',
      'service_unavailable',
    ],
    handle: async (request) => {
      const { caller, params, body, idempotency, requestId, now, whenGone } = request;
      const presented = readTapped(body.credential);
      if (isRefusal(presented)) return presented;
      const refusal = inactive(caller);
      if (refusal !== null) return refusal;
      const answer = await payIntent(ctx, {
        merchant: caller.merchant,
        intentId: params.id ?? '',
        terminalId: caller.terminalId,
        presented,
        tip: body.tip_amount === undefined ? null : atoms(body.tip_amount),
        idempotency,
        requestId,
        now,
        gone: whenGone(),
      });
      return showOnTerminal(ctx.pages, answer);
    },
  });
}

function cancelRoute(ctx: ApiContext) {
  return deviceRoute({
    method: 'POST',
    path: '/payment_intents/{id}/cancel',
    operationId: 'cancelDevicePaymentIntent',
    moves: 'data',
    summary: 'Cancel an unpaid intent of this terminal',
    idempotency: 'accepted',
    params: { id: 'paymentIntent' },
    responses: { 200: intentResponse('The canceled intent.') },
    errors: ['resource_missing', 'payment_intent_unexpected_state'],
    handle: async ({ caller, params, idempotency, requestId, now }) => {
      const answer = await cancelIntent(ctx, {
        tenant: caller.tenant,
        intentId: params.id ?? '',
        terminalId: caller.terminalId,
        idempotency,
        requestId,
        now,
      });
      return showOnTerminal(ctx.pages, answer);
    },
  });
}

/** Declares the terminal protocol (behavior.md 14.1). */
export function deviceSurface(ctx: ApiContext): Surface<DeviceCaller> {
  return {
    root: '/api/device/v1',
    authenticate: createDeviceAuthenticator(ctx.db),
    routes: [
      readDeviceRoute(ctx),
      reportDeviceRoute(ctx),
      smartTapRoute(ctx),
      nextRoute(ctx),
      watchRoute(ctx),
      ...shiftRoutes(ctx),
      ...shiftReportRoutes(ctx),
      cashierRoute(ctx),
      tapRoute(ctx),
      ...chipAuthorizationRoutes(ctx),
      cancelRoute(ctx),
      forwardRoute(ctx),
      listDevicePaymentsRoute(ctx),
      receiptMailRoute(ctx),
      createDeviceRefundRoute(ctx),
      listDeviceRefundsRoute(ctx),
      testPassesRoute(ctx),
      totalsRoute(ctx),
      catalogueRoute(ctx),
      listFiscalRoute(ctx),
      signFiscalRoute(ctx),
    ],
  };
}
