import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { newSecret } from '#core/bearer-secrets.ts';
import { createTestIntent } from '#testkit/apis/api.ts';
import { testEndpoint, wrongBody, wrongIds } from '#testkit/apis/endpoint.ts';

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
    wrongBody('without a token', { agent_token: undefined }, 'agent_token', 'parameter_missing'),
    ...[newSecret('pass'), newSecret('apiKeyTest'), 'agt_mistyped', '', 7].map((token) =>
      wrongBody(
        `with ${String(token).slice(0, 5)}… for a token`,
        { agent_token: token },
        'agent_token',
      ),
    ),
    wrongBody('with a tip', { tip_amount: 0 }, 'tip_amount', 'parameter_unknown'),
  ],
  elsewhere: 'missing',
  replay: 'required',
});
