import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startReceiver, type TestReceiver } from '#testkit/network/webhook-receiver.ts';
import { type Network, openTransport } from '#webhooks/connect-to-receivers.ts';
import type { Reply } from '#webhooks/http-exchange.ts';
import { addressPolicy } from '#webhooks/refuse-private-addresses.ts';

const LOCAL = ['127.0.0.0/8', '::1/128'];
const body = Buffer.from('{"id":"evt_1"}');

function networkFor(answers: () => readonly string[], allow: readonly string[] = LOCAL): Network {
  return { policy: addressPolicy(allow), resolver: { resolve: async () => answers() } };
}

const loopback = networkFor(() => ['127.0.0.1']);

async function post(url: string, network: Network = loopback): Promise<Reply> {
  const transport = openTransport(new URL(url), network);
  try {
    return await transport.post(['content-type', 'application/json'], body);
  } finally {
    transport.close();
  }
}

async function receiverFor(t: TestContext, host?: string): Promise<TestReceiver> {
  const receiver = await startReceiver(host);
  t.after(() => receiver.close());
  return receiver;
}

interface RawServer {
  readonly url: string;
  /** Resolves when the client has closed its connection. */
  closed(): Promise<unknown>;
  close(): void;
}

/**
 * Starts a TCP server that does not parse HTTP: once the request has arrived, `speak` writes the
 * response.
 */
async function rawServer(speak: (socket: Socket) => void): Promise<RawServer> {
  const sockets = new Set<Socket>();
  let sawClose: (value: unknown) => void = () => {};
  const closed = new Promise((resolve) => {
    sawClose = resolve;
  });
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', sawClose);
    socket.once('data', () => speak(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    closed: () => closed,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

async function against(speak: (socket: Socket) => void): Promise<Reply> {
  const server = await rawServer(speak);
  try {
    const reply = await post(server.url);
    // The client itself must have destroyed the socket, without waiting for the receiver.
    await server.closed();
    return reply;
  } finally {
    server.close();
  }
}

const OK = 'HTTP/1.1 200 OK\r\n';

function every(ms: number, socket: Socket, write: () => void): void {
  const timer = setInterval(write, ms);
  socket.on('close', () => clearInterval(timer));
}

/** Writes as fast as the client reads, until it hangs up. */
function pour(socket: Socket, chunk: Buffer, count: { bytes: number }): void {
  while (!socket.destroyed && socket.writable) {
    count.bytes += chunk.length;
    if (!socket.write(chunk)) {
      socket.once('drain', () => pour(socket, chunk, count));
      return;
    }
  }
}

describe('a hostile receiver', { concurrency: true }, () => {
  const limits = (reply: Reply) => {
    assert.ok(reply.durationMs >= 9_900 && reply.durationMs < 11_000, `${reply.durationMs} ms`);
  };

  test('that never responds is given up after 10 s', async () => {
    const reply = await against(() => {});
    assert.equal(reply.answered, false);
    assert.equal(!reply.answered && reply.error, 'timeout');
    limits(reply);
  });

  test('that sends its header at a byte a second is given up after 10 s', async () => {
    const reply = await against((socket) => {
      const header = `${OK}x-slow: ${'a'.repeat(1000)}`;
      let at = 0;
      every(1_000, socket, () => socket.write(header[at++] ?? 'a'));
    });
    assert.equal(!reply.answered && reply.error, 'timeout');
    limits(reply);
  });

  test('that returns 200 and drips its body has succeeded, and is cut after 10 s', async () => {
    const reply = await against((socket) => {
      socket.write(`${OK}content-length: 1000\r\n\r\n`);
      every(1_000, socket, () => socket.write('a'));
    });
    assert.ok(reply.answered);
    assert.equal(reply.status, 200);
    assert.match(reply.body ?? '', /^a{8,10}$/);
    limits(reply);
  });

  test('whose name server fails or never responds is a failed attempt', {
    timeout: 15_000,
  }, async () => {
    const policy = addressPolicy(LOCAL);
    const failing = { resolve: () => Promise.reject(new Error('no such host name')) };
    const hanging = { resolve: () => new Promise<never>(() => {}) };
    const url = 'http://lost.example:8080/';
    const [lost, late] = await Promise.all([
      post(url, { policy, resolver: failing }),
      post(url, { policy, resolver: hanging }),
    ]);
    assert.equal(!lost.answered && lost.error, 'dns_failed');
    assert.equal(!late.answered && late.error, 'timeout');
  });

  test('that floods 1xx responses forever is cut off at once', async () => {
    const reply = await against((socket) => {
      every(1, socket, () => socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'));
    });
    assert.equal(!reply.answered && reply.error, 'invalid_response');
    assert.ok(reply.durationMs < 2_000);
  });

  test('that sends 103 before its response has responded', async () => {
    const reply = await against((socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
      socket.end(`${OK}content-length: 2\r\nconnection: close\r\n\r\nok`);
    });
    assert.ok(reply.answered && reply.status === 200);
  });

  test('that sends ten 103 or an unrequested 100 before its response has responded', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
    const unasked = 'HTTP/1.1 100 Continue\r\n\r\n';
    const answer = `${OK}content-length: 2\r\nconnection: close\r\n\r\nok`;
    const withHeaders = 'HTTP/1.1 100 Continue\r\nserver: Microsoft-IIS/6.0\r\n\r\n';
    for (const before of [early.repeat(10), unasked, withHeaders, `${unasked}${early}${unasked}`]) {
      const reply = await against((socket) => socket.end(`${before}${answer}`));
      assert.deepEqual([reply.answered && reply.status, reply.answered && reply.body], [200, 'ok']);
    }
  });

  test('whose unrequested 100 arrives byte by byte still counts as having responded', async () => {
    const all = Buffer.from(`HTTP/1.1 100 Continue\r\n\r\n${OK}content-length: 2\r\n\r\nok`);
    let at = 0;
    const reply = await against((socket) => {
      every(1, socket, () => {
        if (at === all.length) socket.end();
        else socket.write(all.subarray(at, ++at));
      });
    });
    assert.deepEqual([reply.answered && reply.status, reply.answered && reply.body], [200, 'ok']);
  });

  test('that sends nothing but 100 times out or is cut, and has not responded', async () => {
    const reply = await against((socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n'));
    assert.equal(reply.answered, false);
  });

  test('that sends without end is read up to 16 KiB, of which 1 KiB is stored', async () => {
    const count = { bytes: 0 };
    const reply = await against((socket) => {
      socket.write(`${OK}content-length: 10737418240\r\n\r\n`);
      pour(socket, Buffer.alloc(64 * 1024, 'b'), count);
    });
    assert.ok(reply.answered && reply.status === 200);
    assert.equal(reply.body, 'b'.repeat(1024));
    // The server wrote only what fits into the sockets' buffers, because nothing was read.
    assert.ok(count.bytes < 32 * 1024 * 1024, `${count.bytes} bytes`);
    assert.ok(reply.durationMs < 2_000);
  });

  test('that sends a gzip bomb is stored without decompression', async () => {
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024));
    const reply = await against((socket) => {
      socket.write(`${OK}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n`);
      socket.end(Buffer.concat([Buffer.from('connection: close\r\n\r\n'), bomb]));
    });
    assert.ok(reply.answered && reply.status === 200);
    assert.ok((reply.body ?? '').length <= 1024);
  });

  test('that sends endless headers is refused', async () => {
    const reply = await against((socket) => {
      socket.write(OK);
      pour(socket, Buffer.from(`x-${'h'.repeat(1000)}: 1\r\n`), { bytes: 0 });
    });
    assert.equal(!reply.answered && reply.error, 'invalid_response');
  });

  test('that does not speak HTTP is refused', async () => {
    const reply = await against((socket) => socket.end('SSH-2.0-OpenSSH_9.7\r\n'));
    assert.equal(!reply.answered && reply.error, 'invalid_response');
  });

  test('that resets the connection has not responded', async () => {
    const reply = await against((socket) => socket.resetAndDestroy());
    assert.equal(!reply.answered && reply.error, 'connection_reset');
  });

  test('that resets after its status has responded', async () => {
    const reply = await against((socket) => {
      socket.write(`${OK}content-length: 100\r\n\r\npart`, () => {
        setTimeout(() => socket.resetAndDestroy(), 50);
      });
    });
    assert.ok(reply.answered && reply.status === 200);
    assert.equal(reply.body, 'part');
  });

  test('that sends NUL and broken UTF-8 leaves text that can be stored', async () => {
    const reply = await against((socket) => {
      const bytes = Buffer.from([0x61, 0x00, 0xff, 0x62]);
      socket.write(`${OK}content-length: 4\r\nconnection: close\r\n\r\n`);
      socket.end(bytes);
    });
    assert.ok(reply.answered);
    assert.equal(reply.body, 'a\ufffd\ufffdb');
  });

  test('whose text is cut at 1 KiB keeps no half character', async () => {
    const text = Buffer.from('€'.repeat(1000));
    const reply = await against((socket) => {
      socket.write(`${OK}content-length: ${text.length}\r\nconnection: close\r\n\r\n`);
      socket.end(text);
    });
    assert.ok(reply.answered);
    assert.equal(reply.body, '€'.repeat(341));
  });
});

describe('the connection to a receiver', () => {
  test('no redirect is followed', async (t) => {
    const target = await receiverFor(t);
    const receiver = await receiverFor(t);
    receiver.answer((_received, response) => {
      response.writeHead(307, { location: target.url }).end();
    });
    const reply = await post(receiver.url);
    assert.ok(reply.answered && reply.status === 307);
    assert.equal(target.connections(), 0);
  });

  test('a refused connection is reported as such', async (t) => {
    const receiver = await receiverFor(t);
    await receiver.close();
    const reply = await post(receiver.url);
    assert.equal(!reply.answered && reply.error, 'connection_refused');
  });

  test('an IPv6-only host is reached, and the name goes in the Host header', async (t) => {
    const receiver = await receiverFor(t, '::1');
    const url = `http://six.example:${receiver.port}/`;
    const reply = await post(
      url,
      networkFor(() => ['::1']),
    );
    assert.ok(reply.answered && reply.status === 200);
    assert.equal(receiver.received[0]?.headers.host, `six.example:${receiver.port}`);
  });

  test('a host with a dead first address is reached at the next one', async (t) => {
    const receiver = await receiverFor(t);
    const url = `http://two.example:${receiver.port}/`;
    const reply = await post(
      url,
      networkFor(() => ['::1', '127.0.0.1']),
    );
    assert.ok(reply.answered && reply.status === 200);
  });

  test('literals of refused addresses get no connection', async (t) => {
    const receiver = await receiverFor(t, '0.0.0.0');
    const six = await receiverFor(t, '::1');
    const none = networkFor(() => [], []);
    const { port } = receiver;
    for (const host of ['127.0.0.1', '0.0.0.0', '[::ffff:127.0.0.1]', '2130706433', '127.1']) {
      const reply = await post(`http://${host}:${port}/`, none);
      assert.equal(!reply.answered && reply.error, 'address_refused', host);
    }
    for (const host of ['[::1]', '[::]']) {
      const reply = await post(`http://${host}:${six.port}/`, none);
      assert.equal(!reply.answered && reply.error, 'address_refused', host);
    }
    assert.equal(receiver.connections() + six.connections(), 0);
  });

  test('in the sandbox plain http reaches this machine by its own names only', async (t) => {
    const { port } = await receiverFor(t);
    const network = { ...loopback, policy: addressPolicy([], { ownMachine: true }) };
    for (const host of ['127.0.0.1', 'localhost']) {
      assert.ok((await post(`http://${host}:${port}/`, network)).answered, host);
    }
    for (const url of [`http://a.example:${port}/`, `https://127.0.0.1:${port}/`]) {
      const reply = await post(url, network);
      assert.equal(!reply.answered && reply.error, 'address_refused', url);
    }
  });

  test('one refused address among allowed ones refuses the name', async (t) => {
    const receiver = await receiverFor(t);
    const network = networkFor(() => ['127.0.0.1', '10.0.0.1']);
    const reply = await post(`http://mixed.example:${receiver.port}/`, network);
    assert.equal(!reply.answered && reply.error, 'address_refused');
    assert.equal(receiver.connections(), 0);
  });

  test('a name that changes to a refused address later gets no new connection', async (t) => {
    const receiver = await receiverFor(t);
    const answers = [['127.0.0.1'], ['192.168.0.1', '127.0.0.1']];
    let requests = 0;
    const network = networkFor(() => answers[requests++] ?? []);
    const transport = openTransport(new URL(`http://re.example:${receiver.port}/`), network);
    assert.ok((await transport.post([], body)).answered);
    const before = receiver.connections();
    // A look-up is cached for a second.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const reply = await transport.post([], body);
    assert.equal(!reply.answered && reply.error, 'address_refused');
    assert.equal(receiver.connections(), before);
    assert.equal(receiver.received.length, 1);
    transport.close();
  });

  test('a name is looked up once per attempt, never a second time', async (t) => {
    const receiver = await receiverFor(t);
    let requests = 0;
    const network = networkFor(() => {
      requests++;
      return ['127.0.0.1'];
    });
    assert.ok((await post(`http://once.example:${receiver.port}/`, network)).answered);
    assert.equal(requests, 1);
  });

  test('sockets are reused, and closing gently lets a response arrive', async (t) => {
    const receiver = await receiverFor(t);
    receiver.answer((_received, response) => void setTimeout(() => response.end('late'), 30));
    const transport = openTransport(new URL(receiver.url), loopback);
    for (let i = 0; i < 6; i++) assert.ok((await transport.post([], body)).answered);
    // The second connection may be opened while the first one is ending.
    assert.ok(receiver.connections() <= 2);
    const last = transport.post([], body);
    transport.closeGently();
    const reply = await last;
    assert.ok(reply.answered && reply.body === 'late');
  });
});

describe('TLS', () => {
  let folder: string;
  let server: https.Server;
  let port: number;
  let certificate: string;

  before(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'tapline-tls-'));
    const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
    const names = 'subjectAltName=DNS:tls.example';
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const subject = ['-subj', '/CN=tls.example', '-addext', names, '-days', '2'];
    const files = ['-keyout', key, '-out', cert];
    execFileSync('openssl', ['req', '-x509', ...curve, ...subject, ...files], { stdio: 'ignore' });
    certificate = readFileSync(cert, 'utf8');
    server = https.createServer(
      { key: readFileSync(key), cert: certificate },
      (request, response) => {
        response.end(`${(request.socket as { servername?: string }).servername}`);
      },
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });

  test('a trusted certificate is accepted, and the name is sent by SNI', async () => {
    const reply = await post(`https://tls.example:${port}/`, { ...loopback, ca: certificate });
    assert.ok(reply.answered);
    assert.equal(reply.body, 'tls.example');
  });

  test('an untrusted certificate fails', async () => {
    const reply = await post(`https://tls.example:${port}/`);
    assert.equal(!reply.answered && reply.error, 'tls_failed');
  });

  test("another host's certificate fails", async () => {
    const reply = await post(`https://other.example:${port}/`, { ...loopback, ca: certificate });
    assert.equal(!reply.answered && reply.error, 'tls_failed');
  });

  test('a server without TLS fails', async (t) => {
    const receiver = await receiverFor(t);
    const reply = await post(`https://127.0.0.1:${receiver.port}/`);
    assert.equal(reply.answered, false);
    assert.equal(!reply.answered && reply.error, 'tls_failed');
  });
});
