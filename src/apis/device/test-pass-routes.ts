import Type from 'typebox';
import { deviceRoute } from '#apis/device/device-route.ts';
import { answerWith, refuse } from '#core/answer.ts';
import type { ApiContext } from '#payments/api-context.ts';

/** Credentials by name, as in sandbox.json. */
export type TestPasses = Readonly<Record<string, string>>;

const TestPassesSchema = Type.Object(
  {
    passes: Type.Array(
      Type.Object({
        name: Type.String({ description: 'The name of the pass in sandbox.json.' }),
        credential: Type.String({
          description: 'The credential that the reader would read: nfc_…',
        }),
      }),
      { description: 'The passes of the demo payers.' },
    ),
  },
  { title: 'TestPasses' },
);

/**
 * Returns the route that lists the passes of the sandbox's demo payers, from which a terminal in
 * test mode can pick one. The process only ever puts test-mode credentials into this list. With a
 * live key, or without demo data, the route answers 404.
 */
export function testPassesRoute({ demo: { testPasses } }: ApiContext) {
  return deviceRoute({
    method: 'GET',
    path: '/test_passes',
    operationId: 'listTestPasses',
    moves: 'nothing',
    summary: 'List the passes of the sandbox, for acting as the customer',
    description: 'In test mode of a sandbox only; 404 anywhere else.',
    responses: {
      200: {
        schema: TestPassesSchema,
        description: 'The passes.',
        example: { passes: [{ name: 'ok', credential: 'nfc_2Yv9AbcExample' }] },
      },
    },
    errors: ['route_missing'],
    handle: async ({ caller }) => {
      if (testPasses === null || caller.tenant.livemode) {
        return refuse(
          'route_missing',
          'Test passes are available only in the test mode of a sandbox.',
        );
      }
      const passes = Object.entries(testPasses);
      return answerWith(200, {
        passes: passes.map(([name, credential]) => ({ name, credential })),
      });
    },
  });
}
