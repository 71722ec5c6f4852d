import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failed } from '#settlement/relayer/jobs/request-kinds.ts';
import {
  isReportedUndone,
  isStillOwed,
} from '#settlement/relayer/track/choose-results-that-count.ts';

const REFUSED = failed('transaction_reverted', null);

describe('a job that was done before a reorganization undid it', () => {
  for (const kind of ['payment', 'refund', 'withdrawal'] as const) {
    it(`must be resent even if the chain now refuses the ${kind}`, () => {
      assert.equal(isStillOwed({ kind, owed: true }, REFUSED), true);
    });

    it(`need not be resent if the ledger never booked the ${kind}`, () => {
      assert.equal(isStillOwed({ kind, owed: false }, REFUSED), false);
    });
  }

  it('need not be resent if a factory refuses it now, because it may refuse forever', () => {
    assert.equal(isStillOwed({ kind: 'wallet_deployment', owed: true }, REFUSED), false);
  });

  it('is reported to operators if the payer may have no money left', () => {
    assert.equal(isReportedUndone({ kind: 'payment', owed: true }, REFUSED), true);
    assert.equal(isReportedUndone({ kind: 'payment', owed: false }, REFUSED), false);
    assert.equal(isReportedUndone({ kind: 'refund', owed: true }, REFUSED), false);
  });

  it('is reported, and not resent, if it moves no money', () => {
    assert.equal(isStillOwed({ kind: 'enrolment', owed: true }, REFUSED), false);
    assert.equal(isReportedUndone({ kind: 'enrolment', owed: true }, REFUSED), true);
  });
});
