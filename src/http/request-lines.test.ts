import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { answerWith } from '#core/answer.ts';
import { createRequestLines } from '#http/request-lines.ts';
import { bareRoute, bareSurface, GOOD_KEY, startBareServer } from '#testkit/apis/http-kit.ts';

const PING = bareRoute({
  path: '/ping',
  operationId: 'ping',
  query: Type.Object({ secret: Type.String() }),
  handle: async () => answerWith(200, {}),
});

test('requests are lines of the log while enabled, without their content', async (context) => {
  const lines: string[] = [];
  const requestLines = createRequestLines('failed');
  const server = await startBareServer({
    surfaces: [bareSurface([PING])],
    onAnswered: requestLines.note,
  });
  context.mock.method(process.stderr, 'write', (line: string) => lines.push(line));
  const ask = () =>
    fetch(`${server.url}/api/v1/ping?secret=tlsk_test_0123456789`, {
      headers: { authorization: `Bearer ${GOOD_KEY}` },
    });
  await ask();
  requestLines.toggle();
  for (let i = 0; i < 3; i++) await ask();
  requestLines.toggle();
  await ask();
  context.mock.restoreAll();
  await server.close();
  const told = lines.map((line) => JSON.parse(line));
  assert.equal(told.length, 3, 'each request is logged, even if it equals another');
  const { request, route, status, account, ms } = told[0];
  assert.match(request, /^req_/);
  assert.deepEqual([route, status, account], ['/ping', 200, 'acct_test']);
  assert(ms >= 0);
  assert.doesNotMatch(lines.join(''), /0123456789|127\.0\.0\.1|Bearer/);
});
