import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPairingCode } from '#terminals/pairing-code.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { accepted } from '#testkit/fixtures/core/accepted.ts';
import { addTerminal, type TestStore } from '#testkit/fixtures/payments/store.ts';

let store: TestStore;
let server: StoreServer;

before(async () => {
  ({ store, server } = await openServedStore());
});

after(() => server.close());

describe('a device without a key', () => {
  const pair = async (code: string) => {
    const response = await fetch(`${server.url}/api/device/v1/pair`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ code }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, string> };
  };

  async function newCode() {
    const { terminalId: id, deviceKey } = await addTerminal(store.db, store.merchant, new Date());
    const { tenant } = store.merchant;
    const actor = { type: 'system', name: 'tests' } as const;
    const made = await store.db.transaction((tx) =>
      createPairingCode(tx, { tenant, id, actor, byFreshFactor: false, now: new Date() }),
    );
    return { id, deviceKey, code: accepted(made).code };
  }

  test('learns which terminal a code belongs to; the code can still be used', async () => {
    const { id, code } = await newCode();
    const look = () =>
      fetch(`${server.url}/api/device/v1/pair/preview`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ code }),
      });
    for (let round = 0; round < 2; round += 1) {
      const response = await look();
      const body = (await response.json()) as Record<string, unknown>;
      assert.equal(response.status, 200);
      const { id: shown, merchant_name, livemode, by_fresh_factor } = body;
      assert.deepEqual(
        { shown, merchant_name, livemode, by_fresh_factor },
        { shown: id, merchant_name: store.merchant.name, livemode: false, by_fresh_factor: false },
      );
    }
    assert.equal((await pair(code)).status, 201);
    assert.equal((await look()).status, 400, 'used up');
  });

  test('gets a key for a pairing code, once; the terminal’s old key ends', async () => {
    const { id, code, deviceKey } = await newCode();
    const paired = await pair(code.toLowerCase().replace('-', ' '));
    assert.equal(paired.status, 201);
    assert.equal(paired.body.terminal, id);
    const caller = server.device(paired.body.device_key);
    assert.equal((await caller.get('/terminal')).body.id, id);
    assert.equal((await pair(code)).status, 400);
    assert.equal((await server.device(deviceKey).get('/terminal')).status, 401);
  });

  test('gets no key for a made-up code', async () => {
    assert.equal((await pair('AAAA-AAAA')).status, 400);
  });
});
