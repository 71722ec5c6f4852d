import { type Answer, answerWith } from '#core/answer.ts';
import { awaitAnswer } from '#idempotency/await-answer.ts';
import type { IdempotentRequest } from '#idempotency/request-fingerprint.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { intentPolls } from '#payments/intent-long-polls.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { asOf } from '#payments/payment-intent.ts';
import { renderIntent } from '#payments/render.ts';

/**
 * Maximum time for which a response waits for a settlement, which usually takes a second. After it,
 * the response shows `processing`. It is well below a request's limit of 30 s.
 */
export const SETTLEMENT_WAIT_MS = 20_000;

function isSettled(intent: PaymentIntent): boolean {
  return intent.status !== 'processing';
}

/**
 * Waits until a `processing` intent changes, and returns it. After the time-out, returns the
 * unchanged intent.
 */
export async function awaitSettled(
  ctx: ApiContext,
  intentId: string,
  gone?: AbortSignal,
): Promise<PaymentIntent | null> {
  const intent = await intentPolls(ctx).wait(intentId, {
    accept: (seen) => seen === undefined || isSettled(seen),
    waitMs: ctx.settings.settlementWaitMs ?? SETTLEMENT_WAIT_MS,
    ...(gone === undefined ? {} : { gone }),
  });
  return intent === undefined ? null : asOf(intent, ctx.clock.now());
}

/**
 * Returns the response to a request whose intent is being settled. After the time-out, stores
 * `processing` as the response, unless the final one was stored first.
 */
export function answerWhenSettled(
  ctx: ApiContext,
  request: {
    readonly intentId: string;
    readonly idempotency: IdempotentRequest | null;
    readonly gone?: AbortSignal;
  },
): Promise<Answer> {
  const { intentId, idempotency, gone } = request;
  return awaitAnswer(ctx, {
    polls: intentPolls(ctx),
    resource: intentId,
    isDone: isSettled,
    waitMs: ctx.settings.settlementWaitMs ?? SETTLEMENT_WAIT_MS,
    answer: (intent) => answerWith(200, renderIntent(asOf(intent, ctx.clock.now()))),
    request: idempotency,
    ...(gone === undefined ? {} : { gone }),
  });
}
