import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fastify from 'fastify';
import { PROBES } from '#http/address-rate-limit.ts';
import { RELEASE } from '#observability/release-version.ts';
import {
  addOperationalRoutes,
  buildOpsServer,
  type MetricsAccess,
} from '#ops/operational-routes.ts';
import { createProcessHealth, type ProcessHealth } from '#ops/process-health.ts';
import { sendRaw } from '#testkit/apis/http-kit.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import { settling } from '#testkit/fixtures/settlement/settling.ts';

const TOKEN = 'a-token-of-24-characters';

let health: ProcessHealth;

const database = openForTests(testDatabase, async () => {
  health = createProcessHealth({ db: database.db, chains: [], readiness: settling });
});

const OPEN: MetricsAccess = {
  production: false,
  opsPort: null,
  metricsToken: null,
  publicUrl: null,
};

/** Returns the status of `/metrics` on the API's port, for a caller on this machine. */
async function metricsStatus(
  access: Partial<MetricsAccess>,
  authorization?: string,
  host = '127.0.0.1:4242',
) {
  const app = fastify();
  addOperationalRoutes(app, health, { ...OPEN, ...access });
  const headers = { host, ...(authorization !== undefined && { authorization }) };
  const { statusCode } = await app.inject({ url: '/metrics', headers });
  const probes = await Promise.all(['/livez', '/readyz'].map((url) => app.inject({ url })));
  assert.deepEqual(
    probes.map((probe) => probe.statusCode),
    [200, 200],
  );
  await app.close();
  return statusCode;
}

test("in production /metrics on the API's port needs the token", async () => {
  const production = { production: true, metricsToken: TOKEN };
  assert.equal(await metricsStatus(production, `Bearer ${TOKEN}`), 200);
  for (const sent of [undefined, '', TOKEN, `Bearer ${TOKEN}x`, 'Bearer ', `Basic ${TOKEN}`]) {
    assert.equal(await metricsStatus(production, sent), 404, sent);
  }
  assert.equal(await metricsStatus({ production: true }), 404);
  assert.equal(await metricsStatus({ production: true }, 'Bearer null'), 404);
});

test('a configured token is required everywhere; without one addresses decide', async () => {
  assert.equal(await metricsStatus({ metricsToken: TOKEN }), 404);
  assert.equal(await metricsStatus({ metricsToken: TOKEN }, `Bearer ${TOKEN}`), 200);
  assert.equal(await metricsStatus({}), 200);
});

test('a page of another site that resolves to this machine cannot read /metrics', async () => {
  const publicUrl = 'https://pay.test';
  for (const host of ['evil.test', 'evil.test:4242', 'pay.test.evil.test', '127.0.0.1.evil.test']) {
    assert.equal(await metricsStatus({ publicUrl }, undefined, host), 404, host);
    const ops = buildOpsServer(health, { ...OPEN, publicUrl });
    assert.equal((await ops.inject({ url: '/metrics', headers: { host } })).statusCode, 404, host);
    await ops.close();
  }
  for (const host of ['pay.test', 'localhost:4242', '192.168.0.7', '[::1]:4242']) {
    assert.equal(await metricsStatus({ publicUrl }, undefined, host), 200, host);
  }
  const token = { metricsToken: TOKEN };
  assert.equal(await metricsStatus(token, `Bearer ${TOKEN}`, 'metrics.test'), 200);
});

test('on the operations port an invalid Host is 400, whatever the path', async () => {
  const ops = buildOpsServer(health, { ...OPEN, production: true });
  const port = Number(new URL(await ops.listen({ host: '127.0.0.1', port: 0 })).port);
  const ask = async (target: string, ...lines: string[]) =>
    (await sendRaw(port, [`GET ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n'))).status;
  try {
    for (const path of ['/livez', '/readyz', '/metrics', '/nothing']) {
      for (const host of ['x@pay.test', 'pay.test/x', 'pay.te%73t', 'pay\t.test', '']) {
        assert.equal(await ask(path, `Host: ${host}`), 400, `${path} at ${host}`);
      }
      assert.equal(await ask(path), 400, `${path} without a Host`);
      assert.equal(await ask(path, 'Host: a.test', 'Host: b.test'), 400, `${path} with two`);
      assert.equal(await ask(`${path}#x`, 'Host: a.test'), 400, `${path} with a fragment`);
    }
    for (const host of ['10.0.0.7:9090', 'api-0.tapline', '[::1]:9090', 'my_service:9090']) {
      assert.equal(await ask('/livez', `Host: ${host}`, 'Connection: close'), 200, host);
    }
  } finally {
    await ops.close();
  }
});

test('with an operations port, /metrics is only there, and probes are on both ports', async () => {
  const access = { production: true, opsPort: 9_090, metricsToken: TOKEN };
  assert.equal(await metricsStatus(access, `Bearer ${TOKEN}`), 404);
  const ops = buildOpsServer(health, OPEN);
  for (const url of ['/livez', '/readyz', '/metrics']) {
    assert.equal((await ops.inject({ url })).statusCode, 200, url);
  }
  assert.equal((await ops.inject({ url: '/api/v1/payments' })).statusCode, 404);
  await ops.close();
});

test('a /64 over its rate limit is counted before anything else is looked up', async () => {
  const open = Promise.withResolvers<void>();
  let lookups = 0;
  const run = () => {
    lookups++;
    return open.promise;
  };
  const ops = buildOpsServer({ ...health, checks: [{ name: 'slow', required: true, run }] }, OPEN);
  const ask = (remoteAddress: string) => ops.inject({ url: '/readyz', remoteAddress });
  // Send more than the limit, because the bucket refills meanwhile.
  const requestCount = 2 * PROBES.requests;
  const refused = Promise.withResolvers<number>();
  const answers = Array.from({ length: requestCount }, async (_, i) => {
    const { statusCode } = await ask(`2001:db8::${i.toString(16)}`);
    if (statusCode === 429) refused.resolve(lookups);
    return statusCode;
  });
  const waiting = await refused.promise;
  assert.ok(waiting >= PROBES.requests, `${waiting} looked up, and still waiting`);
  const neighbor = ask('2001:db8:0:1::1');
  open.resolve();
  assert.equal((await neighbor).statusCode, 200);
  const counts = Object.groupBy(await Promise.all(answers), (status) => status);
  assert.equal(lookups, (counts[200]?.length ?? 0) + 1, 'who is refused costs no lookup');
  assert.ok((counts[429]?.length ?? 0) > requestCount / 4, `${counts[429]?.length} refused`);
  await ops.close();
});

test('a process that is stopping is not ready, and is alive', async () => {
  health.serves = false;
  const ops = buildOpsServer(health, OPEN);
  assert.equal((await ops.inject({ url: '/readyz' })).statusCode, 503);
  assert.equal((await ops.inject({ url: '/livez' })).statusCode, 200);
  await ops.close();
  health.serves = true;
});

test('a process reports its release, and its counters only grow', async () => {
  const own = createProcessHealth({ db: database.db, chains: [], readiness: settling });
  own.metrics.watch({
    name: 'test',
    read: async () => [{ name: 'tapline_tests_total', help: 'Of tests.', labels: {}, value: 7 }],
  });
  const app = buildOpsServer(own, OPEN);
  const ready = await app.inject({ url: '/readyz' });
  assert.equal(ready.json().version, RELEASE);
  for (let readings = 0; readings < 2; readings++) {
    const { body } = await app.inject({ url: '/metrics' });
    assert.ok(
      body.includes(`tapline_build_info{version="${RELEASE}",node="${process.version}"} 1`),
    );
    assert.match(body, /^# TYPE tapline_tests_total counter\ntapline_tests_total 7$/m);
    // Readings are cached for two seconds.
    if (readings === 0) await sleep(2_100);
  }
  await app.close();
});
