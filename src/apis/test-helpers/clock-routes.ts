import Type from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import {
  advanceTestClock,
  type ClockDeps,
  MAX_ADVANCE_SECONDS,
  readTestClock,
  type TestClock,
} from '#apis/test-helpers/advance-clock.ts';
import { answerWith } from '#core/answer.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { commonFields, Timestamp } from '#http/schema.ts';

const TAG = 'Test helpers';

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

function readRoute(deps: ClockDeps) {
  return defineRoute<MerchantCaller>({
    method: 'GET',
    path: '/test_helpers/clock',
    operationId: 'testReadClock',
    moves: 'nothing',
    tag: TAG,
    summary: "Retrieve the test clock of this account's test mode",
    scope: 'payments:read',
    idempotency: 'ignored',
    responses: { 200: clockResponse },
    errors: ['route_missing'],
    handle: async ({ caller }) => {
      return answerWith(200, render(await readTestClock(deps, caller.tenant)));
    },
  });
}

function advanceRoute(deps: ClockDeps) {
  return defineRoute<MerchantCaller, undefined, typeof AdvanceBody>({
    method: 'POST',
    path: '/test_helpers/clock/advance',
    operationId: 'testAdvanceClock',
    moves: 'data',
    tag: TAG,
    summary: "Advance the clock of this account's test mode",
    description:
      'Moves the clock of the account ahead. Everything due by then happens at once: intents ' +
      'expire, confirmations time out, agent tokens and stored responses expire, events pass ' +
      'their retention, refund windows close. Daily limits and velocity rules count by the new ' +
      'time, and `created` shows it. Other accounts are not affected.',
    scope: 'payments:write',
    idempotency: 'ignored',
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
    errors: ['route_missing'],
    handle: async ({ caller, body }) => {
      const { seconds } = body;
      return answerWith(
        200,
        render(await advanceTestClock(deps, { tenant: caller.tenant, seconds })),
      );
    },
  });
}

/**
 * Declares the routes of a test account's clock, so that developers can test in seconds what
 * otherwise takes days.
 */
export function clockRoutes(deps: ClockDeps): AnyRoute<MerchantCaller>[] {
  return [readRoute(deps), advanceRoute(deps)];
}
