import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

/** The flaw: a compressed body was read as plain text, because the server decompresses none. */

const server = openForTests(startDashboardServer);

const JSON_BODY = JSON.stringify({ email: 'a@b.test', password: 'correct horse battery' });

async function send(body: Buffer | string, encoding: string) {
  const response = await fetch(`${server.dashboard}/session`, {
    method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: { 'Content-Type': 'application/json', 'Content-Encoding': encoding },
  });
  const { error } = (await response.json()) as { error: { code: string } };
  return { status: response.status, code: error.code };
}

test('every encoding but identity is 415, compressed or not', async () => {
  for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'x-gzip', 'identity, gzip', 'made-up']) {
    for (const body of [gzipSync(JSON_BODY), JSON_BODY]) {
      const refused = { status: 415, code: 'content_type_unsupported' };
      assert.deepEqual(await send(body, encoding), refused, encoding);
    }
  }
});

test('identity is the same as no header', async () => {
  for (const encoding of ['identity', 'Identity']) {
    assert.deepEqual(await send(JSON_BODY, encoding), { status: 401, code: 'sign_in_failed' });
  }
});

test('an upload cannot be compressed either', async () => {
  const client = new PersonClient(server.dashboard);
  const packed = await client.send('POST', '/session', gzipSync(JSON_BODY), {
    'Content-Type': 'application/json',
    'Content-Encoding': 'gzip',
  });
  assert.equal(packed.status, 415);
});
