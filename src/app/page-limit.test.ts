import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FakeClock } from '#core/clock.ts';
import { PAGES } from '#http/page-limit.ts';
import { CARD_PATH } from '#payers/card-url.ts';
import { HOLD_PATH } from '#people/owner-changes.ts';
import { PERSON_LINK_PATH } from '#people/person-links.ts';
import { startTestApi, type TestApi } from '#testing/api.ts';

let api: TestApi;
/** It stands still: what a limit lets in again with time would depend on how busy a machine is. */
const clock = new FakeClock();

before(async () => {
  api = await startTestApi({ clock, env: { TRUSTED_PROXIES: '127.0.0.0/8' } });
});

after(() => api.close());

/** As a proxy in front says who asks. */
const askFrom = (path: string, address: string) =>
  fetch(new URL(path, api.url), { headers: { 'X-Forwarded-For': address } });

/** How often each status came, of requests a few at a time, each from an address of one /64. */
async function statusesOf(path: string, requests: number): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  let left = requests;
  const ask = async () => {
    while (left-- > 0) {
      const response = await askFrom(path, `2001:db8:0:1::${left.toString(16)}`);
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
  test(`${path}: a /64 that tries links gets ${PAGES.requests} answers a minute`, async () => {
    const { 429: refused, ...answered } = await statusesOf(`${path}/guess`, PAGES.requests + 5);
    assert.equal(refused, 5);
    assert.equal(Object.keys(answered).length, 1, 'a link that is wrong has one answer');
    const neighbour = await askFrom(`${path}/guess`, '2001:db8:0:2::1');
    assert.equal(neighbour.status, Number(Object.keys(answered)[0]), 'another /64');
  });
}
