import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isStillOwed } from '#settlement/relayer/follow/resolve.ts';
import { failed } from '#settlement/relayer/rows/facts.ts';

const REFUSED = failed('transaction_reverted', null);

describe('what was paid before a reorganisation undid it', () => {
  for (const kind of ['refund', 'withdrawal'] as const) {
    it(`is still owed when the chain refuses the ${kind} now`, () => {
      assert.equal(isStillOwed({ kind, owed: true }, REFUSED), true);
    });

    it(`is not owed when the ledger never called the ${kind} paid`, () => {
      assert.equal(isStillOwed({ kind, owed: false }, REFUSED), false);
    });
  }

  it('is not owed by a payer, who may have no money any more', () => {
    assert.equal(isStillOwed({ kind: 'payment', owed: true }, REFUSED), false);
  });
});
