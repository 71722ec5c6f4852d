import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { answerWith } from '#core/answer.ts';
import type { Surface } from '#http/route.ts';
import { createMetrics } from '#ops/prometheus-metrics.ts';
import { bareRoute, bareSurface, GOOD_KEY, startBareServer } from '#testkit/apis/http-kit.ts';

const Query = Type.Object({ status: Type.Integer() });
const PING = bareRoute<typeof Query>({
  path: '/ping',
  operationId: 'ping',
  query: Query,
  handle: async ({ query }) => answerWith(query.status, {}),
});

const LIVE_KEY = 'live';

/** Returns an API surface with a key of each mode. */
function twoModes(): Surface {
  const bare = bareSurface([PING]);
  return {
    ...bare,
    authenticate: async (request) => {
      const live = request.authorization === `Bearer ${LIVE_KEY}`;
      const authorization = live ? `Bearer ${GOOD_KEY}` : request.authorization;
      const caller = await bare.authenticate({ ...request, authorization });
      if (!live || !('tenant' in caller)) return caller;
      return { ...caller, tenant: { ...caller.tenant, livemode: true } };
    },
  };
}

test('requests are counted by network, so that test mode raises no alert', async () => {
  const metrics = createMetrics([]);
  const server = await startBareServer({
    surfaces: [twoModes()],
    onAnswered: (request, call, status) => metrics.onAnswered(call, request.method, status),
  });
  for (const [key, status] of [
    [LIVE_KEY, 200],
    [LIVE_KEY, 503],
    [GOOD_KEY, 500],
    ['unknown', 200],
  ] as const) {
    const headers = { authorization: `Bearer ${key}` };
    await (await fetch(`${server.url}/api/v1/ping?status=${status}`, { headers })).text();
  }
  await server.close();
  const text = await metrics.render();
  const counted = [...text.matchAll(/^tapline_requests_total(.*)$/gm)].map(([, one]) => one);
  assert.deepEqual(counted.sort(), [
    '{network="mainnet",result="answered"} 1',
    '{network="mainnet",result="failed"} 1',
    '{network="none",result="answered"} 1',
    '{network="none",result="failed"} 0',
    '{network="testnet",result="answered"} 0',
    '{network="testnet",result="failed"} 1',
  ]);
});
