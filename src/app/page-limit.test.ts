import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildApi } from '#app/api-role.ts';
import { PAGES } from '#http/address-rate-limit.ts';
import { CARD_PATH } from '#payers/card-url.ts';
import { HOLD_PATH } from '#people/hold-after-owner-change.ts';
import { PERSON_LINK_PATH } from '#people/person-links.ts';
import { startTestApi } from '#testkit/apis/api.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

const api = openForTests(() =>
  startTestApi({ build: buildApi, env: { TRUSTED_PROXIES: '127.0.0.0/8' } }),
);

/** Sends a request with a client address, as from behind a proxy. */
const askFrom = (path: string, address: string) =>
  fetch(new URL(path, api.url), { headers: { 'X-Forwarded-For': address } });

/**
 * Sends concurrent requests from different addresses of one /64 until some are refused.
 * @returns the number of responses by status.
 */
async function statusesOf(path: string): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  let requestCount = 0;
  const ask = async () => {
    while ((counts[429] ?? 0) < 5) {
      const response = await askFrom(path, `2001:db8:0:1::${(requestCount++).toString(16)}`);
      await response.arrayBuffer();
      counts[response.status] = (counts[response.status] ?? 0) + 1;
      const waits = Number(response.headers.get('retry-after'));
      assert.equal(waits > 0, response.status === 429, `Retry-After of ${response.status}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, ask));
  return counts;
}

for (const path of [CARD_PATH, HOLD_PATH, PERSON_LINK_PATH, '/brand']) {
  test(`${path}: a /64 that guesses links gets ${PAGES.requests} answers a minute`, async () => {
    const began = performance.now();
    const { 429: _refused, ...answered } = await statusesOf(`${path}/guess`);
    // Allow for more requests, because the limiter admits some while the test runs.
    const more = Math.ceil((performance.now() - began) / ((PAGES.seconds * 1000) / PAGES.requests));
    const [count = 0, ...others] = Object.values(answered);
    assert.deepEqual(others, [], 'a wrong link has one answer');
    assert.ok(count >= PAGES.requests && count <= PAGES.requests + more, `${count} answers`);
    const neighbor = await askFrom(`${path}/guess`, '2001:db8:0:2::1');
    assert.equal(neighbor.status, Number(Object.keys(answered)[0]), 'another /64');
  });
}
