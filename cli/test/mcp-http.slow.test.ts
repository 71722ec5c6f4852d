import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import { after, before, test } from 'node:test';
import { Tapline } from 'tapline';
import { listen } from '../../testkit/network/listen.ts';
import { type OwnNetwork, startOwnNetwork } from '../../testkit/network/spawn-network.ts';
import { passOn } from '../src/mcp/serve-over-http.ts';
import {
  checkAnswer,
  checkersOf,
  MODERN,
  modernMeta,
  type Tool,
  type ToolAnswer,
  UNKNOWN_METHODS,
} from './mcp-client.ts';
import { type Running, startCli } from './run-cli.ts';

let network: OwnNetwork;
let tapline: Tapline;
let server: Running;
let url: string;
let token: string;

before(async () => {
  network = await startOwnNetwork();
  const { base_url: baseUrl, test: mode } = network.sandbox;
  tapline = new Tapline(mode.secret_key, { baseUrl });
  server = startCli(['mcp', '--http', '0'], { TAPLINE_DATA_DIR: network.dataDir });
  const started = await server.until(({ url: served }) => served !== undefined);
  url = String(started.url);
  token = String(started.token);
});

after(async () => {
  assert.equal(await server?.stop(), 0);
  await network?.close();
});

interface Came {
  readonly status: number;
  readonly text: string;
}

/** Sends a request with headers that `fetch` does not allow. */
function post(
  body: object | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Came> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const sent = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const reply = request(url, { method: 'POST', headers: sent, agent: false }, (response) => {
      let got = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        got += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: got }));
    });
    reply.on('error', reject);
    reply.end(text);
  });
}

/** Returns the message of a response, sent as JSON or as a stream. */
function messageOf({ text }: Came): {
  readonly result?: object;
  readonly error?: { readonly code: number };
} {
  const line = text.split('\n').find((one) => one.startsWith('data: '));
  return JSON.parse(line === undefined ? text : line.slice('data: '.length));
}

/** Sends a request of the newest protocol version, which carries all state itself. */
async function send(method: string, params: object = {}, capabilities: object = {}) {
  const { name } = params as { name?: string };
  const headers = { 'MCP-Protocol-Version': MODERN, 'Mcp-Method': method };
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method,
    params: { ...params, ...modernMeta(capabilities) },
  };
  const came = await post(body, name === undefined ? headers : { ...headers, 'Mcp-Name': name });
  return messageOf(came);
}

async function ask(...request: Parameters<typeof send>) {
  const { result, error } = await send(...request);
  assert.ok(result !== undefined, JSON.stringify(error));
  return result as { readonly [field: string]: unknown };
}

test('only clients with the token are served, and never a web page', async () => {
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const wrong = { Authorization: `Bearer ${token.slice(1)}` };
  assert.equal((await post(ping, wrong)).status, 401);
  assert.equal((await post(ping, { Authorization: '' })).status, 401);
  assert.equal((await post(ping, { Origin: 'https://evil.example' })).status, 403);
  assert.equal((await post(ping, { Host: 'evil.example' })).status, 403);
  assert.equal((await post(ping)).status, 200);
});

test('a malformed request is 400, invalid JSON too, and an internal error 500', async (t) => {
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  assert.equal((await post(ping, { Host: 'not a host' })).status, 400);
  assert.equal((await post('{')).status, 400);
  const broken = await listen(
    createServer((incoming, outgoing) => {
      void passOn(incoming, outgoing, () => Promise.reject(new Error('a bug')));
    }),
  );
  t.after(() => broken.close());
  const answer = await fetch(`${broken.url}/mcp`, { method: 'POST', body: '{}' });
  assert.deepEqual([answer.status, await answer.text()], [500, '']);
});

test('a notification gets no message in response', async () => {
  for (const method of ['notifications/initialized', 'tools/call']) {
    const { status, text } = await post({ jsonrpc: '2.0', method, params: { name: 'charge' } });
    assert.deepEqual([status, text], [202, '']);
  }
});

test('an unknown method is -32601 in both generations, and the server goes on', async () => {
  for (const method of UNKNOWN_METHODS) {
    const old = await post({ jsonrpc: '2.0', id: 1, method });
    assert.equal(messageOf(old).error?.code, -32_601, method);
    assert.equal((await send(method)).error?.code, -32_601, method);
    assert.ok(Array.isArray((await ask('tools/list')).tools), method);
  }
});

test('clients of both protocol generations find the same tools', async () => {
  const old = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const namesOf = (result: unknown) => (result as { tools: Tool[] }).tools.map(({ name }) => name);
  const names = namesOf(messageOf(old).result);
  assert.ok(names.includes('refund_payment') && names.includes('list_deliveries'));
  assert.deepEqual(namesOf(await ask('tools/list')), names);
});

test('the newest clients get the link, too, and no response refunds money', async () => {
  const { tools } = (await ask('tools/list')) as unknown as { readonly tools: Tool[] };
  const check = checkersOf(tools).get('refund_payment');
  const { terminal } = network.sandbox.test;
  const intent = await tapline.paymentIntents.create({ amount: 2_000_000, terminal });
  await tapline.testHelpers.tap(terminal, { payment_intent: intent.id });
  const { payment } = await tapline.paymentIntents.waitFor(intent.id);
  const call = { name: 'refund_payment', arguments: { payment } };
  const able = { elicitation: { url: {} } };
  const first = await ask('tools/call', call, able);
  const { link } = first.inputRequests as { link: { params: { mode: string; url: string } } };
  assert.equal(link.params.mode, 'url');
  assert.match(link.params.url, new RegExp(`/dashboard/payments/${payment}\\?refund=2.00$`));
  const yes = { link: { action: 'accept', content: { confirm: true } } };
  const second = await ask('tools/call', { ...call, inputResponses: yes }, able);
  checkAnswer(second as unknown as ToolAnswer, check);
  assert.equal((second.structuredContent as { status: string }).status, 'link_opened');
  const unable = await ask('tools/call', call);
  assert.equal((unable.structuredContent as { status: string }).status, 'needs_a_person');
  const { data } = await tapline.refunds.list({ payment: String(payment) }).page;
  assert.equal(data.length, 0);
});
