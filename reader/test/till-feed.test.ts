import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { WebSocket } from 'ws';
import { present } from '../../src/core/assert.ts';
import { CLOSED, hashOf, openTillFeed, type TillFeed } from '../src/serve-browser-till.ts';

const ORIGIN = 'https://pay.example.com';
const CODE = '7KMP-3XWR';
const READY = { status: 'ready', readers: ['Reader of a test'] } as const;
const TAPPED = {
  status: 'tapped',
  reader: 'Reader of a test',
  tap: { status: 'read', credential: { type: 'nfc_id', value: 'nfc_secret' } },
} as const;

const feeds: TillFeed[] = [];
after(() => Promise.all(feeds.map((feed) => feed.close())));

async function openFeed(known: { readonly code?: string; readonly tokenHash?: string }) {
  const kept: string[] = [];
  const feed = await openTillFeed({
    port: 0,
    origin: ORIGIN,
    code: known.code ?? null,
    tokenHash: known.tokenHash ?? null,
    onPaired: async (hash) => void kept.push(hash),
    onTill: () => {},
  });
  feeds.push(feed);
  return { feed, kept };
}

async function connect(feed: TillFeed, hello: unknown, origin = ORIGIN) {
  const socket = new WebSocket(`ws://127.0.0.1:${feed.port}/till`, { origin });
  const said: Record<string, unknown>[] = [];
  let wake = () => {};
  socket.on('message', (data) => {
    said.push(JSON.parse(String(data)) as Record<string, unknown>);
    wake();
  });
  const closed = once(socket, 'close').then(([code]) => Number(code));
  await once(socket, 'open');
  socket.send(typeof hello === 'string' ? hello : JSON.stringify(hello));
  return {
    socket,
    said,
    closed,
    next: async () => {
      while (said.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return present(said.shift(), 'a message');
    },
  };
}

test('the code of a till works once; its token is stored hashed', async () => {
  const { feed, kept } = await openFeed({ code: CODE });
  feed.tell(READY);
  const till = await connect(feed, { code: CODE });
  const { status, token } = await till.next();
  assert.equal(status, 'welcome');
  assert.deepEqual(await till.next(), READY);
  assert.deepEqual(kept, [hashOf(String(token))]);
  assert.notEqual(kept[0], token);
  assert.equal(await (await connect(feed, { code: CODE })).closed, CLOSED.refused);
  const again = await connect(feed, { token });
  assert.deepEqual(await again.next(), { status: 'welcome' });
});

test('a tap reaches the newest page of the till and no other client', async () => {
  const { feed } = await openFeed({ tokenHash: hashOf('token') });
  // Without a connected page the tap is dropped, and the next page does not get it.
  feed.tell(TAPPED);
  const first = await connect(feed, { token: 'token' });
  assert.deepEqual(await first.next(), { status: 'welcome' });
  assert.deepEqual(await first.next(), { status: 'no_reader' });
  const second = await connect(feed, { token: 'token' });
  assert.equal(await first.closed, CLOSED.replaced);
  await second.next();
  await second.next();
  feed.tell(TAPPED);
  assert.deepEqual(await second.next(), TAPPED);
  assert.deepEqual(first.said, []);
});

test('a page of another origin is refused, whatever code or token it has', async () => {
  const { feed } = await openFeed({ tokenHash: hashOf('token') });
  for (const origin of [
    'https://evil.example',
    'http://pay.example.com',
    `${ORIGIN}.evil.example`,
  ]) {
    const socket = new WebSocket(`ws://127.0.0.1:${feed.port}/till`, { origin });
    const [error] = (await once(socket, 'error')) as [Error];
    assert.match(error.message, /401/, origin);
  }
});

test('a wrong code or token is refused; after five, none is read for a minute', async () => {
  const { feed } = await openFeed({ code: CODE });
  for (const hello of ['{', '[]', 'null', { code: 7 }, { code: 'AAAA-AAAA', token: '' }]) {
    assert.equal(await (await connect(feed, hello)).closed, CLOSED.refused, JSON.stringify(hello));
  }
  assert.equal(await (await connect(feed, { code: CODE })).closed, CLOSED.tooOften);
});

test('a client that sends nothing, or too much, is disconnected', async () => {
  const { feed } = await openFeed({ tokenHash: hashOf('token') });
  const silent = new WebSocket(`ws://127.0.0.1:${feed.port}/till`, { origin: ORIGIN });
  const [code] = (await once(silent, 'close')) as [number];
  assert.equal(code, CLOSED.refused);
  const long = await connect(feed, { token: 'x'.repeat(1_000) });
  await long.closed;
  assert.deepEqual(long.said, []);
});
