import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { OutcomeUnknownError, Tapline } from 'tapline';
import { nodeFetch } from 'tapline/node-fetch';
import {
  ENCODED,
  type EncodingServer,
  recordDecoders,
  startEncodingServer,
} from '../../testkit/network/encoded-responses.ts';
import { listen } from '../../testkit/network/listen.ts';
import { KEY } from './scripted-api.ts';

const decoders = recordDecoders();
const ways = Object.keys(ENCODED) as (keyof typeof ENCODED)[];
let server: EncodingServer;

before(async () => {
  server = await startEncodingServer();
});
after(() => server.close());
beforeEach(() => {
  server.accepted.length = 0;
  decoders.length = 0;
});

test('every request of the client asks for an uncompressed response', async () => {
  const tapline = new Tapline(KEY, { baseUrl: `${server.url}/api`, maxRetries: 0 });
  await tapline.payments.retrieve('pay_1').catch(() => {});
  await tapline.refunds.create({ payment: 'pay_1' }).catch(() => {});
  await tapline.events
    .stream()
    .next()
    .catch(() => {});
  assert.ok(server.accepted.length >= 3);
  assert.deepEqual([...new Set(server.accepted)], ['identity']);
  assert.ok(decoders.length > 0, 'the recorder sees what Node’s own fetch decodes');
});

for (const way of ways) {
  test(`nodeFetch refuses a compressed response (${way}) and decodes nothing`, async () => {
    server.sends = way;
    await assert.rejects(nodeFetch(server.url), ({ cause }: { cause: Error }) =>
      /compressed/.test(cause.message),
    );
    const options = { baseUrl: `${server.url}/api`, maxRetries: 0, fetch: nodeFetch };
    const refund = new Tapline(KEY, options).refunds.create({ payment: 'pay_1' });
    await assert.rejects(refund, OutcomeUnknownError);
    assert.deepEqual(server.accepted, ['identity', 'identity']);
    assert.deepEqual(decoders, []);
  });
}

test('nodeFetch fails as fetch does: lost connection, cut body, abort', async (t) => {
  const raw = createServer((socket) => {
    socket.write(
      'HTTP/1.1 200 OK\r\nContent-Length: 9\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\nhalf',
    );
    setTimeout(() => socket.destroy(), 100);
  });
  const { url, close } = await listen(raw);
  t.after(close);
  const failed = { name: 'TypeError', message: 'fetch failed' };
  const response = await nodeFetch(url);
  assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2']);
  await assert.rejects(response.text(), failed);
  await assert.rejects(nodeFetch('http://127.0.0.1:1'), failed);
  const late = await nodeFetch(url, { signal: AbortSignal.timeout(50) });
  await assert.rejects(late.text(), { name: 'TimeoutError' });
  const cancelled = await nodeFetch(url);
  await cancelled.body?.cancel();
});
