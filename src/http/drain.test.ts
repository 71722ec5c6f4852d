import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import Type from 'typebox';
import { answerWith } from '#core/answer.ts';
import { isClientGone } from '#core/ending.ts';
import { createDrain } from '#http/drain.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { bareSurface, GOOD_KEY, startBareServer } from '#testing/http-kit.ts';

/** Waits until it is told to end, and says whether somebody reads the answer. */
function waiting(method: 'GET' | 'POST', path: string): AnyRoute {
  return defineRoute({
    method,
    path,
    operationId: `${method} ${path}`,
    tag: 'Things',
    summary: 'Things',
    scope: null,
    idempotency: 'ignored',
    ...(method === 'POST' ? { body: Type.Object({}) } : {}),
    responses: { 200: { schema: null, description: 'Things.' } },
    errors: [],
    handle: async ({ whenGone }) => {
      const gone = whenGone();
      if (!gone.aborted) await once(gone, 'abort');
      return answerWith(200, { read: !isClientGone(gone) });
    },
  }) as AnyRoute;
}

const quick = defineRoute({
  method: 'GET',
  path: '/quick',
  operationId: 'quick',
  tag: 'Things',
  summary: 'Things',
  scope: null,
  idempotency: 'ignored',
  responses: { 200: { schema: null, description: 'Things.' } },
  errors: [],
  handle: async () => answerWith(200, {}),
}) as AnyRoute;

async function startDraining() {
  const drain = createDrain();
  const routes = [quick, waiting('GET', '/poll'), waiting('POST', '/settle')];
  const server = await startBareServer({ surfaces: [bareSurface(routes)], drain });
  return { drain, ...server };
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

test('who has a connection when the server closes is answered once more', async () => {
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

test('a poll ends at once with its normal answer, a settlement gets its time', async () => {
  const server = await startDraining();
  const agent = new Agent({ keepAlive: true });
  const polled = send(server.url, '/poll', agent);
  const settled = send(server.url, '/settle', agent);
  await sleep(100);
  const closing = server.drain.close(server.app);
  const [poll, settle] = await Promise.all([polled, settled]);
  await closing;
  assert.deepEqual([poll.status, poll.text], [200, '{"read":true}']);
  assert.deepEqual([settle.status, settle.text], [200, '{"read":true}']);
  assert.ok(poll.ms < 2_000, `the poll ended after ${poll.ms} ms`);
  assert.ok(settle.ms > 3_500, `the settlement had only ${settle.ms} ms`);
  assert.deepEqual([poll.connection, settle.connection], ['close', 'close']);
  agent.destroy();
});

test('of clients that keep their connections, nobody is cut when the server closes', async () => {
  const server = await startDraining();
  const clients = Array.from({ length: 16 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  let going = true;
  const failures: unknown[] = [];
  let answered = 0;
  const loops = clients.map(async (agent) => {
    while (going) {
      try {
        await send(server.url, '/quick', agent);
        answered++;
      } catch (error) {
        // A balancer that finds nobody listening goes elsewhere; nothing was sent.
        if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return;
        failures.push(error);
      }
    }
  });
  await sleep(200);
  await server.drain.close(server.app);
  going = false;
  await Promise.all(loops);
  for (const agent of clients) agent.destroy();
  assert.ok(answered > 100, `only ${answered} answers`);
  assert.deepEqual(failures, []);
});
