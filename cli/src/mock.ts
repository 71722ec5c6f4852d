import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOutput } from './output.ts';
import type { GlobalOptions } from './settings.ts';
import { WrongUse } from './wrong-use.ts';

export interface MockOptions {
  readonly port: string;
  /** The faults for the next requests, in order. Requests after that succeed. */
  readonly script: string;
}

/** Faults that networks and proxies cause occasionally and that a test needs on demand. */
const FAULTS: Readonly<Record<string, string>> = {
  ok: 'answers',
  cut: 'processes the request, but the connection breaks before the response',
  lost: 'the connection breaks before the request is processed',
  slow: 'responds after 3 s, or after 10 s with slow:10',
  replay: 'responds as if this key had already been used',
  '409': 'responds that the first request with this key is still in progress',
  '429': 'responds that there are too many requests',
  '500': 'processes the request, but responds with a server error',
  '503': 'responds that nothing was done',
};
const SLOW_S = 3;

interface Step {
  readonly fault: string;
  readonly seconds: number;
}

function stepsOf(script: string): Step[] {
  return script
    .split(',')
    .filter((word) => word !== '')
    .map((word) => {
      const [fault = '', seconds] = word.trim().split(':');
      if (FAULTS[fault] === undefined || !(Number(seconds ?? SLOW_S) >= 0)) {
        const known = Object.entries(FAULTS).map(([name, does]) => `  ${name}: ${does}`);
        throw new WrongUse(
          `Unknown fault ${word}. --script takes a comma-separated list of:\n${known.join('\n')}`,
        );
      }
      return { fault, seconds: Number(seconds ?? SLOW_S) };
    });
}

interface Answer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

function refusal(status: number, type: string, code: string): Answer {
  const error = { type, code, message: `Scripted: ${code}.`, param: null, request_id: 'req_mock' };
  const headers = status === 429 ? { 'Retry-After': '0' } : {};
  return { status, body: { error: { ...error, doc_url: `/docs/errors#${code}` } }, headers };
}

const REFUSALS: Readonly<Record<string, Answer>> = {
  '409': refusal(409, 'idempotency_error', 'idempotency_request_in_progress'),
  '429': refusal(429, 'rate_limit_error', 'rate_limit_exceeded'),
  '500': refusal(500, 'api_error', 'internal_error'),
  '503': refusal(503, 'api_error', 'service_unavailable'),
};

const PREFIXES: Readonly<Record<string, readonly [prefix: string, object: string]>> = {
  payment_intents: ['pi_', 'payment_intent'],
  refunds: ['re_', 'refund'],
  webhook_endpoints: ['we_', 'webhook_endpoint'],
};

interface MockRequest {
  readonly method: string;
  /** For example `['payment_intents', 'pi_…']`. */
  readonly parts: readonly string[];
  readonly key: string | undefined;
  readonly body: object;
}

/**
 * Stores objects as they were sent, and one response per idempotency key. That is enough for client
 * tests.
 */
function createStore() {
  const objects = new Map<string, object>();
  const answers = new Map<string, Answer>();
  const create = ({ parts: [resource = ''], body }: MockRequest): Answer => {
    const [prefix, object] = PREFIXES[resource] ?? ['mock_', resource];
    const id = `${prefix}${randomUUID().replaceAll('-', '').slice(0, 24)}`;
    const made = { id, object, livemode: false, status: 'succeeded', ...body };
    objects.set(id, made);
    return { status: 201, body: made };
  };
  const read = ({ parts: [resource = '', id] }: MockRequest): Answer => {
    if (resource === 'idempotency_keys') return keyOf(decodeURIComponent(id ?? ''));
    if (id === undefined) {
      const data = [...objects.values()].filter(
        (one) => (one as { object?: string }).object === PREFIXES[resource]?.[1],
      );
      const list = { object: 'list', data: data.reverse(), has_more: false, next_cursor: null };
      return { status: 200, body: list };
    }
    const stored = objects.get(id);
    return stored === undefined
      ? refusal(404, 'invalid_request_error', 'resource_missing')
      : { status: 200, body: stored };
  };
  const keyOf = (key: string): Answer => {
    const kept = answers.get(key);
    if (kept === undefined) return refusal(404, 'invalid_request_error', 'resource_missing');
    const { id: resource = null } = kept.body as { id?: string };
    const about = { object: 'idempotency_key', key, status: 'completed', resource };
    return { status: 200, body: { ...about, response_status: kept.status } };
  };
  return (request: MockRequest): Answer => {
    const { method, key, parts } = request;
    if (method === 'GET') return read(request);
    const kept = key === undefined ? undefined : answers.get(key);
    if (kept !== undefined) return { ...kept, headers: { 'Idempotent-Replayed': 'true' } };
    const answer = method === 'POST' && parts.length === 1 ? create(request) : read(request);
    if (key !== undefined) answers.set(key, answer);
    return answer;
  };
}

async function askedOf(request: IncomingMessage): Promise<MockRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method = '', url = '', headers } = request;
  const [path = ''] = url.split('?');
  const parts = path
    .replace(/^\/api/, '')
    .replace(/^\/v1\//, '')
    .split('/');
  let body = {};
  try {
    body = JSON.parse(Buffer.concat(chunks).toString() || '{}');
  } catch {}
  return { method, parts, key: headers['idempotency-key'] as string | undefined, body };
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, {
    ...{ 'Content-Type': 'application/json; charset=utf-8', 'Request-Id': 'req_mock' },
    ...headers,
  });
  response.end(JSON.stringify(body));
}

/** Starts a server that responds with scripted faults, to test clients. */
export async function mock(globals: GlobalOptions, options: MockOptions): Promise<number> {
  const out = createOutput(globals.json === true);
  const steps = stepsOf(options.script);
  const carryOut = createStore();
  const server = createServer(async (request, response) => {
    const mockRequest = await askedOf(request);
    const { fault, seconds } = steps.shift() ?? { fault: 'ok', seconds: 0 };
    const words = `${mockRequest.method} /v1/${mockRequest.parts.join('/')}  ${fault}`;
    out.show(
      {
        method: mockRequest.method,
        path: mockRequest.parts.join('/'),
        key: mockRequest.key,
        fault,
      },
      words,
    );
    if (fault === 'lost') return request.socket.destroy();
    if (fault === 'slow') await sleep(seconds * 1_000);
    const refused = REFUSALS[fault];
    // Some faults happen only after the request was processed, which makes them hard for clients.
    const answer = refused === undefined || fault === '500' ? carryOut(mockRequest) : refused;
    if (fault === 'cut') return request.socket.destroy();
    if (fault === 'replay') {
      return send(response, { ...answer, headers: { 'Idempotent-Replayed': 'true' } });
    }
    send(response, refused ?? answer);
  });
  server.listen(Number(options.port), '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/api`;
  out.show({ ready: true, base_url: url }, `TAPLINE_BASE_URL=${url}, any tlsk_test_… key`);
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  await once(server, 'close');
  return 0;
}
