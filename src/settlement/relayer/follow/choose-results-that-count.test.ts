import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  isReportedUndone,
  isStillOwed,
} from '#settlement/relayer/follow/choose-results-that-count.ts';
import { failed } from '#settlement/relayer/rows/request-kinds.ts';

const REFUSED = failed('transaction_reverted', null);

describe('what was paid before a reorganization undid it', () => {
  for (const kind of ['payment', 'refund', 'withdrawal'] as const) {
    it(`is still owed when the chain refuses the ${kind} now`, () => {
      assert.equal(isStillOwed({ kind, owed: true }, REFUSED), true);
    });

    it(`is not owed when the ledger never called the ${kind} paid`, () => {
      assert.equal(isStillOwed({ kind, owed: false }, REFUSED), false);
    });
  }

  it('is not owed when a factory of wallets refuses it now, for it may refuse forever', () => {
    assert.equal(isStillOwed({ kind: 'wallet_deployment', owed: true }, REFUSED), false);
  });

  it('is told to a person where the payer may have no money any more', () => {
    assert.equal(isReportedUndone({ kind: 'payment', owed: true }, REFUSED), true);
    assert.equal(isReportedUndone({ kind: 'payment', owed: false }, REFUSED), false);
    assert.equal(isReportedUndone({ kind: 'refund', owed: true }, REFUSED), false);
  });

  it('is told, and not sent again, where no money moves', () => {
    assert.equal(isStillOwed({ kind: 'enrolment', owed: true }, REFUSED), false);
    assert.equal(isReportedUndone({ kind: 'enrolment', owed: true }, REFUSED), true);
  });
});
