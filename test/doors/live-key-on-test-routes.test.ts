import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { SCOPES } from '#accounts/api-key-scopes.ts';
import { createApiKey } from '#accounts/create-api-key.ts';
import { isRefusal } from '#core/answer.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addOwner } from '#testkit/apis/people.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

/** The flaw: with a live key, a test helper read the request body before it answered 404. */

const keys = { test: '', live: '' };

const server = openForTests(startDashboardServer, async () => {
  const { accountId } = await addOwner(server, 'owner@helpers.test');
  await server.db.query("update accounts set kyb_status = 'approved' where id = $1", [accountId]);
  for (const mode of ['test', 'live'] as const) {
    const tenant = { accountId, livemode: mode === 'live' };
    const input = { name: 'k', scopes: SCOPES, ipAllowlist: [], expiresAt: null };
    const actor = { type: 'system', name: 'test' } as const;
    const now = server.clock.now();
    const key = await server.db.transaction((tx) =>
      createApiKey(tx, { ...input, tenant, actor, now }),
    );
    assert.ok(!isRefusal(key));
    keys[mode] = key.secret;
  }
});

/** Sends the headers but never the body. */
async function headersOnly(path: string, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asking = request(`${server.merchantApi}${path}`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        'Content-Length': 1000,
      },
    });
    asking.once('response', (response) => {
      resolve(response.statusCode ?? 0);
      asking.destroy();
    });
    asking.once('error', reject);
    asking.setTimeout(1_500, () => {
      resolve(0);
      asking.destroy();
    });
    asking.flushHeaders();
  });
}

test('a live key gets 404 from every helper before it has sent a body', async () => {
  for (const path of ['/test_helpers/events/trigger', '/test_helpers/agent_tokens']) {
    assert.equal(await headersOnly(path, keys.live), 404, path);
    assert.equal(
      await headersOnly(path, keys.test),
      0,
      'the server waits for the body of a request with a test key',
    );
  }
});
