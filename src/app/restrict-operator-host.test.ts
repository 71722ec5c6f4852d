import assert from 'node:assert/strict';
import { request as send } from 'node:http';
import { after, before, test } from 'node:test';
import { buildApi } from '#app/api-role.ts';
import { operatorDoor } from '#app/restrict-operator-host.ts';
import { startTestApi, type TestApi } from '#testkit/apis/api.ts';
import { sendRaw } from '#testkit/apis/http-kit.ts';

let api: TestApi;

before(async () => {
  const env = { OPERATOR_URL: 'http://staff.test', OPERATOR_ALLOW_CIDRS: '127.0.0.0/8' };
  api = await startTestApi({ build: buildApi, env });
});

after(() => api.close());

/** fetch() sends its own Host header. */
function statusAt(path: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api.url);
    const request = send({ hostname, port, path, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', reject).end();
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

test('no variant of a host, and no second host, opens the operator API', async () => {
  const path = '/api/operator/v1/session';
  const { port } = new URL(api.url);
  const ask = async (target: string, host: string) => {
    const bytes = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    return (await sendRaw(Number(port), bytes, 200)).status;
  };
  const odd = ['x@staff.test', 'staff.test/x', 'staff.te%73t', 'staff.\ttest', 'staff.test\\x'];
  for (const host of [...odd, 'staff.test#x', 'staff.test?x', 'shop.test, staff.test']) {
    assert.equal(await ask(path, host), 400, host);
  }
  const twice = 'shop.test\r\nHost: staff.test';
  assert.equal(await ask(path, twice), 400);
  for (const target of [`${path}#`, '/operator#x', `http://shop.test@staff.test${path}`]) {
    assert.equal(await ask(target, 'staff.test'), 400, target);
  }
  assert.equal(await ask(`http://staff.test${path}`, 'shop.test'), 404, 'the Host header differs');
  assert.equal(await ask(`http://shop.test${path}`, 'staff.test'), 404, 'the URL differs');
  assert.equal(await ask(`http://staff.test:80${path}`, 'staff.test'), 401);
});

test('a number that a browser would read as an IP address is a different host', () => {
  const open = operatorDoor({ operatorUrl: 'http://127.0.0.1:81', operatorAllowCidrs: [] });
  const at = (host: string) =>
    open({ url: '/operator', originalUrl: '/operator', ip: '::1', headers: { host } });
  assert.deepEqual(['127.0.0.1:81', '127.1:81', '0x7f000001:81'].map(at), [true, false, false]);
});

test('addresses that are not listed get 404 there', () => {
  const open = operatorDoor({
    operatorUrl: null,
    operatorAllowCidrs: ['10.1.0.0/16', '2001:db8::/64'],
  });
  const at = (ip: string, url = '/operator/accounts') =>
    open({ url, originalUrl: url, ip, headers: {} });
  assert.deepEqual(
    [at('10.1.2.3'), at('2001:db8::5'), at('10.2.0.1'), at('2001:db8:1::5')],
    [true, true, false, false],
  );
  assert.ok(at('10.2.0.1', '/operators-of-something'), 'other pages are for all');
  assert.ok(!at('10.2.0.1', '/API/Operator/v1/kyb'));
});
