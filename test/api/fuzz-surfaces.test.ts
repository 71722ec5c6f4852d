import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { declaredRoutes } from '#app/declared-routes.ts';
import { hashSecret, newSecret } from '#core/secrets.ts';
import { payToken } from '#payments/pay-link.ts';
import { tagToken } from '#terminals/tag.ts';
import type { TestApi } from '#testing/api.ts';
import { caller } from '#testing/api-client.ts';
import { documentOf, knownObjects, runFuzz, startFuzzedApi } from '#testing/fuzz-run.ts';
import { TEST_ID_KEY } from '#testing/store.ts';
import { newWallet, signInWallet } from '#testing/wallet-sign-in.ts';

/** Requests per API; `FUZZ_REQUESTS` raises it. The merchant API has a test of its own. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 2_000);

let api: TestApi;

before(async () => {
  api = await startFuzzedApi();
});
after(() => api.close());

const bearer = (key: string) => () => ({ authorization: `Bearer ${key}` });

async function addDeviceKey(): Promise<string> {
  const key = newSecret('deviceKeyTest');
  await api.db.query(
    'insert into device_keys (hash, terminal_id, created) values ($1, $2, now())',
    [hashSecret(key), api.merchant.test.terminal],
  );
  return key;
}

test(`terminals: ${REQUESTS} wrong requests, answered as documented`, async () => {
  const payer = caller(`${api.url}/api/payer/v1`, await signInWallet(api.url, newWallet()));
  const pass = await payer.post('/passes', { label: 'A pass' });
  const card = await payer.post('/cards', { label: 'A card' });
  const known = {
    ...(await knownObjects(api)),
    nfc_: [String(pass.body.nfc_id)],
    card_: [String(card.body.id)],
  };
  const device = { url: api.url, document: documentOf('device'), known, requests: REQUESTS };
  // Nine of 24 routes are seldom reached: random input pairs no device, starts no shift and finds
  // no receipt, and test passes exist in the sandbox only.
  await runFuzz({ ...device, reach: 0.6, headersOf: bearer(await addDeviceKey()) });
});

test(`payers: ${REQUESTS} wrong requests, answered as documented`, async () => {
  const wallet = newWallet();
  const token = await signInWallet(api.url, wallet);
  const payer = caller(`${api.url}/api/payer/v1`, token);
  const pass = await payer.post('/passes', { label: 'A pass' });
  const card = await payer.post('/cards', { label: 'A card' });
  const agent = { account: api.merchant.accountId, amount: 70_000, expires_in: 3600 };
  const known = {
    ...(await knownObjects(api)),
    pass_: [String(pass.body.id)],
    card_: [String(card.body.id)],
    agtok_: [String((await payer.post('/agent_tokens', agent)).body.id)],
  };
  const run = { url: api.url, document: documentOf('payer'), known };
  const ends = ['signOutPayer', 'erasePayerData'];
  const headersOf = bearer(token);
  await runFuzz({ ...run, requests: REQUESTS, reach: 0.7, headersOf, leaveOut: ends });
  const ending = bearer(await signInWallet(api.url, newWallet()));
  await runFuzz({ ...run, requests: REQUESTS / 10, headersOf: ending });
});

test(`pay links: ${REQUESTS} wrong requests, answered as documented`, async () => {
  const known = await knownObjects(api);
  const tokens = (known.pi_ ?? []).map(
    (id) => payToken(TEST_ID_KEY, { id, livemode: false }) ?? '',
  );
  const [terminal] = await api.db.query<{ tag: string }>(
    'select tag from terminals where id = $1',
    [api.merchant.test.terminal],
  );
  const tags = Array(10).fill(tagToken(TEST_ID_KEY, terminal?.tag ?? ''));
  await runFuzz({
    url: api.url,
    document: documentOf('pay'),
    known: { ...known, '{token}': [...tokens, ...tags, 'nothing', '0'.repeat(22)] },
    requests: REQUESTS,
    // Of five routes, one opens receipts, which do not exist here, and two need a signature, which
    // random input seldom produces.
    reach: 0.4,
    headersOf: () => ({}),
  });
});

test('a credential of one API is refused by all others', async () => {
  const device = await addDeviceKey();
  const payer = await signInWallet(api.url, newWallet());
  const merchant = api.merchant.test.key;
  const routes = declaredRoutes();
  const doors = [
    { surface: 'v1', own: merchant, routes: routes.merchant },
    { surface: 'device/v1', own: device, routes: routes.device },
    { surface: 'payer/v1', own: payer, routes: routes.payer },
  ];
  const isOpen = new Set(['/pair', '/pair/preview', '/networks', '/sign_in', '/sign_in/nonce']);
  let asked = 0;
  for (const { surface, own, routes: declared } of doors) {
    for (const { method, path } of declared.filter((route) => !isOpen.has(route.path))) {
      for (const other of [device, payer, merchant, 'nonsense', ''].filter((key) => key !== own)) {
        const response = await fetch(
          `${api.url}/api/${surface}${path.replaceAll(/\{\w+\}/g, 'x')}`,
          {
            method,
            headers: { 'Idempotency-Key': 'door', ...(other === '' ? {} : bearer(other)()) },
          },
        );
        await response.body?.cancel();
        assert.equal(response.status, 401, `${method} ${surface}${path}`);
        asked++;
      }
    }
  }
  assert.ok(asked > 150, `${asked} requests`);
});
