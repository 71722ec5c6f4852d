import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { declaredMerchantRoutes } from '#app/declared-routes.ts';
import { merchantDocument } from '#app/merchant-document.ts';
import { createTestIntent, startTestApi, type TestApi } from '#testing/api.ts';
import {
  addTestEndpoint,
  addTestPayment,
  keepRefunding,
  LOCAL_WEBHOOKS,
  newestEvent,
} from '#testing/api-objects.ts';
import type { KnownIds } from '#testing/fuzz.ts';
import { FUZZ_SEED, runFuzz } from '#testing/fuzz-run.ts';
import { addPayer } from '#testing/store.ts';

/** `FUZZ_REQUESTS` raises it; the long run sends 50,000. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 2_500);

let api: TestApi;
let stop: () => Promise<void>;

before(async () => {
  api = await startTestApi({ env: LOCAL_WEBHOOKS });
  const chain = keepRefunding(api);
  stop = async () => {
    await chain.stop();
    await api.close();
  };
});

after(() => stop());

async function knownIds(): Promise<KnownIds> {
  const { db, merchant } = api;
  const intents = [];
  for (let i = 0; i < 100; i++) intents.push((await createTestIntent(api)).id);
  const payments = [];
  for (let i = 0; i < 20; i++) payments.push((await addTestPayment(db, merchant.test)).id);
  const endpoints = [];
  for (let i = 0; i < 12; i++) endpoints.push(await addTestEndpoint(api, 'http://127.0.0.1:9999/'));
  await createTestIntent(api);
  const path = `/v1/webhook_endpoints/${endpoints[0]}/deliveries`;
  const deliveries = await api.call({ path });
  const { pass } = await addPayer(api);
  const idempotencyKey = 'fuzzer-key';
  const asked = { path: '/v1/refunds', idempotencyKey, body: { payment: payments[0], amount: 1 } };
  const refund = await api.call(asked);
  assert.equal(refund.status, 201, JSON.stringify(refund.body));
  return {
    nfc_: [pass],
    pi_: intents,
    pay_: payments,
    tml_: [merchant.test.terminal],
    we_: endpoints,
    wdl_: deliveries.body.data.map(({ id }) => id),
    evt_: [await newestEvent(db, merchant.test, 'payment_intent.created')],
    re_: [refund.body.id],
    '{key}': [idempotencyKey],
  };
}

/** Excluded, because moving the clock expires events and deadlines. */
const MOVES_CLOCK = 'testAdvanceClock';

test(`${REQUESTS} wrong requests are answered as documented, and none by a 500`, async (t) => {
  const timeTraveller = (await api.addMerchant()).test.key;
  t.diagnostic(`seed ${FUZZ_SEED}`);
  await runFuzz({
    url: api.url,
    document: merchantDocument(declaredMerchantRoutes()),
    known: await knownIds(),
    requests: REQUESTS,
    // Some seeds delete every endpoint early, so routes that need one are not reached.
    reach: 0.75,
    headersOf: ({ operationId }) => {
      const key = operationId === MOVES_CLOCK ? timeTraveller : api.merchant.test.key;
      return { authorization: `Bearer ${key}` };
    },
  });
});

test('the data that the requests left is consistent', async () => {
  const broken = await api.db.query(
    `select i.id from payment_intents i
     where not exists (select from events e where e.object_id = i.id
       and e.type = 'payment_intent.created') and i.status <> 'succeeded'
     union all
     select p.id from payments p
     where p.amount_refunded <> (select coalesce(sum(r.amount), 0) from refunds r
       where r.payment_id = p.id and r.status = 'succeeded')
     union all
     select key from idempotency_keys where status = 'in_progress'`,
  );
  assert.deepEqual(broken, []);
});
