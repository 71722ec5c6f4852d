import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import {
  activeTraceparent,
  type FinishedSpan,
  inSpan,
  startSpan,
  traceInto,
  traceSpan,
} from '#observability/tracing.ts';

const PARENT = `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`;
/** Maximum nanoseconds per step with tracing off: a thousandth of the cheapest request. */
const OFF_NS = 1_000;

afterEach(() => traceInto(null));

test('with tracing off, a span costs nothing and carries nothing', (t) => {
  const count = 300_000;
  const started = performance.now();
  for (let i = 0; i < count; i++) {
    if (startSpan('pay', { parent: PARENT }) !== null) assert.fail('a span while off');
    if (activeTraceparent() !== null) assert.fail('a trace while off');
  }
  const ns = ((performance.now() - started) * 1e6) / count;
  t.diagnostic(`${ns.toFixed(0)} ns for a step while off`);
  assert(ns < OFF_NS, `${ns} ns`);
});

test('a span continues the trace of its parent, and its children continue it', async () => {
  const spans: FinishedSpan[] = [];
  traceInto({ sink: (span) => spans.push(span), ratio: 1 });
  const outer = startSpan('outer', { parent: PARENT, kind: 'server' });
  await inSpan(outer, async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(activeTraceparent(), outer?.traceparent);
    traceSpan('inner', { parent: activeTraceparent(), startMs: Date.now() - 3, attributes: {} });
  });
  outer?.fail('status 500');
  outer?.end();
  const [inner, whole] = spans;
  assert.deepEqual([whole?.traceId, whole?.parentId], ['a1'.repeat(16), 'b2'.repeat(8)]);
  assert.deepEqual([inner?.traceId, inner?.parentId], ['a1'.repeat(16), whole?.spanId]);
  assert.equal(whole?.fault, 'status 500');
  assert((inner?.endMs ?? 0) - (inner?.startMs ?? 0) >= 3);
});

test('a trace that is not sampled, and a malformed traceparent, are ignored', () => {
  const spans: FinishedSpan[] = [];
  traceInto({ sink: (span) => spans.push(span), ratio: 0 });
  assert.equal(startSpan('x', { parent: PARENT.replace(/01$/, '00') }), null);
  for (const parent of [null, '', 'xyz', `00-${'0'.repeat(32)}-${'b2'.repeat(8)}-01`]) {
    assert.equal(startSpan('x', { parent }), null, 'no parent, and the ratio is 0');
  }
  startSpan('x', { parent: PARENT })?.end();
  assert.equal(spans.length, 1, 'a sampled parent is traced, for any ratio');
});
