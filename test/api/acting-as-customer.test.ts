import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newSecret } from '#core/bearer-secrets.ts';
import { createCard } from '#payers/card.ts';
import { cardKey } from '#settings/config.ts';
import { createTestIntent, TEST_SECRET, type TestApi } from '#testkit/apis/api.ts';
import { type Endpoint, testEndpoint, wrongBody, wrongIds } from '#testkit/apis/endpoint.ts';
import { addPayer } from '#testkit/fixtures/payments/store.ts';

const BASE = '/v1/test_helpers';
const NOBODY = 'pi_01QzXo0KcV5sVQ2pWm8Tn3';

/** Adds an intent that waits for its payer's confirmation. */
async function addAsking(api: TestApi): Promise<string> {
  const { id } = await createTestIntent(api);
  const attempt = {
    payerId: 'pyr_01QzXo0KcV5sVQ2pWm8Tn3',
    payerAddress: `0x${'ab'.repeat(20)}`,
    credential: { type: 'nfc_id', passId: 'pass_01QzXo0KcV5sVQ2pWm8Tn3' },
    reasonCode: 'FIRST_MERCHANT_PAYMENT',
  };
  await api.db.query(
    `update payment_intents set status = 'requires_action', attempt = $2::text::jsonb,
       confirm_by = now() + interval '1 minute'
     where id = $1`,
    [id, JSON.stringify(attempt)],
  );
  return id;
}

async function addCard(api: TestApi): Promise<string> {
  const { payer } = await addPayer(api);
  const card = { payerId: payer.id, label: '', perPaymentLimit: 1n, now: api.clock.now() };
  const { row } = await api.db.transaction((tx) =>
    createCard(tx, { ...card, cardKey: cardKey(TEST_SECRET) }),
  );
  return row.id;
}

const shared = { scope: 'payments:write', replay: 'none' } as const;

const endpoints: readonly Endpoint[] = [
  {
    ...shared,
    name: `POST ${BASE}/terminals/{id}/tap`,
    good: async (api) => {
      await createTestIntent(api);
      const credential = { type: 'nfc_id', value: newSecret('pass') };
      return { path: `${BASE}/terminals/${api.merchant.test.terminal}/tap`, body: { credential } };
    },
    status: 200,
    expect: ({ body }) => {
      const error = body.last_payment_error as { decline_code: string };
      assert.equal(error.decline_code, 'pass_unknown');
    },
    wrong: [
      ...wrongIds((id) => `${BASE}/terminals/${id}/tap`, 'tml_01QzXo0KcV5sVQ2pWm8Tn3'),
      wrongBody(
        'with another kind of credential',
        { credential: { type: 'card', value: '4242' } },
        'credential.type',
      ),
    ],
    elsewhere: 'own',
    replay: 'accepted',
  },
  {
    ...shared,
    name: `POST ${BASE}/payment_intents/{id}/payer_confirm`,
    good: async (api) => ({
      path: `${BASE}/payment_intents/${await addAsking(api)}/payer_confirm`,
      body: { approve: false },
    }),
    status: 200,
    expect: ({ body }) => {
      const error = body.last_payment_error as { decline_code: string };
      assert.equal(error.decline_code, 'payer_rejected');
    },
    wrong: [
      ...wrongIds((id) => `${BASE}/payment_intents/${id}/payer_confirm`, NOBODY),
      wrongBody('with an answer that is no boolean', { approve: 'yes' }, 'approve'),
    ],
    elsewhere: 'own',
  },
  {
    ...shared,
    name: `POST ${BASE}/payment_intents/{id}/expire`,
    good: async (api) => ({
      method: 'POST',
      path: `${BASE}/payment_intents/${(await createTestIntent(api)).id}/expire`,
    }),
    status: 200,
    expect: ({ body }) => {
      assert.equal(body.status, 'canceled');
      assert.equal(body.cancellation_reason, 'expired');
    },
    wrong: wrongIds((id) => `${BASE}/payment_intents/${id}/expire`, NOBODY),
    elsewhere: 'own',
  },
  {
    ...shared,
    name: `POST ${BASE}/agent_tokens`,
    good: async (api) => ({
      path: `${BASE}/agent_tokens`,
      body: { amount: 2_500_000, pass: (await addPayer(api)).pass },
    }),
    status: 201,
    expect: ({ body }) => assert.match(String(body.agent_token), /^agt_/),
    wrong: [
      wrongBody('without an amount', { amount: undefined }, 'amount', 'parameter_missing'),
      wrongBody('for 59 seconds', { expires_in: 59 }, 'expires_in'),
    ],
    elsewhere: 'own',
  },
  {
    ...shared,
    name: `POST ${BASE}/cards/{id}/taps`,
    good: async (api) => ({ method: 'POST', path: `${BASE}/cards/${await addCard(api)}/taps` }),
    status: 201,
    expect: ({ body }) => assert.match(String(body.url), /\/card\/card_\w+\?p=\w{32}&c=\w{16}$/),
    wrong: wrongIds((id) => `${BASE}/cards/${id}/taps`, 'card_01QzXo0KcV5sVQ2pWm8Tn3'),
    elsewhere: 'own',
  },
  {
    ...shared,
    name: `POST ${BASE}/events/trigger`,
    good: async () => ({ path: `${BASE}/events/trigger`, body: { type: 'refund.failed' } }),
    status: 201,
    expect: ({ body }) => assert.equal(body.type, 'refund.failed'),
    wrong: [wrongBody('for a type that does not exist', { type: 'refund.eaten' }, 'type')],
    elsewhere: 'own',
  },
];

for (const endpoint of endpoints) {
  describe(endpoint.name, () => {
    const api = testEndpoint(endpoint);
    test(`${endpoint.name} does not exist for live keys`, async () => {
      const { key } = api().merchant.live;
      const answered = await api().call({ ...(await endpoint.good(api())), key });
      assert.equal(answered.status, 404, answered.text);
    });
  });
}
