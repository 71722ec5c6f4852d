import Type from 'typebox';
import { testHelperRoute } from '#apis/test-helpers/test-helper-route.ts';
import { answerWith, resourceMissing } from '#core/answer.ts';
import { codeOf, rotatingValue, stepAt, testRotatingKey } from '#payers/check-rotating-code.ts';
import type { ApiContext } from '#payments/api-context.ts';

const RotatingCodeSchema = Type.Object(
  { value: Type.String({ description: 'The id of the pass, a period and the current code.' }) },
  { title: 'RotatingCode' },
);

/** Returns the route that simulates rotating codes, for developers without a phone. */
export function rotatingCodeRoute(ctx: ApiContext) {
  return testHelperRoute({
    method: 'POST',
    path: '/test_helpers/passes/{id}/rotating_code',
    operationId: 'testRotatingCode',
    moves: 'data',
    summary: 'Produce the current code of a pass',
    description:
      'Simulates the phone of a pass of the test network. The code changes every 30 seconds of ' +
      'real time, and each code pays once. Send the value as a credential of type ' +
      '`rotating_code`.',
    params: { id: 'pass' },
    responses: {
      201: {
        schema: RotatingCodeSchema,
        description: 'The code that the phone shows.',
        example: { value: 'pass_01QzXo0KcV5sVQ2pWm8Tn3.94287082' },
      },
    },
    errors: ['resource_missing'],
    handle: async ({ params, now }) => {
      const { db } = ctx;
      const cardKey = ctx.keys.card;
      const passId = params.id ?? '';
      const key = await db.transaction((tx) => testRotatingKey(tx, { passId, cardKey, now }));
      if (key === null) return resourceMissing('pass of the test network');
      return answerWith(201, { value: rotatingValue(passId, codeOf(key, stepAt(now))) });
    },
  });
}
