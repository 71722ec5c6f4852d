import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { answerWith } from '#core/answer.ts';
import {
  bareRoute,
  bareSurface,
  GOOD_KEY,
  type RawAnswer,
  sendRaw,
  startBareServer,
} from '#testkit/apis/http-kit.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

let runs = 0;

const route = (method: 'GET' | 'POST') =>
  bareRoute({
    method,
    path: '/things',
    handle: async () => {
      runs++;
      return answerWith(200, {});
    },
  });

const server = openForTests(() =>
  startBareServer({
    surfaces: [bareSurface([route('GET'), route('POST')])],
    timeLimits: { headersMs: 300, requestMs: 500, checkEveryMs: 50 },
  }),
);

const head = (method: string, ...lines: string[]) =>
  [`${method} /api/v1/things HTTP/1.1`, `Authorization: Bearer ${GOOD_KEY}`, ...lines, '', ''].join(
    '\r\n',
  );

const HOST = 'Host: localhost';
const JSON_TYPE = 'Content-Type: application/json';
const CHUNKED_EMPTY_OBJECT = '2\r\n{}\r\n0\r\n\r\n';
/** The request that an attacker tries to smuggle inside another one. */
const SMUGGLED = head('POST', HOST, 'Content-Length: 0');

function assertRefused(answer: RawAnswer, what: string): void {
  assert.match(String(answer.status), /^(400|408|431)$/, `${what}: status ${answer.status}`);
  assert.equal(JSON.parse(answer.text).error.code, 'body_invalid', what);
  for (const name of ['request-id', 'service-version', 'ratelimit-limit', 'ratelimit-remaining']) {
    assert.ok(answer.headers[name], `${what}: ${name}`);
  }
  assert.ok(answer.closed, `${what}: the connection stays open`);
  assert.equal(answer.responses, 1, `${what}: one response`);
}

const toUrl = (root: string) => head('POST', HOST, 'Content-Length: 2').replace('/api', root);

const SHAPES: Readonly<Record<string, string>> = {
  'both lengths': head('POST', HOST, JSON_TYPE, 'Content-Length: 2', 'Transfer-Encoding: chunked'),
  'two lengths': head('POST', HOST, JSON_TYPE, 'Content-Length: 2', 'Content-Length: 5'),
  'a signed length': head('POST', HOST, JSON_TYPE, 'Content-Length: +2'),
  'an encoding before chunked': head('POST', HOST, JSON_TYPE, 'Transfer-Encoding: gzip, chunked'),
  'an unknown encoding': head('POST', HOST, JSON_TYPE, 'Transfer-Encoding: xchunked'),
  'chunked twice': head(
    'POST',
    HOST,
    JSON_TYPE,
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: chunked',
  ),
  'a space before the colon': head('POST', HOST, JSON_TYPE, 'Transfer-Encoding : chunked'),
  'chunked in HTTP/1.0': head('POST', HOST, JSON_TYPE, 'Transfer-Encoding: chunked').replace(
    'HTTP/1.1',
    'HTTP/1.0',
  ),
  'no host': head('POST', JSON_TYPE, 'Content-Length: 2'),
  'two hosts': head('POST', HOST, HOST, JSON_TYPE, 'Content-Length: 2'),
  'an empty host': head('POST', 'Host:', 'Content-Length: 2'),
  'two hosts in one line': head('POST', 'Host: localhost, localhost', 'Content-Length: 2'),
  'a fragment behind the path': head('POST', HOST, 'Content-Length: 2').replace(
    'things',
    'things#a',
  ),
  'a fragment behind the query': head('POST', HOST, 'Content-Length: 2').replace(
    'things',
    'things?a=b#c',
  ),
  'a URL that names a user': toUrl('http://a@localhost/api'),
  'a URL that names no host': toUrl('http:///api'),
  'a URL with an escape in its host': toUrl('http://loc%61lhost/api'),
  'a URL with a host and no port': toUrl('http://localhost:x/api'),
  'a URL of another protocol': toUrl('ftp://localhost/api'),
  'no target but an asterisk': head('POST', HOST, 'Content-Length: 2').replace(/ \S+/, ' *'),
  'a folded header': head('POST', HOST, 'X-Folded: a', ' b', 'Content-Length: 2'),
  'a bare carriage return': head('POST', HOST, 'X-Bare: a\rb', 'Content-Length: 2'),
  'a NUL in a header': head('POST', HOST, 'X-Nul: a\0b', 'Content-Length: 2'),
  'a later HTTP': head('POST', HOST, 'Content-Length: 2').replace('HTTP/1.1', 'HTTP/2.0'),
};

for (const [what, bytes] of Object.entries(SHAPES)) {
  test(`a request with ${what} is refused, and nothing after it is read`, async () => {
    runs = 0;
    assertRefused(await sendRaw(server.port, bytes + CHUNKED_EMPTY_OBJECT + SMUGGLED), what);
    assert.equal(runs, 0);
  });
}

test('an invalid host is refused, for any target', async () => {
  const odd = [
    'x@a.test',
    'a.test/x',
    'a.test?x',
    'a.te%73t',
    'a\ttest',
    'a test',
    'a..test',
    '.a',
  ];
  const addresses = ['[::1', '::1', '[::g]', '[fe80::1%25eth0]', '[127.0.0.1]', 'a.test[::1]'];
  const ports = ['a.test:x', 'a.test:-1', 'a.test:65536', 'a.test:1:2', ':80', 'a.test:0x50'];
  const bytes = ['b\u00fccher.test', 'a\\b', 'a"b', 'a;b', 'a#b', 'a,b', "a'b", 'a'.repeat(256)];
  for (const host of [...odd, ...addresses, ...ports, ...bytes]) {
    for (const path of ['/api/v1/things', '/nowhere']) {
      const bytes = head('GET', `Host: ${host}`).replace('/api/v1/things', path);
      assertRefused(await sendRaw(server.port, Buffer.from(bytes, 'latin1')), `${host} ${path}`);
    }
  }
  for (const host of [
    'a',
    'a.test.',
    'A_b-c.test:80',
    '[::1]:4242',
    '127.0.0.1:',
    '[::ffff:1.2.3.4]',
  ]) {
    assert.equal(
      (await sendRaw(server.port, head('GET', `Host: ${host}`, 'Connection: close'))).status,
      200,
      host,
    );
  }
});

test('bare line feeds and requests without a version are refused', async () => {
  const lineFeeds = head('GET', HOST).replaceAll('\r\n', '\n');
  assertRefused(await sendRaw(server.port, lineFeeds), 'line feeds');
  assertRefused(await sendRaw(server.port, 'GET /api/v1/things\r\n\r\n'), 'HTTP/0.9');
});

test('headers and URLs beyond 16 KiB are refused', async () => {
  const header = head('GET', HOST, `X-Long: ${'a'.repeat(20_000)}`);
  assertRefused(await sendRaw(server.port, header), 'header');
  const url = head('GET', HOST).replace('things', 'a'.repeat(20_000));
  assertRefused(await sendRaw(server.port, url), 'url');
});

test('a client that sends its headers too slowly is cut off', async () => {
  const answer = await drip(head('GET', HOST, `X-Slow: ${'a'.repeat(500)}`));
  assertRefused(answer, 'slow headers');
  assert.equal(answer.status, 408);
});

test('a client that sends its body too slowly is cut off', async () => {
  const slow = head('POST', HOST, JSON_TYPE, 'Content-Length: 1000');
  const answer = await drip(`${slow}{"a":"${'b'.repeat(900)}`, slow.length);
  assertRefused(answer, 'slow body');
});

test('an unknown expectation and an upgrade change nothing', async () => {
  const expecting = head('POST', HOST, JSON_TYPE, 'Expect: magic', 'Content-Length: 2');
  assert.equal((await sendRaw(server.port, `${expecting}{}`, 200)).status, 200);
  const upgrading = head('GET', HOST, 'Upgrade: h2c', 'Connection: Upgrade');
  assert.equal((await sendRaw(server.port, upgrading, 200)).status, 200);
});

test('an absolute URL is read as its path, and one without a path as the root', async () => {
  for (const root of ['http://localhost', 'http://localhost?a=b']) {
    const bare = head('GET', HOST).replace('/api/v1/things', root);
    assert.equal((await sendRaw(server.port, bare, 200)).status, 404, root);
  }
  const absolute = head('GET', HOST).replace('/api', 'http://somewhere.example/api');
  assert.equal((await sendRaw(server.port, absolute, 200)).status, 200);
});

test('consecutive requests on one connection are all answered', async () => {
  const answer = await sendRaw(server.port, head('GET', HOST).repeat(3), 200);
  assert.equal(answer.responses, 3);
});

/** Sends the first `atOnce` bytes, then one every 20 ms. */
function drip(bytes: string, atOnce = 0): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(server.port, '127.0.0.1');
    let sent = atOnce;
    let text = '';
    socket.write(bytes.slice(0, atOnce));
    const timer = setInterval(() => socket.write(bytes.slice(sent, ++sent)), 20);
    const late = setTimeout(() => socket.destroy(), 3_000);
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(timer);
      clearTimeout(late);
      const [top = '', body = ''] = text.split('\r\n\r\n');
      const [line = '', ...lines] = top.split('\r\n');
      const headers = Object.fromEntries(
        lines.map((each) => [each.split(': ')[0]?.toLowerCase(), each.split(': ')[1]]),
      );
      const status = Number(line.split(' ')[1]);
      resolve({ status, headers, text: body, closed: true, responses: 1 });
    });
  });
}

test('garbage after a request that is still running gets no separate response', async () => {
  const answer = await sendRaw(server.port, `${head('GET', HOST)}\0\0rubbish\r\n\r\n`);
  assert.ok(answer.closed);
  assert.ok(answer.responses <= 1);
});
