import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { addMs, addSeconds } from '#core/clock.ts';
import {
  groupByDeadline,
  hasTimeLeft,
  validUntil,
} from '#settlement/relayer/jobs/settlement-deadlines.ts';
import { isExpired } from '#settlement/relayer/state-machine/transaction.ts';

const NOW = new Date('2026-10-01T12:00:00.250Z');

function payment(leftS: number, settleWithinS = 60) {
  return { deadline: addSeconds(NOW, leftS), settleWithinS };
}

describe('the deadline of a payment', () => {
  it('allows signing it with ten seconds left, and not with less', () => {
    assert.equal(hasTimeLeft(payment(10), NOW), true);
    assert.equal(hasTimeLeft({ deadline: addMs(NOW, 9_999), settleWithinS: 60 }, NOW), false);
  });

  it('is given to the contract in the chain’s own time, whatever our clock says', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -86_400, max: 86_400 }),
        fc.array(fc.integer({ min: 10, max: 600 }), { minLength: 1 }),
        (skewS, lefts) => {
          const head = { time: new Date(Math.floor(NOW.getTime() / 1_000 + skewS) * 1_000) };
          const until = validUntil(
            lefts.map((left) => payment(left)),
            { head, now: NOW },
          );
          assert.equal(until.getTime() - head.time.getTime(), Math.min(...lefts) * 1_000);
        },
      ),
    );
  });

  it('is never rounded up', () => {
    const head = { time: new Date('2026-10-01T12:00:00.000Z') };
    const timed = { deadline: addMs(NOW, 20_999), settleWithinS: 60 };
    const until = validUntil([timed], { head, now: NOW });
    assert.equal(until.toISOString(), '2026-10-01T12:00:20.000Z');
  });

  it('has passed in a block with a later time, and not in one with its own', () => {
    const block = { time: new Date('2026-10-01T12:00:20.000Z') };
    assert.equal(isExpired({ validUntil: block.time }, block), false);
    assert.equal(isExpired({ validUntil: addSeconds(block.time, -1) }, block), true);
    assert.equal(isExpired({ validUntil: null }, block), false);
  });
});

describe('a batch', () => {
  it('contains no deadlines further apart than half of the time given', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 10, max: 600 })), (lefts) => {
        const groups = groupByDeadline(
          lefts.map((left) => payment(left, 100)),
          NOW,
        );
        const spans = groups.map((group) => {
          const times = group.map(({ deadline }) => deadline.getTime());
          return Math.max(...times) - Math.min(...times);
        });
        assert.ok(spans.every((span) => span <= 50_000));
        assert.equal(groups.flat().length, lefts.length);
      }),
    );
  });

  it('contains all payments of a rush, whose deadlines are close together', () => {
    const rush = Array.from({ length: 200 }, (_, index) => payment(60 - index / 100));
    assert.equal(groupByDeadline(rush, NOW).length, 1);
  });
});
