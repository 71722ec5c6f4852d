import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredMerchantRoutes } from '#app/declared-routes.ts';
import { merchantDocument } from '#app/merchant-document.ts';
import { createTestIntent } from '#testkit/apis/api.ts';
import { addTestEndpoint, newestEvent } from '#testkit/apis/api-objects.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { addPayer } from '#testkit/fixtures/payments/store.ts';
import type { KnownIds } from '#testkit/simulation/fuzz.ts';
import { knownObjects, runFuzz, spared, startFuzzedApi } from '#testkit/simulation/fuzz-run.ts';

/** Number of requests; `FUZZ_REQUESTS` sets another. The long run sends 50,000. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 2_500);

const api = openForTests(startFuzzedApi);

async function knownIds(): Promise<KnownIds> {
  const { db, merchant } = api;
  const known = await knownObjects(api, { intents: 100, payments: 20 });
  const endpoints = [];
  for (let i = 0; i < 12; i++) endpoints.push(await addTestEndpoint(api, 'http://127.0.0.1:9999/'));
  await createTestIntent(api);
  const path = `/v1/webhook_endpoints/${endpoints[0]}/deliveries`;
  const deliveries = await api.call({ path });
  const { pass } = await addPayer(api);
  const idempotencyKey = 'fuzzer-key';
  const request = {
    path: '/v1/refunds',
    idempotencyKey,
    body: { payment: known.pay_[0], amount: 1 },
  };
  const refund = await api.call(request);
  assert.equal(refund.status, 201, JSON.stringify(refund.body));
  return {
    ...known,
    nfc_: [pass],
    // Leaves out the first endpoint. The fuzzer may delete endpoints, and the deliveries of this
    // one would be deleted with it.
    we_: endpoints.slice(1),
    wdl_: deliveries.body.data.map(({ id }) => id),
    evt_: [await newestEvent(db, merchant.test, 'payment_intent.created')],
    re_: [refund.body.id],
    '{key}': [idempotencyKey],
  };
}

/**
 * Operations that are sent as another merchant. Here they would expire events and deadlines, or
 * send events without an object.
 */
const DISTURBING = ['testAdvanceClock', 'testTriggerEvent'];

test(`${REQUESTS} wrong requests are answered as documented, and none by a 500`, async () => {
  const other = (await api.addMerchant()).test.key;
  const isSpared = spared(['deleteWebhookEndpoint']);
  await runFuzz(api, {
    document: merchantDocument(declaredMerchantRoutes()),
    known: await knownIds(),
    requests: REQUESTS,
    unreached: {
      'no sale was made offline': ['retrieveOfflinePayment'],
      'only a sandbox has test customers': [
        ...['testTapCard', 'testSmartTap', 'testAppleVas', 'testRotatingCode'],
        'testOfflinePayment',
      ],
      'a random time is not in the period of events': [
        ...['replayWebhookEvents', 'retrieveWebhookReplay'],
      ],
    },
    headersOf: (request) => {
      const isOther = isSpared(request) || DISTURBING.includes(request.operationId);
      const key = isOther ? other : api.merchant.test.key;
      return { authorization: `Bearer ${key}` };
    },
    file: 'api/fuzz.test',
  });
});
