import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { within } from './run-within.ts';

/** Stands in for a request that is never answered. */
function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

test('a task that hangs ends at its limit', async () => {
  await assert.rejects(within({ ms: 10 }, hang), { name: 'TimeoutError' });
});

test('a task ends when its caller gives up, and says the reason of the caller', async () => {
  const caller = new AbortController();
  const hanging = within({ ms: 60_000, until: caller.signal }, hang);
  caller.abort(new Error('the till went to another page'));
  await assert.rejects(hanging, /another page/);
  const late = within({ ms: 60_000, until: caller.signal }, hang);
  await assert.rejects(late, /another page/);
});

test('a task that is done leaves neither a timer nor a listener behind', async () => {
  const caller = new AbortController();
  assert.equal(await within({ ms: 60_000, until: caller.signal }, async () => 7), 7);
  assert.equal(getEventListeners(caller.signal, 'abort').length, 0);
  assert.ok(!process.getActiveResourcesInfo().includes('Timeout'));
});
