import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { Tapline } from 'tapline';
import { openForTests } from '../../testkit/fixtures/core/open-for-tests.ts';
import { KEY, refusal, startScriptedApi } from './scripted-api.ts';

const LIVE_KEY = KEY.replace('test', 'live');
const EMPTY = { status: 200, body: { data: [], next_cursor: null } };
const DOCUMENT = path.join(import.meta.dirname, '../../openapi.json');
const MANIFEST = path.join(import.meta.dirname, '../../sdk/package.json');

const api = openForTests(startScriptedApi);
afterEach(() => setEnvironment({}));

function setEnvironment(env: { readonly key?: string; readonly url?: string }): void {
  for (const [name, value] of [
    ['TAPLINE_API_KEY', env.key],
    ['TAPLINE_BASE_URL', env.url],
  ] as const) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

/** Reads the balance. @returns the key that the service received. */
async function keySentBy(tapline: Tapline): Promise<string | undefined> {
  api.script(EMPTY);
  await tapline.balance.retrieve();
  return api.seen[0]?.headers.authorization?.replace('Bearer ', '');
}

test('without arguments the client uses the environment', async () => {
  setEnvironment({ key: LIVE_KEY, url: `${api.baseUrl}/` });
  assert.equal(await keySentBy(new Tapline()), LIVE_KEY);
  assert.equal(await keySentBy(new Tapline(undefined, { timeout: 1_000 })), LIVE_KEY);
});

test('a given key overrides the one in the environment', async () => {
  setEnvironment({ key: LIVE_KEY, url: api.baseUrl });
  assert.equal(await keySentBy(new Tapline(KEY)), KEY);
  setEnvironment({ key: LIVE_KEY, url: 'http://127.0.0.1:1/api' });
  assert.equal(await keySentBy(new Tapline(KEY, { baseUrl: api.baseUrl })), KEY);
});

test('the environment’s key never goes to a URL that the program passes', () => {
  setEnvironment({ key: KEY, url: 'https://pay.example/api' });
  assert.throws(() => new Tapline(undefined, { baseUrl: api.baseUrl }), {
    name: 'UsageError',
    message: /TAPLINE_API_KEY is sent to TAPLINE_BASE_URL only/,
  });
});

test('without a key, the error says what to set', () => {
  const words = /^No secret key: set TAPLINE_API_KEY and TAPLINE_BASE_URL/;
  for (const key of [undefined, '']) {
    setEnvironment(key === undefined ? {} : { key });
    assert.throws(() => new Tapline(), { name: 'UsageError', message: words });
  }
  setEnvironment({ key: LIVE_KEY });
  assert.throws(() => new Tapline(), { message: /live key needs.*TAPLINE_BASE_URL/ });
  setEnvironment({ key: KEY, url: 'shop' });
  assert.throws(() => new Tapline(), { message: /TAPLINE_BASE_URL is 'shop'/ });
});

test('works without a process object, or without access to it', async () => {
  const own = Object.getOwnPropertyDescriptor(globalThis, 'process');
  assert.ok(own);
  const forbids = {
    get env() {
      throw new Error('NotCapable');
    },
  };
  const made: unknown[] = [];
  for (const value of [undefined, {}, forbids]) {
    Object.defineProperty(globalThis, 'process', { value, configurable: true });
    try {
      made.push(new Tapline(KEY));
      new Tapline();
    } catch (error) {
      made.push((error as Error).message);
    } finally {
      Object.defineProperty(globalThis, 'process', own);
    }
  }
  assert.equal(made.length, 6);
  for (const index of [0, 2, 4]) assert.ok(made[index] instanceof Tapline);
  for (const index of [1, 3, 5]) assert.match(String(made[index]), /^No secret key/);
});

test('calls and streams name the package with its version, and the API’s version', async () => {
  const { version } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string };
  api.script(EMPTY);
  await api.tapline.balance.retrieve();
  assert.equal(api.seen[0]?.headers['user-agent'], `tapline-js/${version}`);
  const { info } = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as { info: { version: string } };
  assert.equal(api.seen[0]?.headers['service-version'], info.version);
  const event = { id: 'evt_1', type: 'payment.succeeded' };
  const headers = { 'Content-Type': 'text/event-stream' };
  api.script({ status: 200, body: `data: ${JSON.stringify(event)}\n\n`, headers });
  for await (const one of api.tapline.events.stream({ after: 'evt_0' })) {
    assert.equal(one.id, 'evt_1');
    break;
  }
  assert.equal(api.seen[0]?.headers['service-version'], info.version);
  assert.equal(api.seen[0]?.headers['user-agent'], `tapline-js/${version}`);
});

test('an account without events streams at once, from its beginning', async () => {
  const none = { object: 'list', data: [], has_more: false, next_cursor: null };
  const event = { id: 'evt_1', type: 'payment.succeeded' };
  const headers = { 'Content-Type': 'text/event-stream' };
  const stream = { status: 200, body: `data: ${JSON.stringify(event)}\n\n`, headers };
  api.script({ status: 200, body: none }, stream);
  for await (const one of api.tapline.events.stream()) {
    assert.equal(one.id, 'evt_1');
    break;
  }
  const [request, opened, ...others] = api.seen.map(({ url }) => url.replace('/api/v1', ''));
  assert.deepEqual([request, opened], ['/events?limit=1', '/events/stream?after=start']);
  assert.deepEqual(others, []);
  // The client polls the list of a service that has no stream route.
  const refused = refusal(400, 'invalid_request_error', 'cursor_invalid');
  const page = { ...none, data: [event] };
  api.script({ status: 200, body: none }, refused, { status: 200, body: page });
  for await (const one of api.tapline.events.stream()) {
    assert.equal(one.id, 'evt_1');
    break;
  }
});
