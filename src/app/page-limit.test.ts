import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PAGES } from '#http/page-limit.ts';
import { CARD_PATH } from '#payers/card-url.ts';
import { HOLD_PATH } from '#people/owner-changes.ts';
import { PERSON_LINK_PATH } from '#people/person-links.ts';
import { startTestApi, type TestApi } from '#testing/api.ts';

let api: TestApi;

before(async () => {
  api = await startTestApi();
});

after(() => api.close());

/** How often each status came, of requests that are sent a few at a time. */
async function statusesOf(path: string, requests: number): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  let left = requests;
  const ask = async () => {
    while (left-- > 0) {
      const response = await fetch(new URL(path, api.url));
      await response.arrayBuffer();
      counts[response.status] = (counts[response.status] ?? 0) + 1;
      const waits = Number(response.headers.get('retry-after'));
      assert.equal(waits > 0, response.status === 429, `Retry-After of ${response.status}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, ask));
  return counts;
}

for (const path of [CARD_PATH, HOLD_PATH, PERSON_LINK_PATH]) {
  test(`${path}: who tries links gets ${PAGES.requests} answers a minute`, async () => {
    const { 429: refused, ...answered } = await statusesOf(`${path}/guess`, PAGES.requests + 5);
    assert.equal(refused, 5);
    assert.equal(Object.keys(answered).length, 1, 'a link that is wrong has one answer');
  });
}
