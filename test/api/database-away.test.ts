import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answered, createTestIntent, startTestApi, type TestApi } from '#testkit/apis/api.ts';
import { startTcpProxy, type TcpProxy } from '#testkit/network/tcp-proxy.ts';

let api: TestApi;
let wire: TcpProxy;

before(async () => {
  api = await startTestApi({
    databaseUrlFor: async (text) => {
      const url = new URL(text);
      wire = await startTcpProxy(Number(url.port));
      url.port = String(wire.port);
      return url.toString();
    },
  });
});

after(async () => {
  // Closes the proxy first, because the server would otherwise wait for pending responses.
  await wire.close();
  await api.close();
});

/**
 * Cuts every connection between server and database, and every new one, until the returned function
 * is called.
 */
function cutWire(): () => void {
  wire.onClientBytes = () => 'cut';
  return () => {
    wire.onClientBytes = () => 'pass';
  };
}

async function timed(work: () => Promise<Answered>): Promise<Answered & { readonly ms: number }> {
  const started = performance.now();
  const answered = await work();
  return { ...answered, ms: performance.now() - started };
}

const create = (idempotencyKey: string) =>
  api.call({
    path: '/v1/payment_intents',
    idempotencyKey,
    body: { amount: 1, terminal: api.merchant.test.terminal },
  });

async function untilBack(work: () => Promise<Answered>): Promise<Answered> {
  for (let tries = 0; ; tries++) {
    const answered = await work();
    if (answered.status !== 503 || tries === 50) return answered;
    await sleep(100);
  }
}

test('without its database, the API says so immediately, and recovers on its own', async () => {
  await createTestIntent(api);
  const mend = cutWire();
  const key = randomUUID();
  for (const work of [() => create(key), () => api.call({ path: '/v1/payments' })]) {
    const { status, body, headers, ms } = await timed(work);
    assert.equal(status, 503);
    assert.ok(['service_unavailable', 'request_timeout'].includes(body.error.code));
    assert.ok(headers['request-id'] !== undefined);
    assert.ok(ms < 2_000, `answered after ${ms} ms`);
  }
  const ready = await fetch(`${api.url}/readyz`);
  assert.equal(ready.status, 503);
  assert.equal((await fetch(`${api.url}/livez`)).status, 200);
  mend();
  const created = await untilBack(() => create(key));
  assert.equal(created.status, 201, created.text);
  assert.equal((await fetch(`${api.url}/readyz`)).status, 200);
});

test('many requests at once do not queue up while the database is unreachable', async () => {
  const mend = cutWire();
  const started = performance.now();
  const answers = await Promise.all(Array.from({ length: 64 }, () => create(randomUUID())));
  assert.ok(performance.now() - started < 5_000);
  assert.ok(answers.every(({ status }) => status === 503));
  mend();
  assert.equal((await untilBack(() => create(randomUUID()))).status, 201);
});

async function readyz(query = ''): Promise<number> {
  // A load balancer waits for two seconds.
  const signal = AbortSignal.timeout(2_000);
  return fetch(`${api.url}/readyz${query}`, { signal }).then(
    ({ status }) => status,
    () => 0,
  );
}

test('with a grace period, a short outage keeps the process in the load balancer', async () => {
  assert.equal(await readyz('?grace=10'), 200);
  const mend = cutWire();
  assert.equal(await readyz('?grace=10'), 200);
  assert.equal(await readyz(), 503, 'without a grace period');
  for (const wrong of ['?grace=', '?grace=x', '?grace=-1', '?grace=1e3', '?grace=5&grace=6']) {
    assert.equal(await readyz(wrong), 503, wrong);
  }
  await sleep(1_500);
  assert.equal(await readyz('?grace=1'), 503, 'the grace period is over');
  assert.equal(await readyz('?grace=10'), 200);
  mend();
  await untilBack(() => create(randomUUID()));
  assert.equal(await readyz(), 200);
});

/** Longer than a request waits for its key, so that some requests are refused. */
const PAUSE_MS = 6_000;

test('in a pause of the database under load, callers get the API’s own 503', async () => {
  assert.equal(await readyz('?grace=10'), 200);
  const answers: Promise<Answered>[] = [];
  const probes: number[] = [];
  wire.holdAnswers = () => true;
  const end = performance.now() + PAUSE_MS;
  while (performance.now() < end) {
    for (let n = 0; n < 10; n++) answers.push(create(randomUUID()));
    probes.push(await readyz('?grace=10'));
    await sleep(200);
  }
  wire.holdAnswers = () => false;
  assert.deepEqual(new Set(probes), new Set([200]));
  let refused = 0;
  for (const { status, body, headers, text } of await Promise.all(answers)) {
    if (status === 201) continue;
    assert.equal(status, 503, text);
    assert.ok(['service_unavailable', 'request_timeout'].includes(body.error.code), text);
    assert.equal(headers['retry-after'], '1', text);
    refused += 1;
  }
  assert.ok(refused > 0, 'the pause was felt');
  assert.equal((await untilBack(() => create(randomUUID()))).status, 201);
});

/** Forwards the first message that contains `text` to the database, but drops the response. */
function loseAnswerTo(text: string): () => boolean {
  let isCut = false;
  wire.onClientBytes = (bytes) => {
    if (isCut || !bytes.includes(text)) return 'pass';
    isCut = true;
    return 'pass_and_cut';
  };
  return () => {
    wire.onClientBytes = () => 'pass';
    return isCut;
  };
}

async function gauges(): Promise<Map<string, number>> {
  const text = await (await fetch(`${api.url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('tapline_'));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

test('without its database, the API serves the last metrics, one of which says so', async () => {
  const depth = 'tapline_queue_depth{queue="expired_intents"}';
  const isUp = 'tapline_metrics_source_up{source="database"}';
  await sleep(2_100); // Metrics are refreshed after two seconds.
  const before = await gauges();
  assert.deepEqual([before.get('tapline_database_up'), before.get(isUp)], [1, 1]);
  assert.ok(before.has(depth));
  const mend = cutWire();
  await sleep(2_100);
  const during = await gauges();
  mend();
  assert.deepEqual([during.get('tapline_database_up'), during.get(isUp)], [0, 0]);
  assert.equal(during.get(depth), before.get(depth));
  assert.equal(
    during.get('tapline_database_connections'),
    before.get('tapline_database_connections'),
  );
});

test('a create whose commit result was lost returns the real result, once', async () => {
  await createTestIntent(api);
  const key = randomUUID();
  const wasCut = loseAnswerTo('COMMIT');
  const first = await create(key);
  assert.ok(wasCut(), 'the wire was cut while committing');
  assert.ok(first.status === 201 || first.body.error.code === 'request_timeout', first.text);
  const again = await untilBack(() => create(key));
  assert.equal(again.status, 201);
  if (first.status === 201) assert.equal(again.text, first.text);
  const rows = await api.db.query(
    'select resource from idempotency_keys where key = $1 and resource is not null',
    [key],
  );
  assert.equal(rows.length, 1);
});

test('a refusal whose commit result was lost is the same on a retry', async () => {
  const body = { amount: 1, terminal: api.merchant.test.terminal, order_id: 'LOST' };
  const ask = (idempotencyKey: string) =>
    api.call({ path: '/v1/payment_intents', idempotencyKey, body });
  assert.equal((await untilBack(() => ask(randomUUID()))).status, 201);
  const key = randomUUID();
  const wasCut = loseAnswerTo('COMMIT');
  const first = await ask(key);
  assert.ok(wasCut(), 'the wire was cut while committing');
  const again = await untilBack(() => ask(key));
  assert.deepEqual([again.status, again.body.error.code], [409, 'order_id_in_use']);
  if (first.status === 409) assert.equal(again.text, first.text);
});

test('a database that hangs costs a request five seconds, not forever', async () => {
  await createTestIntent(api);
  await sleep(1_000); // Waits until the key's cached row has expired.
  let hangs = true;
  wire.holdAnswers = () => hangs;
  const { status, body, ms } = await timed(() => api.call({ path: '/v1/terminals' }));
  assert.deepEqual([status, body.error.code], [503, 'service_unavailable']);
  assert.ok(ms < 8_000, `answered after ${ms} ms`);
  hangs = false;
  const back = await untilBack(() => api.call({ path: '/v1/terminals' }));
  assert.equal(back.status, 200);
});
