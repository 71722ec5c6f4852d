import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { within } from './run-within.ts';

/** Simulates a request that never gets a response. */
function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

test('a hanging task ends at its time limit', async () => {
  await assert.rejects(within({ ms: 10 }, hang), { name: 'TimeoutError' });
});

test('a task ends when its caller aborts, with the caller’s reason', async () => {
  const caller = new AbortController();
  const hanging = within({ ms: 60_000, until: caller.signal }, hang);
  caller.abort(new Error('the till went to another page'));
  await assert.rejects(hanging, /another page/);
  const late = within({ ms: 60_000, until: caller.signal }, hang);
  await assert.rejects(late, /another page/);
});

test('a finished task leaves no timer or listener behind', async () => {
  const caller = new AbortController();
  assert.equal(await within({ ms: 60_000, until: caller.signal }, async () => 7), 7);
  assert.equal(getEventListeners(caller.signal, 'abort').length, 0);
  assert.ok(!process.getActiveResourcesInfo().includes('Timeout'));
});
