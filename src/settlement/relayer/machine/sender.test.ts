import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  newSender,
  type SenderFacts,
  type SenderObservation,
  statusOf,
  stepSender,
  takesWork,
} from '#settlement/relayer/machine/sender.ts';

const FEES = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
const OPEN = { wanted: null } as const;
const OWED = { wanted: { cancels: false, fees: FEES } } as const;

const seen = (...observations: readonly SenderObservation[]): SenderFacts =>
  observations.reduce(stepSender, newSender(false));

const DRAINING = { kind: 'shared', isBeyondShare: true } as const;
const STARVED = { kind: 'balance', isStarved: true, paymentsLeft: 0n } as const;
const STOPPED = { kind: 'foreign_key' } as const;

describe('a sender', () => {
  it('takes work while it is idle or working, and in no other state', () => {
    const ready = newSender(false);
    assert.equal(statusOf(ready, new Map()), 'idle');
    assert.equal(statusOf(ready, new Map([[1n, OPEN]])), 'working');
    assert.deepEqual([takesWork('idle'), takesWork('working')], [true, true]);
    for (const status of ['asking_signer', 'starved', 'draining', 'stopped'] as const) {
      assert.equal(takesWork(status), false);
    }
  });

  it('has the status of what keeps it from work for longest', () => {
    const open = new Map([[1n, OWED]]);
    assert.equal(statusOf(newSender(false), open), 'asking_signer');
    assert.equal(statusOf(seen(STARVED), open), 'starved');
    assert.equal(statusOf(seen(STARVED, DRAINING), open), 'draining');
    assert.equal(statusOf(seen(STARVED, DRAINING, STOPPED), open), 'stopped');
  });

  it('works again once it is funded and within its share, and is never restarted', () => {
    const funded = { kind: 'balance', isStarved: false, paymentsLeft: 9n } as const;
    const shared = { kind: 'shared', isBeyondShare: false } as const;
    assert.equal(statusOf(seen(STARVED, DRAINING, funded, shared), new Map()), 'idle');
    assert.equal(statusOf(seen(STOPPED, funded, shared), new Map()), 'stopped');
  });

  it('makes no second request while its signer is asked', () => {
    const asked = seen({ kind: 'signer_asked' });
    assert.equal(asked.isSignerAsked, true);
    assert.equal(stepSender(asked, { kind: 'signer_answered' }).isSignerAsked, false);
  });
});
