import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredRoutes } from '#app/declared-routes.ts';
import { hashSecret, newSecret } from '#core/bearer-secrets.ts';
import { payToken } from '#payments/pay-link.ts';
import { tagToken } from '#terminals/tag-url.ts';
import { caller } from '#testkit/apis/api-client.ts';
import { newWallet, signInWallet } from '#testkit/apis/wallet-sign-in.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { TEST_ID_KEY } from '#testkit/fixtures/payments/store.ts';
import {
  documentOf,
  knownObjects,
  runFuzz,
  spared,
  startFuzzedApi,
} from '#testkit/simulation/fuzz-run.ts';

/** Requests per API; `FUZZ_REQUESTS` sets another number. The merchant API has its own test. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 2_000);
const ENDED_SESSIONS = 10;
/**
 * Number of passes, of cards and of agent tokens that a payer gets; requests delete some of them.
 */
const OF_A_KIND = 6;
const FILE = 'api/fuzz-surfaces';

const api = openForTests(startFuzzedApi);

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
  await runFuzz(api, {
    ...{ document: documentOf('device'), known, requests: REQUESTS, file: FILE },
    unreached: {
      'random text is no pairing code': ['previewPairing', 'pairDevice'],
      'only a sandbox has test passes': ['listTestPasses'],
      'random bytes are no signed sale': ['forwardOfflinePayments'],
      'nothing signs fiscal receipts': ['signDeviceFiscalReceipt'],
    },
    headersOf: bearer(await addDeviceKey()),
  });
});

test(`payers: ${REQUESTS} wrong requests, answered as documented`, async () => {
  const wallet = newWallet();
  const token = await signInWallet(api.url, wallet);
  const payer = caller(`${api.url}/api/payer/v1`, token);
  const some = async (path: string, body: object) => {
    const ids: string[] = [];
    while (ids.length < OF_A_KIND) ids.push(String((await payer.post(path, body)).body.id));
    return ids;
  };
  const agent = { account: api.merchant.accountId, amount: 70_000, expires_in: 3600 };
  const known = {
    ...(await knownObjects(api)),
    pass_: await some('/passes', { label: 'A pass' }),
    card_: await some('/cards', { label: 'A card' }),
    agtok_: await some('/agent_tokens', agent),
  };
  const other = await signInWallet(api.url, newWallet());
  const isSpared = spared(['revokePass', 'deleteCard', 'revokeAgentToken']);
  // These operations end the session, so they run in the sessions of other wallets.
  const ends = ['signOutPayer', 'erasePayerData'];
  const ending = await Promise.all(
    Array.from({ length: ENDED_SESSIONS }, () => signInWallet(api.url, newWallet())),
  );
  await runFuzz(api, {
    ...{ document: documentOf('payer'), known, requests: REQUESTS, file: FILE },
    unreached: {
      'random bytes are no signature': ['signInPayer', 'signPayerAgain'],
      'no payment waits for this payer': [
        ...['getConfirmation', 'approveConfirmation', 'rejectConfirmation'],
      ],
      'no approval was begun': ['retrieveApproval'],
      'the wallet has no chip': ['updateChip', 'deleteChip'],
    },
    headersOf: (request) => {
      if (isSpared(request)) return bearer(other)();
      const [next = token] = ends.includes(request.operationId) ? ending : [];
      if (next !== token) ending.push(...ending.splice(0, 1));
      return bearer(next)();
    },
  });
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
  await runFuzz(api, {
    document: documentOf('pay'),
    known: { ...known, '{token}': [...tokens, ...tags, 'nothing', '0'.repeat(22)] },
    requests: REQUESTS,
    unreached: {
      'no sale is paid, so there is no receipt': ['retrieveReceipt'],
      'random bytes are no signature': ['authorizeTagPayment'],
    },
    headersOf: () => ({}),
    file: FILE,
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
  let requestCount = 0;
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
        requestCount++;
      }
    }
  }
  assert.ok(requestCount > 150, `${requestCount} requests`);
});
