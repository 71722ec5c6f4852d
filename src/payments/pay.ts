import type { Answer } from '#core/answer.ts';
import { failpoint } from '#core/failpoints.ts';
import { networkOf } from '#core/mode.ts';
import type { Refusal } from '#core/refusal.ts';
import { createBatcher } from '#db/batching.ts';
import type { Sql } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { selectKey } from '#idempotency/queries.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';
import { decideReplay } from '#idempotency/run-once.ts';
import type { PreflightResult } from '#payments/assess.ts';
import { type AwaitDeps, answerWhenSettled } from '#payments/await-settlement.ts';
import { createLookAhead, type Outlook } from '#payments/look-ahead.ts';
import { type Paid, type PayItem, payBatch, serviceUnavailable } from '#payments/pay-batch.ts';
import type { PayRequest, Preflight } from '#payments/pay-request.ts';
import { asOf, type PaymentIntent } from '#payments/payment-intent.ts';
import { checkSettles, type Readiness } from '#settlement/readiness.ts';

export interface PayDeps extends AwaitDeps {
  readonly wakeups: Wakeups;
  readonly preflight: Preflight;
  readonly readiness: Readiness;
  /** Seconds that a payment has from its tap to its place on the chain. */
  readonly settleWithinS: number;
}

export type PayIntent = (request: PayRequest) => Promise<Answer | Refusal>;

/** While one batch commits another one is decided; more would only wait for the same locks. */
const MAX_IN_FLIGHT = 3;
/** Above this a batch's own time shows in the latency of its first payment. */
const MAX_ITEMS = 64;

/** The stored answer of a key that is there already. */
export async function findReplay(
  sql: Sql,
  idempotency: IdempotentRequest | null,
  now: Date,
): Promise<Answer | Refusal | null> {
  if (idempotency === null) return null;
  const row = await selectKey(sql, idempotency.tenant, { ...idempotency, now });
  return row === undefined ? null : decideReplay(row, idempotency.fingerprint);
}

/** Tells whoever waits that an intent has moved. After the commit. */
export function announce(wakeups: Wakeups, intent: PaymentIntent): void {
  if (intent.status === 'processing') {
    wakeups.send('chain-requests', networkOf(intent.tenant.livemode));
  }
  wakeups.send('intent', intent.id);
  if (intent.status === 'requires_action') wakeups.send('payer', intent.attempt.payerId);
}

/**
 * What the chain says, asked before the transaction; null where it need not be asked, because the
 * credential is unknown or the intent has come to its end.
 */
async function askChain(
  deps: PayDeps,
  request: PayRequest,
  { intent, payer }: Outlook,
): Promise<PreflightResult | null> {
  const { tenant, merchantNumber } = request.standing;
  if (intent === null || payer === null || merchantNumber === null) return null;
  const { status } = asOf(intent, request.now);
  if (status === 'succeeded' || status === 'canceled') return null;
  if (payer.livemode !== tenant.livemode) return { ok: true };
  return deps.preflight({
    livemode: tenant.livemode,
    payer: payer.address,
    merchantNumber,
    amount: intent.amount,
    orderId: intent.orderId,
  });
}

async function runBatch(deps: PayDeps, items: readonly PayItem[]): Promise<readonly Paid[]> {
  const { paid, deliveries } = await deps.db.transaction((tx) =>
    payBatch(tx, items, deps.settleWithinS),
  );
  failpoint('payments.request_committed');
  for (const { intent } of paid) if (intent !== null) announce(deps.wakeups, intent);
  if (deliveries > 0) deps.wakeups.send('deliveries');
  return paid;
}

/**
 * Pays intents with passes that were tapped and with agent tokens. Answers with the intent:
 * succeeded, processing (the chain is slow), requires_action (its payer is asked), or
 * requires_payment_method with `last_payment_error` (declined, nothing charged). By group commit:
 * what waits while earlier batches are under way shares one transaction.
 */
export function createIntentPayer(deps: PayDeps): PayIntent {
  const lookAhead = createLookAhead(deps.db);
  const batcher = createBatcher<PayItem, Paid>({
    run: (items) => runBatch(deps, items),
    maxInFlight: MAX_IN_FLIGHT,
    maxItems: MAX_ITEMS,
  });
  return async (request) => {
    const outlook = await lookAhead(request);
    // A replay needs no chain.
    if (outlook.replay !== null) return outlook.replay;
    const unsettled = checkSettles(deps.readiness, request.standing.tenant.livemode);
    if (unsettled !== null) return unsettled;
    const preflight = await askChain(deps, request, outlook);
    if (preflight === 'unavailable') return serviceUnavailable();
    const { answer, intent } = await batcher.add({ request, preflight });
    if (intent?.status !== 'processing') return answer;
    const { idempotency, gone } = request;
    const waiting = { intentId: intent.id, idempotency, ...(gone === undefined ? {} : { gone }) };
    return answerWhenSettled(deps, waiting);
  };
}
