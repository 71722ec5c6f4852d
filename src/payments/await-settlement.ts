import { type Answer, answerWith } from '#core/answer.ts';
import type { Clock } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import type { WaitingRoom } from '#db/waiting-room.ts';
import { awaitAnswer } from '#idempotency/await-answer.ts';
import type { ReadKey } from '#idempotency/read-key.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';
import { asOf, type PaymentIntent } from '#payments/payment-intent.ts';
import { renderIntent } from '#payments/render.ts';

export interface SettledDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly intents: WaitingRoom<PaymentIntent>;
  /** Milliseconds. Default {@link SETTLEMENT_WAIT_MS}. */
  readonly settlementWaitMs?: number;
}

export interface AwaitDeps extends SettledDeps {
  readonly readKey: ReadKey;
}

/**
 * A settlement takes about a second; after this time the response is `processing`, within the 30 s
 * limit.
 */
export const SETTLEMENT_WAIT_MS = 20_000;

function isSettled(intent: PaymentIntent): boolean {
  return intent.status !== 'processing';
}

/** Waits until a `processing` intent changes; after the time-out, returns it as it is. */
export async function awaitSettled(
  deps: SettledDeps,
  intentId: string,
  gone?: AbortSignal,
): Promise<PaymentIntent | null> {
  const intent = await deps.intents.wait(intentId, {
    accept: (seen) => seen === undefined || isSettled(seen),
    waitMs: deps.settlementWaitMs ?? SETTLEMENT_WAIT_MS,
    ...(gone === undefined ? {} : { gone }),
  });
  return intent === undefined ? null : asOf(intent, deps.clock.now());
}

/**
 * Answers a request whose intent is being settled. After the time-out, `processing` becomes the
 * response, unless the final one was stored first.
 */
export function answerWhenSettled(
  deps: AwaitDeps,
  request: {
    readonly intentId: string;
    readonly idempotency: IdempotentRequest | null;
    readonly gone?: AbortSignal;
  },
): Promise<Answer> {
  const { intentId, idempotency, gone } = request;
  return awaitAnswer(deps, {
    room: deps.intents,
    resource: intentId,
    isDone: isSettled,
    waitMs: deps.settlementWaitMs ?? SETTLEMENT_WAIT_MS,
    answer: (intent) => answerWith(200, renderIntent(asOf(intent, deps.clock.now()))),
    request: idempotency,
    ...(gone === undefined ? {} : { gone }),
  });
}
