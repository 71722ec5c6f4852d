import Type from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import {
  addToClock,
  advanceDeadlines,
  advanceIntents,
  advanceOrder,
  advanceRefundWindows,
  dropEventsBefore,
  selectClock,
} from '#apis/test-helpers/clock-queries.ts';
import { testHelperRoute } from '#apis/test-helpers/test-helper-route.ts';
import { answerWith } from '#core/answer.ts';
import { addMs, addSeconds } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Tenant } from '#core/mode.ts';
import type { ProcessContext } from '#db/process-context.ts';
import type { AnyRoute } from '#http/route.ts';
import { commonFields, Timestamp } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { expireIntents } from '#payments/store-expired-intents.ts';

/** Maximum advance in seconds: enough for any deadline that developers test. */
export const MAX_ADVANCE_SECONDS = 366 * 86_400;
/** The event retention of behavior.md 10.3. */
const EVENT_RETENTION_MS = 30 * DAY_MS;

export interface TestClock {
  readonly now: Date;
  readonly advancedSeconds: number;
}

export async function readTestClock(ctx: ProcessContext, tenant: Tenant): Promise<TestClock> {
  const advancedSeconds = await selectClock(ctx.db, tenant.accountId);
  return { now: addSeconds(ctx.clock.now(), advancedSeconds), advancedSeconds };
}

/**
 * Advances the clock of one account's test mode (behavior.md 17.2). Whatever is due by then happens
 * immediately, and new objects get the new time.
 */
export async function advanceTestClock(
  ctx: ProcessContext,
  request: { readonly tenant: Tenant; readonly seconds: number },
): Promise<TestClock> {
  const { seconds } = request;
  const { accountId } = request.tenant;
  const now = ctx.clock.now();
  const advancedSeconds = await ctx.db.transaction(async (tx) => {
    const total = await addToClock(tx, accountId, seconds);
    await advanceIntents(tx, accountId, seconds);
    await advanceRefundWindows(tx, accountId, seconds);
    await advanceDeadlines(tx, accountId, seconds);
    const at = { total, now: addSeconds(now, total) };
    await dropEventsBefore(tx, accountId, addMs(at.now, -EVENT_RETENTION_MS));
    await advanceOrder(tx, accountId, at);
    return total;
  });
  while (await expireIntents(ctx));
  return { now: addSeconds(now, advancedSeconds), advancedSeconds };
}

const TestClockSchema = Type.Object(
  {
    ...commonFields('test_clock'),
    now: Timestamp,
    advanced_seconds: Type.Integer({
      minimum: 0,
      description: 'The total since the account was opened.',
    }),
  },
  { title: 'TestClock' },
);

const AdvanceBody = Type.Object({
  seconds: Type.Integer({
    minimum: 1,
    maximum: MAX_ADVANCE_SECONDS,
    description: 'How far to advance the clock: 1 second to 366 days.',
  }),
});

const clockResponse = {
  schema: TestClockSchema,
  description: "The account's test clock.",
  example: {
    object: 'test_clock',
    livemode: false,
    network: 'testnet',
    now: '2026-10-01T12:02:00.000Z',
    advanced_seconds: 120,
  },
};

function render({ now, advancedSeconds }: TestClock) {
  return {
    object: 'test_clock',
    livemode: false,
    network: 'testnet',
    now: now.toISOString(),
    advanced_seconds: advancedSeconds,
  };
}

function readRoute(ctx: ApiContext) {
  return testHelperRoute({
    method: 'GET',
    path: '/test_helpers/clock',
    operationId: 'testReadClock',
    moves: 'nothing',
    summary: "Retrieve the test clock of this account's test mode",
    scope: 'payments:read',
    responses: { 200: clockResponse },
    handle: async ({ caller }) => {
      return answerWith(200, render(await readTestClock(ctx, caller.tenant)));
    },
  });
}

function advanceRoute(ctx: ApiContext) {
  return testHelperRoute<typeof AdvanceBody>({
    method: 'POST',
    path: '/test_helpers/clock/advance',
    operationId: 'testAdvanceClock',
    moves: 'data',
    summary: "Advance the clock of this account's test mode",
    description:
      'Moves the clock of the account ahead. Everything due by then happens immediately: intents ' +
      'expire, confirmations time out, agent tokens and stored responses expire, events pass ' +
      'their retention, refund windows close. Daily limits and velocity rules count by the new ' +
      'time, and `created` shows it. Other accounts are not affected.',
    body: AdvanceBody,
    bodyExample: { seconds: 120 },
    responses: {
      200: {
        ...clockResponse,
        description:
          'The clock. While it is ahead, every response of the merchant API has the header ' +
          '`Test-Clock`. Webhook signatures and retries, rate limits, the deadline of a ' +
          "settlement and the contract's limits do not move.",
      },
    },
    handle: async ({ caller, body }) => {
      const { seconds } = body;
      return answerWith(
        200,
        render(await advanceTestClock(ctx, { tenant: caller.tenant, seconds })),
      );
    },
  });
}

/**
 * Declares the routes that show and advance a test account's clock, so that developers test
 * deadlines of days in seconds.
 */
export function clockRoutes(ctx: ApiContext): AnyRoute<MerchantCaller>[] {
  return [readRoute(ctx), advanceRoute(ctx)];
}
