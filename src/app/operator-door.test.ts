import assert from 'node:assert/strict';
import { request as send } from 'node:http';
import { after, before, test } from 'node:test';
import { operatorDoor } from '#app/operator-door.ts';
import { startTestApi, type TestApi } from '#testing/api.ts';

/** Where staff come in, when that has an address of its own. */

let api: TestApi;

before(async () => {
  const env = { OPERATOR_URL: 'http://staff.test', OPERATOR_ALLOW_CIDRS: '127.0.0.0/8' };
  api = await startTestApi({ env });
});

after(() => api.close());

/** fetch() sends a Host of its own. */
function statusAt(path: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api.url);
    const asked = send({ hostname, port, path, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on('error', reject).end();
  });
}

test('the operator API is at its own address, and nowhere else', async () => {
  for (const path of ['/api/operator/v1/session', '/api/%6fperator/v1/session']) {
    assert.equal(await statusAt(path, 'shop.test'), 404, path);
    for (const host of ['staff.test', 'Staff.test', 'staff.test:80']) {
      assert.equal(await statusAt(path, host), 401, `${path} at ${host}`);
    }
    assert.equal(await statusAt(path, 'staff.test:8080'), 404, path);
  }
  assert.equal(await statusAt('/api/dashboard/v1/session', 'shop.test'), 401);
});

test('addresses that are not listed find nothing there', () => {
  const open = operatorDoor({
    operatorUrl: null,
    operatorAllowCidrs: ['10.1.0.0/16', '2001:db8::/64'],
  });
  const at = (ip: string, url = '/operator/accounts') => open({ url, ip, headers: {} });
  assert.deepEqual(
    [at('10.1.2.3'), at('2001:db8::5'), at('10.2.0.1'), at('2001:db8:1::5')],
    [true, true, false, false],
  );
  assert.ok(at('10.2.0.1', '/operators-of-something'), 'other pages are for all');
  assert.ok(!at('10.2.0.1', '/API/Operator/v1/kyb'));
});
