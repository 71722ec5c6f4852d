import type { Answer, Refusal } from '#core/answer.ts';
import { failpoint } from '#core/failpoints.ts';
import { perProcess } from '#core/once-per-process.ts';
import { createBatcher } from '#db/batching.ts';
import { activeTraceparent, isTracing, type Span, startSpan } from '#observability/tracing.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { askChain, notNow } from '#payments/ask-chain-before-locking.ts';
import { answerWhenSettled } from '#payments/await-settlement.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import type { BatchTerms, PayItem } from '#payments/pay-batch-state.ts';
import type { AskHome, PayRequest } from '#payments/pay-request.ts';
import { type Paid, payBatch } from '#payments/pay-taps-together.ts';
import { asOf } from '#payments/payment-intent.ts';
import { createLookAhead, type Outlook } from '#payments/read-before-lock.ts';
import { announce } from '#payments/wake-waiting-requests.ts';
import { checkSettles } from '#settlement/network-readiness.ts';

/**
 * Concurrent batches: while one commits, others are decided. More would only wait for the same
 * locks.
 */
const MAX_IN_FLIGHT = 3;
/** Payments per batch. In larger batches, the first payment would wait noticeably longer. */
const MAX_ITEMS = 64;

export function batchTerms({ settings, keys, readiness }: ApiContext): BatchTerms {
  const { settleWithinS, staticPass } = settings;
  return { settleWithinS, staticPass, cardKey: keys.card, readiness };
}

async function runBatch(ctx: ApiContext, items: readonly PayItem[]): Promise<readonly Paid[]> {
  const terms = batchTerms(ctx);
  const { paid, deliveries } = await ctx.db.transaction((tx) => payBatch(tx, items, terms));
  failpoint('payments.request_committed');
  for (const { intent } of paid) if (intent !== null) announce(ctx.wakeups, intent);
  if (deliveries > 0) ctx.wakeups.send('deliveries');
  return paid;
}

const lookAheadOf = perProcess(({ db }: ApiContext) => createLookAhead(db));

const batcherOf = perProcess((ctx: ApiContext) =>
  createBatcher<PayItem, Paid>({
    run: (items) => runBatch(ctx, items),
    maxInFlight: MAX_IN_FLIGHT,
    maxItems: MAX_ITEMS,
  }),
);

/**
 * Pays an intent with a tapped credential or an agent token. Returns the intent: succeeded,
 * processing (the chain is slow), requires_action (the payer must confirm), or
 * requires_payment_method with `last_payment_error` (declined, nothing charged). Uses group commit:
 * requests that arrive while a batch runs share the next transaction.
 */
export async function payIntent(ctx: ApiContext, request: PayRequest): Promise<Answer | Refusal> {
  const outlook = await lookAheadOf(ctx)(request);
  // The stored response is returned without querying the chain.
  if (outlook.replay !== null) return outlook.replay;
  const span = startPaySpan(outlook.intent);
  if (span === null) return run(ctx, request, outlook);
  const { traceparent } = span;
  return run(ctx, { ...request, traceparent }, outlook).finally(span.end);
}

async function run(ctx: ApiContext, input: PayRequest, seen: Outlook): Promise<Answer | Refusal> {
  const { livemode } = input.merchant.tenant;
  const unsettled = checkSettles(ctx.readiness, livemode);
  if (unsettled !== null) return unsettled;
  const { request, outlook } = await visitHome(ctx.outside.askHome, input, seen);
  const preflight = await askChain(ctx.outside.preflight, request, outlook);
  if (typeof preflight === 'string') return notNow(preflight, livemode);
  const { answer, intent } = await batcherOf(ctx).add({ request, preflight });
  if (intent?.status !== 'processing') return answer;
  const { idempotency, gone } = request;
  const waiting = { intentId: intent.id, idempotency, ...(gone === undefined ? {} : { gone }) };
  return answerWhenSettled(ctx, waiting);
}

/**
 * Asks the credential's home cell to verify it, if that is another cell and the intent can be paid.
 */
async function visitHome(
  askHome: AskHome,
  request: PayRequest,
  outlook: Outlook,
): Promise<{ readonly request: PayRequest; readonly outlook: Outlook }> {
  const { intent } = outlook;
  const isPayable =
    intent !== null && asOf(intent, request.now).status === 'requires_payment_method';
  const visit = isPayable ? await askHome(request) : null;
  if (visit === null) return { request, outlook };
  return {
    request: { ...request, presented: { type: 'visiting', visit } },
    outlook: { ...outlook, payer: visit.holder?.payer ?? null },
  };
}

/**
 * The span joins the trace that the merchant's server began for the sale; otherwise it starts a
 * trace.
 */
function startPaySpan(intent: PaymentIntent | null): Span | null {
  if (!isTracing()) return null;
  const parent = intent?.traceparent ?? activeTraceparent();
  if (parent === null) return null;
  return startSpan('pay', { parent, attributes: { 'tapline.payment_intent': intent?.id ?? '' } });
}
