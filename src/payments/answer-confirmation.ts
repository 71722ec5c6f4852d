import { selectMerchants } from '#accounts/merchant-queries.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import { HOUR_MS } from '#core/durations.ts';
import { tenantOf } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { checkHourShare } from '#payments/check-hourly-share.ts';
import { decideApproval } from '#payments/decide-approval.ts';
import { lockIntents } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { asOf, attemptOf, byAccountClock, transition } from '#payments/payment-intent.ts';
import { saveSteps } from '#payments/save-intent-steps.ts';
import { requestSettlement } from '#payments/settlement-job.ts';
import { announce } from '#payments/wake-waiting-requests.ts';
import { deleteRefusals, insertRefusal } from '#risk/risk-queries.ts';
import { checkLedger } from '#settlement/ledger-gate.ts';
import { checkSettles } from '#settlement/network-readiness.ts';

export interface ConfirmationAnswer {
  readonly intentId: string;
  /** Returns true if the caller may answer for this intent's payer. */
  readonly mayAnswer: (intent: PaymentIntent) => boolean;
  readonly approve: boolean;
  readonly now: Date;
}

/** Returns the payer of the intent's attempt; `null` if there is no attempt. */
export function payerOf(intent: PaymentIntent): string | null {
  return attemptOf(intent)?.payerId ?? null;
}

/**
 * Returns the merchant number to which the intent is paid; `null` if the account takes no payments.
 */
async function findMerchantNumber(tx: Tx, intent: PaymentIntent): Promise<bigint | null> {
  const merchants = await selectMerchants(tx, [intent.account_id]);
  const own = merchants.find((row) => row.livemode === intent.livemode);
  return own?.status === 'active' ? (intent.merchant_number ?? null) : null;
}

/**
 * True if the payer has already approved. An app that lost the response repeats its request, which
 * then changes nothing.
 */
function isAnsweredAlready(intent: PaymentIntent, approve: boolean): boolean {
  return approve && (intent.status === 'processing' || intent.status === 'succeeded');
}

/**
 * Rejections count against the merchant for an hour of the account's clock; an approval clears
 * them.
 */
async function noteAnswer(
  tx: Tx,
  { intent, payerId }: { readonly intent: PaymentIntent; readonly payerId: string },
  { approve, now }: ConfirmationAnswer,
): Promise<void> {
  const tenant = tenantOf(intent);
  if (approve) return deleteRefusals(tx, { tenant, payerId });
  const at = byAccountClock(intent, now);
  await insertRefusal(tx, { tenant, payerId }, { at, until: addMs(at, -HOUR_MS) });
}

interface Answered {
  readonly intent: PaymentIntent;
  /** The payer whose wallet app must refresh; `null` for none. */
  readonly payerId: string | null;
  readonly deliveries: number;
}

async function answer(
  tx: Tx,
  { readiness, settings }: Pick<ApiContext, 'readiness' | 'settings'>,
  request: ConfirmationAnswer,
): Promise<Answered | Refusal> {
  const { now, approve } = request;
  const [before] = await lockIntents(tx, [request.intentId]);
  if (before === undefined || !request.mayAnswer(before)) return resourceMissing('confirmation');
  const payerId = payerOf(before);
  if (isAnsweredAlready(before, approve)) return { intent: before, payerId, deliveries: 0 };
  const closed = checkLedger(tx.watch, before.livemode);
  if (closed !== null) return closed;
  const unsettled = approve ? checkSettles(readiness, before.livemode) : null;
  if (unsettled !== null) return unsettled;
  const current = asOf(before, now);
  if (before.status !== 'requires_action' || current.status !== 'requires_action') {
    return refuse(
      'payment_intent_unexpected_state',
      'This payment is no longer waiting for confirmation. A payer has 60 seconds to respond.',
    );
  }
  const merchantNumber = await findMerchantNumber(tx, before);
  if (approve && merchantNumber === null) {
    return refuse('account_not_live', 'The merchant cannot take payments right now.');
  }
  const command = approve ? await decideApproval(tx, current, now) : ({ type: 'reject' } as const);
  const full = command.type === 'approve' ? await checkHourShare(tx, readiness, before) : null;
  if (full !== null) return full;
  const steps = transition(before, command, now);
  if (isRefusal(steps)) return steps;
  if (payerId !== null) await noteAnswer(tx, { intent: before, payerId }, request);
  const intent = present(steps.at(-1), 'step of a confirmation').intent;
  if (intent.status === 'processing') {
    const number = present(merchantNumber, 'merchant number');
    const terms = { merchantNumber: number, settleWithinS: settings.settleWithinS };
    await requestSettlement(tx, intent, terms, now);
  }
  // Runs last, because it locks the account's order until the commit.
  const deliveries = await saveSteps(tx, [{ before, steps }], now);
  return { intent, payerId, deliveries };
}

/**
 * An approval starts the settlement, unless a check fails now that succeeded at the tap. Refuses
 * with `resource_missing` (this payer was not asked), `payment_intent_unexpected_state` (too late,
 * or already answered differently) and, for an approval, `service_unavailable` (the network settles
 * nothing now).
 */
export async function answerConfirmation(
  ctx: ApiContext,
  request: ConfirmationAnswer,
): Promise<PaymentIntent | Refusal> {
  const result = await ctx.db.transaction((tx) => answer(tx, ctx, request));
  if (isRefusal(result)) return result;
  announce(ctx.wakeups, result.intent);
  if (result.deliveries > 0) ctx.wakeups.send('deliveries');
  if (result.payerId !== null) ctx.wakeups.send('payer', result.payerId);
  return result.intent;
}
