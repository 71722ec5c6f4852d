import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DueRow } from '#webhooks/delivery-queue-queries.ts';
import { createSlots } from '#webhooks/delivery-slots.ts';
import { type EndpointSession, SLOW_MS } from '#webhooks/endpoint-session.ts';

/** Returns a session with the fields that the slots read. */
function sessionOf(name: string, deliveries: number, failures = 0): EndpointSession {
  const health = {
    consecutiveFailures: failures,
    failingSince: null,
    notBefore: null,
    window: 8,
  };
  const session: Partial<EndpointSession> = {
    endpointId: name,
    health,
    buffer: Array.from({ length: deliveries }, () => ({}) as DueRow),
    inFlight: 0,
    latencyMs: 0,
    state: 'open',
    queued: false,
  };
  return session as EndpointSession;
}

/** Returns slots whose deliveries end when the test ends them. */
function scene(limits: { brisk: number; slow: number }) {
  const started: string[] = [];
  const running: { readonly name: string; readonly end: () => void }[] = [];
  const slots = createSlots(limits, async (session) => {
    session.buffer.shift();
    session.inFlight++;
    started.push(session.endpointId);
    await new Promise<void>((end) => {
      running.push({ name: session.endpointId, end });
    });
    session.inFlight--;
  });
  const end = async (name: string) => {
    const at = running.findIndex((entry) => entry.name === name);
    running.splice(at, 1)[0]?.end();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { slots, started, end, endAll: () => Promise.all(running.splice(0).map((e) => e.end())) };
}

describe('the slots of a process', () => {
  test('take turns: the full buffer of one endpoint does not delay another endpoint', async () => {
    const { slots, started, end } = scene({ brisk: 2, slow: 1 });
    const [big, small] = [sessionOf('big', 6), sessionOf('small', 1)];
    slots.offer(big);
    slots.offer(small);
    assert.deepEqual(started, ['big', 'big']);
    await end('big');
    assert.deepEqual(started, ['big', 'big', 'big']);
    await end('big');
    assert.deepEqual(started.slice(3), ['small']);
  });

  test('are never more than the limit, and never more than eight for one endpoint', async () => {
    const { slots, started } = scene({ brisk: 20, slow: 1 });
    slots.offer(sessionOf('a', 50));
    slots.offer(sessionOf('b', 50));
    slots.offer(sessionOf('c', 50));
    assert.equal(slots.inFlight(), 20);
    for (const name of ['a', 'b']) {
      assert.equal(started.filter((other) => other === name).length, 8);
    }
  });

  test('of failing endpoints are separate: however many hang, the others continue', () => {
    const { slots, started } = scene({ brisk: 2, slow: 3 });
    for (let i = 0; i < 10; i++) slots.offer(sessionOf(`failing ${i}`, 1, 1));
    assert.equal(started.length, 3);
    slots.offer(sessionOf('fine', 1));
    assert.equal(started.at(-1), 'fine');
  });

  test('that hang are freed for other endpoints after a second', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { slots, started, endAll } = scene({ brisk: 8, slow: 1 });
    slots.offer(sessionOf('hangs', 8));
    slots.offer(sessionOf('fine', 1));
    assert.equal(started.includes('fine'), false);
    t.mock.timers.tick(SLOW_MS);
    assert.equal(started.at(-1), 'fine');
    assert.equal(slots.inFlight(), 9);
    await endAll();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(slots.inFlight(), 0);
  });
});
