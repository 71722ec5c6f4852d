import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestIntent, startTestApi } from '#testkit/apis/api.ts';
import { heard, openEventStream } from '#testkit/network/event-stream.ts';

const KEYS = 20;
const STREAMS_OF_KEY = 20;
const EVENTS = 50;
/**
 * Generous, because one process serves and reads all streams on a machine that runs other tests.
 */
const WITHIN_MS = 10_000;

test('400 open streams on one node get every event, in order, with 8 connections', async () => {
  const api = await startTestApi();
  const { tenant } = api.merchant.test;
  const keys = await Promise.all(Array.from({ length: KEYS }, () => api.addKey(tenant)));
  const url = `${api.url}/api/v1/events/stream`;
  const streams = await Promise.all(
    keys.flatMap(({ secret }) =>
      Array.from({ length: STREAMS_OF_KEY }, () => openEventStream({ url, key: secret })),
    ),
  );
  assert.ok(streams.every(({ status }) => status === 200));
  const begun = performance.now();
  await Promise.all(Array.from({ length: EVENTS }, () => createTestIntent(api)));
  await Promise.all(streams.map((stream) => heard(stream, EVENTS)));
  assert.ok(performance.now() - begun < WITHIN_MS);
  const { body } = await api.call({ path: `/v1/events?limit=${EVENTS}` });
  const listed = body.data.map(({ id }) => id).reverse();
  for (const { ids } of streams) assert.deepEqual(ids, listed);
  for (const stream of streams) stream.close();
  await api.close();
});
