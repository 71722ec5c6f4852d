import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createCeiling } from '#settlement/chain/rpc/rpc-rate.ts';

const TAP = { urgent: true, withinMs: 2_000 };
const OTHER = { urgent: false, withinMs: 2_000 };
const clock = () => performance.now();

describe('a ceiling of requests per second', () => {
  it('lets taps through immediately when other requests have used up their share', async () => {
    const ceiling = createCeiling(10, clock);
    for (let i = 0; i < 6; i++) await ceiling.take(1, OTHER);
    const order: string[] = [];
    const rest = ceiling.take(1, OTHER).then(() => order.push('the rest'));
    for (let i = 0; i < 4; i++) await ceiling.take(1, TAP).then(() => order.push('tap'));
    await rest;
    assert.deepEqual(order, ['tap', 'tap', 'tap', 'tap', 'the rest']);
  });

  it('serves taps first among waiting requests', async () => {
    const ceiling = createCeiling(10, clock);
    await ceiling.take(10, TAP);
    const order: string[] = [];
    const waiting = [OTHER, OTHER, TAP, TAP].map((options) =>
      ceiling.take(1, options).then(() => order.push(options === TAP ? 'tap' : 'the rest')),
    );
    await Promise.all(waiting);
    assert.deepEqual(order, ['tap', 'tap', 'the rest', 'the rest']);
  });

  it('lets no more through than it allows', async () => {
    const ceiling = createCeiling(20, clock);
    const started = performance.now();
    await Promise.all(Array.from({ length: 40 }, () => ceiling.take(1, TAP)));
    // The first 20 are granted immediately, the rest at a rate of 20 per second.
    assert(performance.now() - started >= 950, `${performance.now() - started} ms`);
  });

  it('refuses a request that would wait too long, and serves the others', async () => {
    const ceiling = createCeiling(5, clock);
    await ceiling.take(5, TAP);
    await assert.rejects(ceiling.take(5, { urgent: false, withinMs: 50 }), /the configured limit/);
    await ceiling.take(1, TAP);
  });

  it('grants a request of the largest size that it reports', async () => {
    const ceiling = createCeiling(5, clock);
    assert.equal(ceiling.largest, 5);
    await ceiling.take(ceiling.largest, OTHER);
  });

  it('applies only if it is configured', async () => {
    const ceiling = createCeiling(null, clock);
    await Promise.all(Array.from({ length: 1_000 }, () => ceiling.take(100, OTHER)));
    assert.equal(ceiling.largest, Number.POSITIVE_INFINITY);
  });
});
