import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { newSecret } from '#core/bearer-secrets.ts';
import { createTestIntent } from '#testing/api.ts';
import { testEndpoint, withBody, wrongIds } from '#testing/endpoint.ts';

const path = (id: string) => `/v1/payment_intents/${id}/confirm`;

// Uses an unknown token, which is declined. Payments by valid tokens are tested with a chain.
testEndpoint({
  name: 'POST /v1/payment_intents/{id}/confirm',
  scope: 'payments:write',
  good: async (api) => ({
    path: path((await createTestIntent(api)).id),
    idempotencyKey: randomUUID(),
    body: { agent_token: newSecret('agentToken') },
  }),
  status: 200,
  expect: ({ body }) => {
    assert.equal(body.status, 'requires_payment_method');
    const error = body.last_payment_error as { decline_code: string; reason_code: string };
    assert.equal(error.decline_code, 'agent_token_unknown');
    assert.equal(error.reason_code, 'AGENT_TOKEN_UNKNOWN');
  },
  wrong: [
    ...wrongIds(path, 'pi_01QzXo0KcV5sVQ2pWm8Tn3'),
    {
      because: 'without a token',
      call: (good) => ({ ...good, body: {} }),
      code: 'parameter_missing',
      param: 'agent_token',
    },
    ...[newSecret('pass'), newSecret('apiKeyTest'), 'agt_mistyped', '', 7].map((token) => ({
      because: `with ${String(token).slice(0, 5)}… for a token`,
      call: (good: Parameters<typeof withBody>[0]) => withBody(good, { agent_token: token }),
      code: 'parameter_invalid',
      param: 'agent_token',
    })),
    {
      because: 'with a tip',
      call: (good) => withBody(good, { tip_amount: 0 }),
      code: 'parameter_unknown',
      param: 'tip_amount',
    },
  ],
  elsewhere: 'missing',
  replay: 'required',
});
