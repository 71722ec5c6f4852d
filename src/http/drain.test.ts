import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Type from 'typebox';
import { isClientGone } from '#core/abort-reason.ts';
import { answerWith } from '#core/answer.ts';
import { createDrain, timesLeft } from '#http/drain.ts';
import type { AnyRoute } from '#http/route.ts';
import { bareRoute, bareSurface, GOOD_KEY, startBareServer } from '#testkit/apis/http-kit.ts';

/** Longer than a closing server waits for the last requests on its connections. */
const HELD_UP_MS = 700;
/**
 * Number of requests that each client sends before the server closes, so that its connection is in
 * use.
 */
const WARM = 10;

/**
 * Returns a route that calls `onWait`, waits until the drain ends its wait, and then returns
 * whether the client is still connected.
 */
function waiting(method: 'GET' | 'POST', path: string, onWait: () => void): AnyRoute {
  return bareRoute({
    method,
    path,
    ...(method === 'POST' ? { body: Type.Object({}) } : {}),
    handle: async ({ whenGone }) => {
      const gone = whenGone();
      onWait();
      if (!gone.aborted) await once(gone, 'abort');
      return answerWith(200, { read: !isClientGone(gone) });
    },
  });
}

const quick = bareRoute({ path: '/quick', handle: async () => answerWith(200, {}) });

async function startDraining() {
  const drain = createDrain();
  const [polling, settling] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const routes = [
    quick,
    waiting('GET', '/poll', polling.resolve),
    waiting('POST', '/settle', settling.resolve),
  ];
  const server = await startBareServer({ surfaces: [bareSurface(routes)], drain });
  return { drain, bothWait: Promise.all([polling.promise, settling.promise]), ...server };
}

interface Got {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly text: string;
  readonly ms: number;
}

function send(url: string, path: string, agent: Agent): Promise<Got> {
  const begun = performance.now();
  const method = path === '/settle' ? 'POST' : 'GET';
  const headers = { authorization: `Bearer ${GOOD_KEY}` };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/v1${path}`, { method, agent, headers });
    sent.once('error', reject);
    sent.once('response', async (response: IncomingMessage) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      const { statusCode: status, headers } = response;
      const ms = performance.now() - begun;
      resolve({ status, connection: headers.connection, text, ms });
    });
    sent.end();
  });
}

test('a client that is connected when the server closes gets one more response', async () => {
  const server = await startDraining();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  assert.equal((await send(server.url, '/quick', agent)).connection, 'keep-alive');
  const closing = server.drain.close(server.app);
  const got = await send(server.url, '/quick', agent);
  assert.deepEqual([got.status, got.connection], [200, 'close']);
  await assert.rejects(send(server.url, '/quick', agent), { code: 'ECONNREFUSED' });
  await closing;
  agent.destroy();
});

test('a poll ends at once with its normal response, a settlement gets its time', async () => {
  const server = await startDraining();
  const agent = new Agent({ keepAlive: true });
  const polled = send(server.url, '/poll', agent);
  const settled = send(server.url, '/settle', agent);
  await server.bothWait;
  const closing = server.drain.close(server.app);
  const first = await Promise.race([polled.then(() => 'poll'), settled.then(() => 'settlement')]);
  const [poll, settle] = await Promise.all([polled, settled]);
  await closing;
  assert.equal(first, 'poll');
  assert.deepEqual([poll.status, poll.text], [200, '{"read":true}']);
  assert.deepEqual([settle.status, settle.text], [200, '{"read":true}']);
  assert.ok(settle.ms > 3_500, `the settlement had only ${settle.ms} ms`);
  assert.deepEqual([poll.connection, settle.connection], ['close', 'close']);
  agent.destroy();
});

test('clients with keep-alive connections are not cut off when the server closes', async () => {
  const server = await startDraining();
  const clients = Array.from({ length: 16 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  const warm = clients.map(() => Promise.withResolvers<void>());
  let going = true;
  const failures: unknown[] = [];
  const loops = clients.map(async (agent, client) => {
    for (let answered = 0; going; ) {
      try {
        await send(server.url, '/quick', agent);
        if (++answered === WARM) warm[client]?.resolve();
      } catch (error) {
        // Ignores a refused connection: nothing was sent, so a load balancer would try another
        // server.
        if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return;
        failures.push(error);
      }
    }
  });
  await Promise.all(warm.map(({ promise }) => promise));
  await server.drain.close(server.app);
  going = false;
  await Promise.all(loops);
  for (const agent of clients) agent.destroy();
  assert.deepEqual(failures, []);
});

test('slow steps do not prolong a shutdown, and leave time for the last responses', () => {
  const left = (passedMs: number) => {
    const { settleMs, cutMs } = timesLeft(passedMs);
    return [settleMs, cutMs];
  };
  assert.deepEqual(left(500), [4_000, 5_000], 'turns as usual');
  assert.deepEqual(left(2_000), [2_500, 3_500], 'slow turns');
  assert.deepEqual(left(4_500), [0, 1_000]);
  assert.deepEqual(left(8_000), [0, 1_000], 'held up for longer than a stop takes');
});

/** Blocks the process, like an overloaded machine. */
function holdUp(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('requests to a blocked server that is closing are answered', async () => {
  const server = await startDraining();
  const socket = connect(server.port, '127.0.0.1');
  const head = `GET /api/v1/quick HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${GOOD_KEY}\r\n\r\n`;
  socket.write(head);
  const [first] = await once(socket, 'data');
  assert.match(String(first), /^HTTP\/1\.1 200 /);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  const ended = new Promise((resolve) => socket.once('close', resolve));
  socket.once('error', () => {});
  // Blocks the process from a callback of setImmediate: afterwards, the event loop runs the timers
  // that came due during the block before it reads any socket.
  await nextTurn();
  const closing = server.drain.close(server.app);
  socket.write(head);
  holdUp(HELD_UP_MS);
  await Promise.all([closing, ended]);
  assert.match(text, /^HTTP\/1\.1 200 /);
  assert.match(text, /connection: close/i);
});
