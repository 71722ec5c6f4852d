import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  NEW_SENDER,
  type SenderChange,
  type SenderFacts,
  statusOf,
  takesWork,
} from '#settlement/relayer/state-machine/sender-status.ts';

const FEES = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
const OPEN = { wanted: null } as const;
const OWED = { wanted: { cancels: false, fees: FEES } } as const;

const seen = (...changes: readonly SenderChange[]): SenderFacts =>
  Object.assign({}, NEW_SENDER, ...changes);

const DRAINING = { isDraining: true } as const;
const STARVED = { isStarved: true, paymentsLeft: 0n } as const;
const STOPPED = { isStopped: true } as const;

describe('a sender', () => {
  it('takes work while it is idle or working, and in no other state', () => {
    const ready = NEW_SENDER;
    assert.equal(statusOf(ready, new Map()), 'idle');
    assert.equal(statusOf(ready, new Map([[1n, OPEN]])), 'working');
    assert.deepEqual([takesWork('idle'), takesWork('working')], [true, true]);
    for (const status of ['asking_signer', 'starved', 'draining', 'stopped'] as const) {
      assert.equal(takesWork(status), false);
    }
  });

  it('has the status of the condition that keeps it from work for longest', () => {
    const open = new Map([[1n, OWED]]);
    assert.equal(statusOf(NEW_SENDER, open), 'asking_signer');
    assert.equal(statusOf(seen(STARVED), open), 'starved');
    assert.equal(statusOf(seen(STARVED, DRAINING), open), 'draining');
    assert.equal(statusOf(seen(STARVED, DRAINING, STOPPED), open), 'stopped');
  });

  it('works again once it is funded and within its share, but never after it was stopped', () => {
    const funded = { isStarved: false, paymentsLeft: 9n } as const;
    const shared = { isDraining: false } as const;
    assert.equal(statusOf(seen(STARVED, DRAINING, funded, shared), new Map()), 'idle');
    assert.equal(statusOf(seen(STOPPED, funded, shared), new Map()), 'stopped');
  });
});
