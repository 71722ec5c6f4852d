import Type from 'typebox';
import { terminalInactive } from '#accounts/credential-ends.ts';
import { chipAuthorizationRoutes } from '#apis/device/authorization-routes.ts';
import { catalogueRoute } from '#apis/device/catalogue-route.ts';
import {
  DEVICE_INTENT_EXAMPLE,
  DeviceIntentSchema,
  showOnTerminal,
} from '#apis/device/device-intent.ts';
import { asksForSale, findSale } from '#apis/device/find-sale.ts';
import { listFiscalRoute, signFiscalRoute } from '#apis/device/fiscal-routes.ts';
import { receiptMailRoute } from '#apis/device/receipt-mail.ts';
import { smartTapRoute } from '#apis/device/smart-tap-route.ts';
import { readDeviceRoute, reportDeviceRoute } from '#apis/device/terminal-routes.ts';
import { testPassesRoute } from '#apis/device/test-pass-routes.ts';
import { totalsRoute } from '#apis/device/totals-route.ts';
import { MAX_MINOR_UNITS } from '#apis/merchant/line-schema.ts';
import { OrderId, PaymentSchema } from '#apis/merchant/payment-schema.ts';
import { askedSale, CREATE_ERRORS } from '#apis/merchant/presentment-schema.ts';
import {
  CreateRefundBody,
  REFUND_EXAMPLE,
  REFUND_LIMIT_MS,
  RefundSchema,
  refundAskedFor,
} from '#apis/merchant/refund-schema.ts';
import {
  Cashier,
  CashierIntentBody,
  NextQuery,
  TapBody,
  WatchQuery,
} from '#apis/merchant/terminal-schema.ts';
import { answerWith, isRefusal, type Refusal, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { HOUR_MS } from '#core/durations.ts';
import { atoms } from '#core/money.ts';
import { answerPage, readPage } from '#http/paging.ts';
import { defineRoute, type Surface } from '#http/route.ts';
import { Amount, listOf, pageParameters, text } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { cancelIntent } from '#payments/cancel.ts';
import { createIntent } from '#payments/create.ts';
import { readTapped } from '#payments/credential.ts';
import { updatePickedUp } from '#payments/intent-queries.ts';
import { intentRoom, terminalRoom } from '#payments/intent-waiting-room.ts';
import { payIntent } from '#payments/pay.ts';
import type { Payment } from '#payments/payment.ts';
import { asOf, type PaymentIntent } from '#payments/payment-intent.ts';
import { selectPaymentPage } from '#payments/payment-queries.ts';
import type { ReceiptPages } from '#payments/receipt-url.ts';
import { renderIntent, renderPayment } from '#payments/render.ts';
import { type Allowance, giveBackAttempt, takeAttempt } from '#people/attempts.ts';
import { createRefund } from '#refunds/create.ts';
import { selectWaitsFor } from '#settlement/request-queries.ts';
import { createDeviceAuthenticator, type DeviceCaller } from '#terminals/authenticate.ts';

const TAG = 'Terminal protocol';
/** The default of behavior.md 14.1: a cashier's customer is already at the counter. */
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

/**
 * Returns the metadata that names the cashier, where the totals find it. A column would cost every
 * create of every merchant.
 */
function namedCashier({ cashier }: { readonly cashier?: string }): Record<string, string> {
  return cashier === undefined ? {} : { cashier };
}

function nextRoute(ctx: ApiContext) {
  return defineRoute<DeviceCaller, typeof NextQuery>({
    method: 'GET',
    path: '/payment_intents/next',
    operationId: 'nextPaymentIntent',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve the oldest open payment intent addressed to this terminal',
    description:
      'A long poll: the response is sent as soon as there is one, or 204 after `wait` seconds.',
    scope: null,
    idempotency: 'ignored',
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
      const intent = await terminalRoom(ctx).wait(caller.terminalId, {
        accept: (found) => found !== undefined,
        waitMs,
        gone: whenGone(),
      });
      if (intent === undefined) return { status: 204, body: '' };
      const { id, terminalId } = intent;
      const now = ctx.clock.now();
      const pickedUpAt =
        intent.pickedUpAt ?? (await updatePickedUp(ctx.db, { id, terminalId, now })) ?? now;
      return showOnTerminal(ctx.pages, answerWith(200, renderIntent({ ...intent, pickedUpAt })));
    },
  });
}

function watchRoute(ctx: ApiContext) {
  return defineRoute<DeviceCaller, typeof WatchQuery>({
    method: 'GET',
    path: '/payment_intents/{id}',
    operationId: 'watchPaymentIntent',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve a payment intent of this terminal',
    description:
      'With `wait` this is a long poll: the response is sent as soon as the status differs from ' +
      '`status`.',
    scope: null,
    idempotency: 'ignored',
    params: { id: 'paymentIntent' },
    query: WatchQuery,
    responses: { 200: intentResponse('The intent.') },
    errors: ['resource_missing'],
    handle: async ({ caller, params, query, whenGone }) => {
      const { terminalId, tenant } = caller;
      const isOwn = (intent: PaymentIntent) =>
        intent.terminalId === terminalId && intent.tenant.accountId === tenant.accountId;
      const intent = await intentRoom(ctx).wait(params.id ?? '', {
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
  return defineRoute<DeviceCaller, undefined, typeof CashierIntentBody>({
    method: 'POST',
    path: '/payment_intents',
    operationId: 'createCashierPaymentIntent',
    moves: 'money',
    checksCredential: true,
    tag: TAG,
    summary: 'Create a payment intent on this terminal',
    scope: null,
    idempotency: 'required',
    body: CashierIntentBody,
    bodyExample: { amount: 2500000, split_group: 'table-7', cashier: 'Ada' },
    responses: { 201: intentResponse('The new intent, `source: terminal`.') },
    errors: CREATE_ERRORS,
    handle: async ({ caller, body, idempotency, requestId, now }) => {
      const sale = askedSale(body);
      if (isRefusal(sale)) return sale;
      const answer = await createIntent(ctx, {
        merchant: caller.merchant,
        idempotency: present(idempotency, 'idempotency key'),
        requestId,
        now,
        input: {
          ...sale,
          tipping: body.tipping ?? null,
          terminalId: caller.terminalId,
          orderId: body.order_id ?? null,
          description: body.description ?? null,
          metadata: namedCashier(body),
          source: 'terminal',
          splitGroup: body.split_group ?? null,
          expiresIn: CASHIER_EXPIRES_IN_SECONDS,
        },
      });
      return showOnTerminal(ctx.pages, answer);
    },
  });
}

function tapRoute(ctx: ApiContext) {
  return defineRoute<DeviceCaller, undefined, typeof TapBody>({
    method: 'POST',
    path: '/payment_intents/{id}/tap',
    operationId: 'tapPaymentIntent',
    moves: 'money',
    checksCredential: true,
    tag: TAG,
    summary: 'Pay an intent of this terminal with the pass that was tapped',
    scope: null,
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
  return defineRoute<DeviceCaller>({
    method: 'POST',
    path: '/payment_intents/{id}/cancel',
    operationId: 'cancelDevicePaymentIntent',
    moves: 'data',
    tag: TAG,
    summary: 'Cancel an unpaid intent of this terminal',
    scope: null,
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

/** A till sees what was sold, but not the wallet that paid. */
const FoundPaymentSchema = Type.Object(
  { ...PaymentSchema.properties, payer: Type.Optional(PaymentSchema.properties.payer) },
  {
    title: 'DevicePayment',
    description: 'A settled payment. A payment that was looked up has no `payer`.',
  },
);

const DevicePaymentsQuery = Type.Object({
  ...pageParameters,
  receipt: Type.Optional(
    text(300, 'A receipt’s number, or the address in its QR code; refund receipts work too.', 1),
  ),
  order_id: Type.Optional(OrderId),
  amount: Type.Optional({
    ...Amount,
    description:
      'The amount that was paid, with the tip, in atoms, or rounded to whole cents. Needed with ' +
      'order_id, and with the receipt number of another terminal; there it may be the amount on ' +
      'a refund’s receipt.',
  }),
  presentment_amount: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_MINOR_UNITS,
      description: 'The same in minor units of the currency of the sale. Instead of `amount`.',
    }),
  ),
});

function listWithoutPayer(payments: readonly Payment[], receipts: ReceiptPages) {
  const data = payments.map((payment) => {
    const { payer: _, ...shown } = renderPayment(payment, receipts);
    return shown;
  });
  return { object: 'list', data, has_more: false, next_cursor: null };
}

function paymentsRoute(ctx: ApiContext) {
  return defineRoute<DeviceCaller, typeof DevicePaymentsQuery>({
    method: 'GET',
    path: '/payments',
    operationId: 'listDevicePayments',
    moves: 'nothing',
    tag: TAG,
    summary:
      "List this terminal's payments, newest first, or find a sale of any till of the merchant",
    description:
      'With `receipt`, or with `order_id` and `amount`: the sale that a customer has the receipt ' +
      'of, without its payer, or an empty list. The number of another terminal’s receipt needs ' +
      '`amount` as well. The eleventh look-up that finds nothing within an hour is refused.',
    scope: null,
    idempotency: 'ignored',
    query: DevicePaymentsQuery,
    responses: { 200: { schema: listOf(FoundPaymentSchema), description: 'One page.' } },
    errors: ['cursor_invalid', 'parameter_missing', 'rate_limit_exceeded'],
    handle: async ({ caller: { tenant, terminalId }, query, now }) => {
      if (asksForSale(query)) {
        const found = await findSale(ctx, { tenant, terminalId, query, now });
        return isRefusal(found) ? found : answerWith(200, listWithoutPayer(found, ctx.pages));
      }
      const list = `payments of ${terminalId}`;
      const pagination = { list, tenant, query, cursorKey: ctx.keys.cursor };
      const page = readPage(pagination, query);
      if (isRefusal(page)) return page;
      const filters = { terminal_id: terminalId };
      const payments = await selectPaymentPage(ctx.db, { tenant, filters }, page);
      return answerPage(pagination, page, payments, (one) => renderPayment(one, ctx.pages));
    },
  });
}

const PosRefundBody = Type.Object({
  ...Type.Pick(CreateRefundBody, ['payment', 'amount', 'presentment_amount', 'reason']).properties,
  cashier: Type.Optional(Cashier),
  manager_code: Type.Optional(
    text(20, 'A code from the dashboard, for refunds that need a manager.', 8),
  ),
});

/** Codes have 39 bits and are valid for minutes, so a clerk may mistype a few. */
const WRONG_CODES: Allowance = { attempts: 10, windowMs: HOUR_MS };

function refundRoute(ctx: ApiContext) {
  return defineRoute<DeviceCaller, undefined, typeof PosRefundBody>({
    method: 'POST',
    path: '/refunds',
    operationId: 'createDeviceRefund',
    moves: 'money',
    checksCredential: true,
    tag: TAG,
    summary: 'Refund a payment',
    description:
      'A sale of another till, or more than 500 USDC of one sale, needs a `manager_code`: ' +
      'without one the refund is refused with 403 `manager_required`, and no money moves.',
    scope: null,
    idempotency: 'required',
    body: PosRefundBody,
    bodyExample: { payment: REFUND_EXAMPLE.payment, amount: 1000000 },
    responses: {
      201: { schema: RefundSchema, description: 'The refund.', example: REFUND_EXAMPLE },
    },
    errors: [
      'terminal_inactive',
      'amount_too_large',
      'payment_already_refunded',
      'manager_required',
      'rate_limit_exceeded',
    ],
    timeLimitMs: REFUND_LIMIT_MS,
    handle: async ({ caller, body, idempotency, requestId, now }) => {
      const asked = refundAskedFor(body);
      if (isRefusal(asked)) return asked;
      const refusal = inactive(caller);
      if (refusal !== null) return refusal;
      const managerCode = body.manager_code ?? null;
      const bucket = `manager-code ${caller.terminalId}`;
      if (managerCode !== null) {
        const tooMany = await takeAttempt(ctx.db, bucket, { allowance: WRONG_CODES, now });
        if (tooMany !== null) return tooMany;
      }
      const answer = await createRefund(ctx, {
        tenant: caller.tenant,
        keyHash: caller.merchant.keyHash,
        terminalId: caller.terminalId,
        managerCode,
        idempotency: present(idempotency, 'idempotency key'),
        requestId,
        now,
        input: { ...asked, metadata: namedCashier(body), source: 'terminal' },
      });
      const isWrong = isRefusal(answer) && answer.code === 'manager_required';
      if (managerCode !== null && !isWrong) await giveBackAttempt(ctx.db, bucket);
      return answer;
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
      cashierRoute(ctx),
      tapRoute(ctx),
      ...chipAuthorizationRoutes(ctx),
      cancelRoute(ctx),
      paymentsRoute(ctx),
      receiptMailRoute(ctx),
      refundRoute(ctx),
      testPassesRoute(ctx),
      totalsRoute(ctx),
      catalogueRoute(ctx),
      listFiscalRoute(ctx),
      signFiscalRoute(ctx),
    ],
  };
}
