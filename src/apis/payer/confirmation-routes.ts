import { selectMerchants } from '#accounts/merchant-queries.ts';
import { payerOfCaller } from '#apis/payer/authenticate-payer.ts';
import { confirmationPolls } from '#apis/payer/payer-long-polls.ts';
import { type PayerRoute, payerRoute } from '#apis/payer/payer-route.ts';
import { ConfirmationSchema, ConfirmationsQuery, shortListOf } from '#apis/payer/payer-schema.ts';
import { answerWith, isRefusal, resourceMissing } from '#core/answer.ts';
import { networkOf, tenantOf } from '#core/mode.ts';
import { toJsonAtoms, ZERO } from '#core/money.ts';
import { answerConfirmation, payerOf } from '#payments/answer-confirmation.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { awaitSettled } from '#payments/await-settlement.ts';
import { selectIntents } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { paidNow, renderPaid } from '#payments/paid-quote.ts';
import type { Attempt } from '#payments/payment-attempt.ts';
import { asOf } from '#payments/payment-intent.ts';

async function merchantNames(
  ctx: ApiContext,
  intents: readonly PaymentIntent[],
): Promise<Map<string, string>> {
  const ids = [...new Set(intents.map((intent) => intent.account_id))];
  if (ids.length === 0) return new Map();
  const rows = await selectMerchants(ctx.db, ids);
  return new Map(rows.map((row) => [row.account_id, row.name]));
}

function askedAttempt(intent: PaymentIntent): Attempt | null {
  return intent.status === 'requires_payment_method' ? null : intent.attempt;
}

/** Leaves out the merchant's metadata. */
function renderConfirmation(intent: PaymentIntent, merchantName: string) {
  const { livemode, accountId } = tenantOf(intent);
  const pending = intent.status === 'requires_action' ? intent : null;
  const attempt = askedAttempt(intent);
  const tip = attempt?.tip ?? ZERO;
  return {
    object: 'confirmation',
    livemode,
    network: networkOf(livemode),
    payment_intent: intent.id,
    status: intent.status,
    account: accountId,
    merchant_name: merchantName,
    amount: toJsonAtoms(intent.amount + tip),
    currency: 'usdc',
    presentment: renderPaid(intent, tip, paidNow(intent, tip)),
    tip: toJsonAtoms(tip),
    order_id: intent.order_id,
    description: intent.description,
    reason_code: pending?.attempt.reasonCode ?? null,
    expires_at: pending?.confirm_by.toISOString() ?? null,
    payment: intent.status === 'succeeded' ? intent.payment_id : null,
    decline_code: intent.last_payment_error?.decline_code ?? null,
  };
}

export type AskedIntent = Extract<PaymentIntent, { status: 'requires_action' }>;

/** Drops confirmations that have expired meanwhile. */
export function stillAsked(intents: readonly PaymentIntent[], now: Date): AskedIntent[] {
  return intents.filter(
    (intent): intent is AskedIntent =>
      intent.status === 'requires_action' && asOf(intent, now).status === 'requires_action',
  );
}

export async function renderConfirmations(ctx: ApiContext, asked: readonly PaymentIntent[]) {
  const names = await merchantNames(ctx, asked);
  return asked.map((intent) => renderConfirmation(intent, names.get(intent.account_id) ?? ''));
}

function sameIds(intents: readonly PaymentIntent[], known: readonly string[]): boolean {
  return intents.length === known.length && intents.every(({ id }) => known.includes(id));
}

function listRoute(ctx: ApiContext) {
  return payerRoute<typeof ConfirmationsQuery>({
    method: 'GET',
    path: '/confirmations',
    operationId: 'listConfirmations',
    moves: 'nothing',
    summary: 'List the payments that wait for the payer’s confirmation',
    description:
      'With `wait` this is a long poll: the response is sent as soon as a payment waits.',
    query: ConfirmationsQuery,
    responses: {
      200: {
        schema: shortListOf(ConfirmationSchema),
        description: 'Every payment that waits for the payer.',
      },
    },
    handle: async ({ caller, query, whenGone }) => {
      const payer = payerOfCaller(caller);
      const known = (query.known ?? '').split(',').filter((id) => id !== '');
      const pendingOf = (intents: readonly PaymentIntent[] = []) =>
        stillAsked(intents, ctx.clock.now());
      const current = await confirmationPolls(ctx).wait(payer.id, {
        accept: (intents) => !sameIds(pendingOf(intents), known),
        waitMs: (query.wait ?? 0) * 1000,
        gone: whenGone(),
      });
      const data = await renderConfirmations(ctx, pendingOf(current));
      return answerWith(200, { object: 'list', data, has_more: false, next_cursor: null });
    },
  });
}

function readRoute(ctx: ApiContext) {
  return payerRoute({
    method: 'GET',
    path: '/confirmations/{intent}',
    operationId: 'getConfirmation',
    moves: 'nothing',
    summary: 'Retrieve a payment that the payer was asked to confirm',
    description:
      'For an app whose question left the list before it was answered: `canceled` if the ' +
      'merchant canceled the payment meanwhile. A payment that was declined is not found.',
    params: { intent: 'paymentIntent' },
    responses: { 200: { schema: ConfirmationSchema, description: 'Its current status.' } },
    errors: ['resource_missing'],
    handle: async ({ caller, params, now }) => {
      const payer = payerOfCaller(caller);
      const [row] = await selectIntents(ctx.db, [params.intent ?? '']);
      if (row === undefined || askedAttempt(row)?.payerId !== payer.id) {
        return resourceMissing('confirmation');
      }
      const intent = asOf(row, now);
      const names = await merchantNames(ctx, [intent]);
      return answerWith(200, renderConfirmation(intent, names.get(intent.account_id) ?? ''));
    },
  });
}

function answerRoute(ctx: ApiContext, approve: boolean) {
  const verb = approve ? 'approve' : 'reject';
  return payerRoute({
    method: 'POST',
    path: `/confirmations/{intent}/${verb}`,
    operationId: `${verb}Confirmation`,
    moves: 'money',
    // Requires no fresh signature, because it is for one payment within the wallet's limits, and
    // the payer is at a till.
    asks: 'never',
    summary: approve ? 'Confirm a payment' : 'Reject a payment',
    description: 'Within 60 seconds of the tap.',
    params: { intent: 'paymentIntent' },
    responses: {
      200: { schema: ConfirmationSchema, description: 'The confirmation with its result.' },
    },
    errors: [
      'resource_missing',
      'payment_intent_unexpected_state',
      'account_not_live',
      'service_unavailable',
    ],
    handle: async ({ caller, params, now, whenGone }) => {
      const payer = payerOfCaller(caller);
      const answered = await answerConfirmation(ctx, {
        intentId: params.intent ?? '',
        mayAnswer: (intent) => payerOf(intent) === payer.id,
        approve,
        now,
      });
      if (isRefusal(answered)) return answered;
      const settled =
        answered.status === 'processing' ? await awaitSettled(ctx, answered.id, whenGone()) : null;
      const intent = settled ?? answered;
      const names = await merchantNames(ctx, [intent]);
      const name = names.get(intent.account_id) ?? '';
      return answerWith(200, renderConfirmation(intent, name));
    },
  });
}

export function confirmationRoutes(ctx: ApiContext): PayerRoute[] {
  return [listRoute(ctx), readRoute(ctx), answerRoute(ctx, true), answerRoute(ctx, false)];
}
