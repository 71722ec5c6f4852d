import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startReceiver } from '#testing/webhook-receiver.ts';
import { openTransport } from '#webhooks/connect-to-receivers.ts';
import { addressPolicy } from '#webhooks/refuse-private-addresses.ts';

test('in the sandbox plain http reaches this machine by its own names only', async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const { port } = new URL(receiver.url);
  const policy = addressPolicy([], { ownMachine: true });
  const network = { policy, resolver: { resolve: async () => ['127.0.0.1'] } };
  const post = async (url: string) => {
    const transport = openTransport(new URL(url), network);
    const reply = await transport.post([], Buffer.from('{}'));
    transport.close();
    return reply;
  };
  for (const host of ['127.0.0.1', 'localhost']) {
    assert.ok((await post(`http://${host}:${port}/`)).answered, host);
  }
  for (const url of [`http://a.example:${port}/`, `https://127.0.0.1:${port}/`]) {
    const reply = await post(url);
    assert.equal(!reply.answered && reply.error, 'address_refused', url);
  }
});
