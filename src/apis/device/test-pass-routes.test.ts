import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { serveStore } from '#testkit/apis/store-server.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { addMerchant, addTerminal, openStore } from '#testkit/fixtures/payments/store.ts';

const store = openForTests(openStore);

test('a sandbox shows its test passes to terminals in test mode only', async () => {
  const testPasses = { ok: 'nfc_1', no_approval: 'nfc_2' };
  const sandbox = await serveStore(store, { testPasses });
  const { status, body } = await sandbox.device().get('/test_passes');
  assert.equal(status, 200);
  assert.deepEqual(body.passes, [
    { name: 'ok', credential: 'nfc_1' },
    { name: 'no_approval', credential: 'nfc_2' },
  ]);
  const live = await addMerchant(store.db, { livemode: true, now: new Date() });
  const { deviceKey } = await addTerminal(store.db, live, new Date());
  const refused = await sandbox.device(deviceKey).get('/test_passes');
  assert.equal(refused.status, 404);
  await sandbox.close();
});

test('without demo data there are no test passes', async () => {
  const server = await serveStore(store);
  const { status, body } = await server.device().get('/test_passes');
  assert.equal(status, 404);
  assert.equal(errorCodeOf(body), 'route_missing');
  await server.close();
});
