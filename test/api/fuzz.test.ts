import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type Dispatcher, Pool } from 'undici';
import { declaredMerchantRoutes } from '#declared-routes.ts';
import { merchantDocument } from '#merchant-document.ts';
import { createTestIntent, startTestApi, type TestApi } from '#testing/api.ts';
import {
  addTestEndpoint,
  addTestPayment,
  keepRefunding,
  LOCAL_WEBHOOKS,
  newestEvent,
} from '#testing/api-objects.ts';
import { createAnswerCheck } from '#testing/check-answer.ts';
import { type FuzzRequest, fuzzRequests, type KnownIds } from '#testing/fuzz.ts';
import { addPayer } from '#testing/store.ts';

/** `FUZZ_SEED` repeats a run, `FUZZ_REQUESTS` makes it longer. */
const SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 20_000);
/** Made and sent in portions: making them all at once takes memory and shows nothing. */
const PORTION = 1_000;
const CONCURRENCY = 24;
/** Refunds wait for their chain, which is played here; nothing should take longer. */
const HANG_MS = 15_000;

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
  return {
    nfc_: [pass],
    pi_: intents,
    pay_: payments,
    tml_: [merchant.test.terminal],
    we_: endpoints,
    wdl_: deliveries.body.data.map(({ id }) => id),
    evt_: [await newestEvent(db, merchant.test, 'payment_intent.created')],
  };
}

type Seen = Map<string, Map<number, number>>;

/** Whose clock may be moved: it takes events and deadlines with it. */
const MOVES_CLOCK = 'testAdvanceClock';

function createSender(pool: Pool, seen: Seen, timeTraveller: string) {
  const check = createAnswerCheck(merchantDocument(declaredMerchantRoutes()));
  return async (request: FuzzRequest): Promise<void> => {
    const { method, path, headers, body, operationId } = request;
    const key = operationId === MOVES_CLOCK ? timeTraveller : api.merchant.test.key;
    const response = await pool.request({
      method: method as Dispatcher.HttpMethod,
      path,
      headers: { ...headers, authorization: `Bearer ${key}` },
      body,
      headersTimeout: HANG_MS,
      bodyTimeout: HANG_MS,
    });
    const text = await response.body.text();
    const { statusCode: status } = response;
    const statuses = seen.get(operationId) ?? new Map<number, number>();
    seen.set(operationId, statuses.set(status, (statuses.get(status) ?? 0) + 1));
    const shown = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
    );
    check({ method, path, status, headers: shown, text });
    assert.notEqual(status, 500, text);
  };
}

function describe(request: FuzzRequest, error: unknown): Error {
  const { body, ...rest } = request;
  const shown = JSON.stringify({ ...rest, body: body?.toString('latin1').slice(0, 500) ?? null });
  const message = error instanceof Error ? error.message : String(error);
  return new Error(`FUZZ_SEED=${SEED}: ${shown}\n${message}`, { cause: error });
}

test(`${REQUESTS} wrong requests are answered as documented, and none by a 500`, async (t) => {
  const document = merchantDocument(declaredMerchantRoutes());
  const requests = fuzzRequests(document, await knownIds());
  const pool = new Pool(api.url, { connections: CONCURRENCY });
  const seen: Seen = new Map();
  const send = createSender(pool, seen, (await api.addMerchant()).test.key);
  t.diagnostic(`seed ${SEED}`);
  for (let sent = 0; sent < REQUESTS; sent += PORTION) {
    const portion = fc.sample(requests, { numRuns: PORTION, seed: SEED + sent }).values();
    const work = Array.from({ length: CONCURRENCY }, async () => {
      for (const request of portion) {
        await send(request).catch((error) => {
          throw describe(request, error);
        });
      }
    });
    await Promise.all(work);
  }
  await pool.close();
  // A fuzz that is refused at the door everywhere would pass as well: most routes must be reached.
  const counts = [...seen].map(([name, statuses]) => [name, Object.fromEntries(statuses)] as const);
  t.diagnostic(JSON.stringify(Object.fromEntries(counts)));
  const isReached = (status: string) => Number(status) < 300 || ['409', '503'].includes(status);
  const reached = counts.filter(([, statuses]) => Object.keys(statuses).some(isReached));
  assert.ok(reached.length >= counts.length * 0.8, JSON.stringify(counts));
});

test('what the requests left behind is whole', async () => {
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
