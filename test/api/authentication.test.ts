import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApi } from '#testkit/apis/api.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

const api = openForTests(() => startTestApi({ env: { TRUSTED_PROXIES: '127.0.0.1' } }));

/** Longer than the time for which a process caches a key. */
const FORGET_MS = 800;

async function codeFor(key: string | null, headers: Record<string, string> = {}) {
  const { status, body } = await api.call({ path: '/v1/terminals', key, headers });
  return status === 200 ? 200 : `${status} ${body.error.code}`;
}

test('an expired key is refused', async () => {
  const expiresAt = new Date(Date.now() + 300);
  const { secret } = await api.addKey(api.merchant.test.tenant, { expiresAt });
  assert.equal(await codeFor(secret), 200);
  await sleep(400);
  assert.equal(await codeFor(secret), '401 api_key_expired');
});

test('a revoked key is refused within a second', async () => {
  const { id, secret } = await api.addKey(api.merchant.test.tenant);
  assert.equal(await codeFor(secret), 200);
  await api.db.query('update api_keys set revoked_at = now() where id = $1', [id]);
  await sleep(FORGET_MS);
  assert.equal(await codeFor(secret), '401 api_key_revoked');
});

test('keys of a disabled account are refused', async () => {
  const stranger = await api.addMerchant();
  await api.db.query(`update accounts set status = 'disabled' where id = $1`, [stranger.accountId]);
  assert.equal(await codeFor(stranger.test.key), '403 account_disabled');
});

test('an allowlist admits only its addresses, IPv4 and IPv6, single and as a range', async () => {
  const { tenant } = api.merchant.test;
  const ipAllowlist = ['192.0.2.7', '198.51.100.0/24', '2001:db8::/32'];
  const { secret } = await api.addKey(tenant, { ipAllowlist });
  const from = (address: string) => codeFor(secret, { 'x-forwarded-for': address });
  assert.equal(await from('192.0.2.7'), 200);
  assert.equal(await from('198.51.100.200'), 200);
  assert.equal(await from('2001:db8:1::1'), 200);
  assert.equal(await from('::ffff:192.0.2.7'), 200);
  assert.equal(await from('192.0.2.8'), '403 ip_not_allowed');
  assert.equal(await from('2001:db9::1'), '403 ip_not_allowed');
  assert.equal(await codeFor(secret), '403 ip_not_allowed');
  // The trusted proxy appends the address that it saw to those that the client claimed.
  assert.equal(await from('192.0.2.7, 203.0.113.9'), '403 ip_not_allowed');
});

test('every spelling of the header that is not a bearer key is refused', async () => {
  const { key } = api.merchant.test;
  const send = (authorization: string) => codeFor(null, { authorization });
  assert.equal(await send(`bearer ${key}`), 200);
  for (const wrong of [key, `Basic ${btoa(`${key}:`)}`, 'Bearer', `Bearer ${key} x`, `Bearer  `]) {
    assert.equal(await send(wrong), '401 api_key_invalid', wrong);
  }
});

test('a key of another kind is refused', async () => {
  const rows = await api.db.query('select hash from device_keys limit 1');
  assert.equal(rows.length, 1);
  assert.equal(await codeFor('tldk_test_abc'), '401 api_key_invalid');
});

test('the last use of a key is recorded, with a delay', async () => {
  const { id, secret } = await api.addKey(api.merchant.test.tenant);
  await codeFor(secret);
  await sleep(200);
  const rows = await api.db.query<{ used: boolean }>(
    'select last_used_at is not null as used from api_keys where id = $1',
    [id],
  );
  assert.deepEqual(rows, [{ used: true }]);
});
