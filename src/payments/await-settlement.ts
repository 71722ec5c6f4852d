import { type Answer, answerWith } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Clock } from '#core/clock.ts';
import { type Refusal, resourceMissing } from '#core/refusal.ts';
import type { Database } from '#db/database.ts';
import type { WaitingRoom } from '#db/waiting-room.ts';
import { selectKey, updateCompleted } from '#idempotency/queries.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';
import { asOf, type PaymentIntent } from '#payments/payment-intent.ts';
import { renderIntent } from '#payments/render.ts';

export interface AwaitDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly intents: WaitingRoom<PaymentIntent>;
  /** Default {@link SETTLEMENT_WAIT_MS}. */
  readonly settlementWaitMs?: number;
}

/** A settlement takes about a second; after this the answer is `processing`: below 30 s. */
const SETTLEMENT_WAIT_MS = 20_000;

/** Waits for a `processing` intent to become something else; at the end the intent as it is. */
export async function awaitSettled(
  deps: AwaitDeps,
  intentId: string,
  gone?: AbortSignal,
): Promise<PaymentIntent | null> {
  const intent = await deps.intents.wait(intentId, {
    accept: (seen) => seen?.status !== 'processing',
    waitMs: deps.settlementWaitMs ?? SETTLEMENT_WAIT_MS,
    ...(gone === undefined ? {} : { gone }),
  });
  return intent === undefined ? null : asOf(intent, deps.clock.now());
}

/**
 * The response of a request whose intent is being settled. The worker that applies the outcome
 * stores it together with the outcome; when it takes too long, `processing` becomes the response,
 * unless the real one is there first. What is stored is what every retry gets.
 */
export async function answerWhenSettled(
  deps: AwaitDeps,
  request: {
    readonly intentId: string;
    readonly idempotency: IdempotentRequest | null;
    readonly gone?: AbortSignal;
  },
): Promise<Answer | Refusal> {
  const { intentId, idempotency, gone } = request;
  const intent = await awaitSettled(deps, intentId, gone);
  if (intent === null) return resourceMissing('payment intent');
  const answer = answerWith(200, renderIntent(intent));
  // Nobody reads this answer: the key goes on waiting for the real one.
  if (idempotency === null || gone?.aborted) return answer;
  return deps.db.transaction(async (tx) => {
    await updateCompleted(tx, idempotency, { ...answer, resource: intentId });
    const key = { ...idempotency, now: deps.clock.now() };
    const row = present(await selectKey(tx, idempotency.tenant, key), 'stored response');
    return {
      status: present(row.response_status, 'stored status'),
      body: present(row.response_body, 'stored body'),
    };
  });
}
