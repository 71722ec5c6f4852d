import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { json } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { RELEASE } from '#observability/release-version.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { type Listening, listen } from '#testkit/network/listen.ts';
import { type OwnNetwork, startOwnNetwork } from '#testkit/network/spawn-network.ts';

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

interface Otlp {
  readonly resourceSpans: readonly {
    readonly resource: {
      readonly attributes: readonly {
        readonly key: string;
        readonly value: { readonly stringValue: string };
      }[];
    };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

const TRACE = 'ab12'.repeat(8);
const MERCHANT_SPAN = 'cd34'.repeat(4);
const SECRET = 'receiver-key-0123456789';
const SEEN_MS = 20_000;

const spans: OtlpSpan[] = [];
/** Resource attributes of every batch of spans, as text. */
const resources = new Set<string>();
const heard: IncomingHttpHeaders[] = [];
const collectorHeaders: IncomingHttpHeaders[] = [];
const servers: Listening[] = [];
let network: OwnNetwork;
let receiverUrl = '';

before(async () => {
  const collector = createServer(async (request, response) => {
    collectorHeaders.push(request.headers);
    assert.equal(request.url, '/otlp/v1/traces');
    const { resourceSpans } = (await json(request)) as Otlp;
    for (const { resource, scopeSpans } of resourceSpans) {
      const named = resource.attributes.map(({ key, value }) => [key, value.stringValue]);
      resources.add(JSON.stringify(Object.fromEntries(named)));
      for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    response.end('{}');
  });
  const receiver = createServer((request, response) => {
    heard.push(request.headers);
    request.resume().on('end', () => response.end());
  });
  const [received, collected] = [await listen(receiver), await listen(collector)];
  servers.push(received, collected);
  receiverUrl = received.url;
  network = await startOwnNetwork({
    env: {
      WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collected.url}/otlp`,
      OTEL_EXPORTER_OTLP_HEADERS: `x-key=${SECRET}`,
      // Traces only requests that carry a trace context. Here that is the merchant's own sale.
      OTEL_TRACES_SAMPLER_ARG: '0',
    },
  });
});

after(async () => {
  await network?.close();
  for (const server of servers) await server.close();
});

async function post(path: string, bearer: string, body: object, headers = {}) {
  const { base_url: base } = network.sandbox;
  const response = await fetch(`${base}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${bearer}`,
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { id: string; status: string };
  assert(response.ok, JSON.stringify(answer));
  return answer;
}

test('one trace covers a sale, from the create through the tap to the webhook', async () => {
  const { secret_key: key, device_key: device, terminal, passes } = network.sandbox.test;
  await post('/v1/webhook_endpoints', key, {
    url: receiverUrl,
    enabled_events: ['payment.succeeded'],
  });
  const traceparent = `00-${TRACE}-${MERCHANT_SPAN}-01`;
  const order = { amount: 2_500_000, terminal };
  const intent = await post('/v1/payment_intents', key, order, { traceparent });
  const credential = { type: 'nfc_id', value: passes.ok };
  // The terminal does not know the merchant's trace.
  const paid = await post(`/device/v1/payment_intents/${intent.id}/tap`, device, { credential });
  assert.equal(paid.status, 'succeeded');
  const names = ['pay', 'settle', 'book', 'webhook payment.succeeded'];
  const all = () => names.every((name) => spans.some((span) => span.name === name));
  assert(await waitUntil(all, SEEN_MS), JSON.stringify(spans.map(({ name }) => name)));

  const byName = new Map(spans.map((span) => [span.name, span]));
  const create = spans.find(({ parentSpanId }) => parentSpanId === MERCHANT_SPAN);
  assert.equal(create?.kind, 2, 'the create, as the server of the merchant');
  assert.equal(byName.get('pay')?.parentSpanId, create?.spanId);
  for (const name of ['settle', 'book', 'webhook payment.succeeded']) {
    assert.equal(byName.get(name)?.parentSpanId, byName.get('pay')?.spanId, name);
  }
  assert.deepEqual([...new Set(spans.map(({ traceId }) => traceId))], [TRACE], 'one trace');
  for (const { startTimeUnixNano: from, endTimeUnixNano: to } of spans) {
    assert(BigInt(from) > 1_600_000_000_000_000_000n && BigInt(from) <= BigInt(to));
  }
  const webhook = byName.get('webhook payment.succeeded');
  const told = `00-${TRACE}-${webhook?.spanId}-01`;
  assert(
    heard.some((headers) => headers.traceparent === told),
    'the receiver goes on with it',
  );
  assert.equal(resources.size, 1, 'all spans of a process name the same instance');
  const [named = '{}'] = resources;
  const { 'service.instance.id': instance, ...others } = JSON.parse(named);
  assert.match(instance, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.deepEqual(others, { 'service.name': 'tapline', 'service.version': RELEASE });
  assert(collectorHeaders.every((headers) => headers['x-key'] === SECRET));
  assert(!network.logs().includes(SECRET));
});
