import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { operatorRoutes } from '#apis/operator/operator-routes.ts';
import { merchantDocument } from '#app/merchant-document.ts';
import { addReferenceRoutes } from '#app/reference-routes.ts';
import { systemClock } from '#core/clock.ts';
import { memoryRateLimiter } from '#http/rate-limit.ts';
import { buildServer } from '#http/server.ts';
import { silentLog } from '#observability/log.ts';
import { readConfig } from '#settings/config.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

/** Security headers of every response: pages, data and errors. */

const server = openForTests(() => startDashboardServer([], { operatorRoutes }));

function check(headers: Headers, what: string): void {
  assert.equal(headers.get('x-content-type-options'), 'nosniff', what);
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'/, what);
  assert.match(policy, /frame-ancestors 'none'/, what);
  assert.match(headers.get('permissions-policy') ?? '', /camera=\(\), .*geolocation=\(\)/, what);
}

test('responses and refusals carry a policy and nosniff, and no HSTS over http', async () => {
  for (const path of [
    '/api/v1/payment_intents',
    '/api/v1/nothing',
    '/api/dashboard/v1/session',
    '/api/operator/v1/session',
    '/api/%',
    '/nothing',
    '/hold-payouts/x',
  ]) {
    const { headers } = await fetch(`${server.web}${path}`);
    check(headers, path);
    assert.equal(headers.get('strict-transport-security'), null, path);
  }
});

test('responses to malformed HTTP carry these headers, too', async () => {
  const { hostname, port } = new URL(server.web);
  const socket = connect(Number(port), hostname);
  socket.write('NONSENSE\r\n\r\n');
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  assert.match(text, /x-content-type-options: nosniff/i);
  assert.match(text, /content-security-policy: default-src 'none'/i);
});

test('behind https every response sets HSTS; / runs no script', async () => {
  const app = await buildServer({
    surfaces: [],
    clock: systemClock,
    limiter: memoryRateLimiter({ requests: 100, seconds: 1 }),
    log: silentLog,
    trustedProxies: [],
    https: true,
  });
  await addReferenceRoutes(app, { 'openapi.json': merchantDocument([]) }, { isSandbox: false });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    for (const path of ['/', '/openapi.json', '/nothing']) {
      const { headers } = await fetch(`${url}${path}`);
      check(headers, path);
      assert.match(headers.get('strict-transport-security') ?? '', /^max-age=31536000/, path);
    }
    const policy = (await fetch(`${url}/`)).headers.get('content-security-policy') ?? '';
    assert.doesNotMatch(policy, /script-src|unsafe/);
  } finally {
    await app.close();
  }
});

test('production refuses a public address over http', () => {
  const env = {
    NODE_ENV: 'production',
    DATABASE_URL: 'postgresql://x',
    TAPLINE_SECRET: Buffer.from(Array.from({ length: 32 }, (_, i) => i)).toString('hex'),
    SMTP_URL: 'smtps://x',
    ...network('TESTNET'),
    ...network('MAINNET'),
  };
  const start = (publicUrl: string) => readConfig({ ...env, TAPLINE_PUBLIC_URL: publicUrl }, []);
  assert.throws(() => start('http://pay.example.com'), /must begin with https/);
  assert.equal(start('https://pay.example.com').publicUrl, 'https://pay.example.com');
});

function network(name: string): Record<string, string> {
  const key = `0x${'11'.repeat(32)}`;
  return {
    [`CHAIN_${name}_RPC_URL`]: 'https://rpc.example.com',
    [`CHAIN_${name}_CHAIN_ID`]: '1',
    [`CHAIN_${name}_USDC`]: `0x${'22'.repeat(20)}`,
    [`CHAIN_${name}_SETTLEMENT`]: `0x${'33'.repeat(20)}`,
    [`CHAIN_${name}_RELAYER_KEYS`]: key,
    [`CHAIN_${name}_REGISTRAR_KEY`]: key,
  };
}
