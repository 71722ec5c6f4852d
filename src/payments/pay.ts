import type { Answer, Refusal } from '#core/answer.ts';
import { failpoint } from '#core/failpoints.ts';
import { activeTraceparent, isTracing, type Span, startSpan } from '#core/tracing.ts';
import { createBatcher } from '#db/batching.ts';
import { type AnnounceDeps, announce } from '#payments/announce.ts';
import { askChain, notNow } from '#payments/ask-chain.ts';
import { type AwaitDeps, answerWhenSettled } from '#payments/await-settlement.ts';
import { createLookAhead, type Outlook } from '#payments/look-ahead.ts';
import { type Paid, payBatch } from '#payments/pay-batch.ts';
import type { PayItem } from '#payments/pay-context.ts';
import type { AskHome, PayRequest, PayTerms, Preflight } from '#payments/pay-request.ts';
import { asOf, type PaymentIntent } from '#payments/payment-intent.ts';
import { checkSettles, type Readiness } from '#settlement/readiness.ts';

export interface PayDeps extends AnnounceDeps, AwaitDeps, PayTerms {
  readonly preflight: Preflight;
  readonly askHome: AskHome;
  readonly readiness: Readiness;
}

export type PayIntent = (request: PayRequest) => Promise<Answer | Refusal>;

/** Batches in flight: while one commits, another is decided. More would wait for the same locks. */
const MAX_IN_FLIGHT = 3;
/** Payments per batch. In larger batches the first payment waits noticeably longer. */
const MAX_ITEMS = 64;

async function runBatch(deps: PayDeps, items: readonly PayItem[]): Promise<readonly Paid[]> {
  const { paid, deliveries } = await deps.db.transaction((tx) => payBatch(tx, items, deps));
  failpoint('payments.request_committed');
  for (const { intent } of paid) if (intent !== null) announce(deps.wakeups, intent);
  if (deliveries > 0) deps.wakeups.send('deliveries');
  return paid;
}

/**
 * Pays intents with tapped passes and with agent tokens. Returns the intent: succeeded, processing
 * (the chain is slow), requires_action (the payer must confirm), or requires_payment_method with
 * `last_payment_error` (declined, nothing charged). Uses group commit: requests that arrive while a
 * batch runs share the next transaction.
 */
export function createIntentPayer(deps: PayDeps): PayIntent {
  const lookAhead = createLookAhead(deps.db);
  const batcher = createBatcher<PayItem, Paid>({
    run: (items) => runBatch(deps, items),
    maxInFlight: MAX_IN_FLIGHT,
    maxItems: MAX_ITEMS,
  });
  const run = async (asked: PayRequest, seen: Outlook): Promise<Answer | Refusal> => {
    const { livemode } = asked.merchant.tenant;
    const unsettled = checkSettles(deps.readiness, livemode);
    if (unsettled !== null) return unsettled;
    const { request, outlook } = await visitHome(deps, asked, seen);
    const preflight = await askChain(deps.preflight, request, outlook);
    if (typeof preflight === 'string') return notNow(preflight, livemode);
    const { answer, intent } = await batcher.add({ request, preflight });
    if (intent?.status !== 'processing') return answer;
    const { idempotency, gone } = request;
    const waiting = { intentId: intent.id, idempotency, ...(gone === undefined ? {} : { gone }) };
    return answerWhenSettled(deps, waiting);
  };
  return async (request) => {
    const outlook = await lookAhead(request);
    // A replay does not need the chain.
    if (outlook.replay !== null) return outlook.replay;
    const span = startPaySpan(outlook.intent);
    if (span === null) return run(request, outlook);
    const { traceparent } = span;
    return run({ ...request, traceparent }, outlook).finally(span.end);
  };
}

/** Asks another cell to verify its credential, if the intent can be paid. */
async function visitHome(
  { askHome }: PayDeps,
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
 * Starts the span of a tap. It joins the trace of the sale if the merchant's server began one;
 * otherwise it starts a trace.
 */
function startPaySpan(intent: PaymentIntent | null): Span | null {
  if (!isTracing()) return null;
  const parent = intent?.traceparent ?? activeTraceparent();
  if (parent === null) return null;
  return startSpan('pay', { parent, attributes: { 'tapline.payment_intent': intent?.id ?? '' } });
}
