import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderPayerRequest } from '#payers/render.ts';
import type { PayerRequestRow } from '#payers/request-queries.ts';

const ROW: PayerRequestRow = {
  id: 'apv_1',
  payer_id: 'pyr_1',
  kind: 'enrolment',
  status: 'pending',
  failure_code: null,
  tx_hash: null,
  created: new Date(0),
  updated: new Date(0),
};

test('a request that the chain refused names the remedy; others have no message', () => {
  for (const kind of ['enrolment', 'faucet', 'transfer'] as const) {
    assert.equal(renderPayerRequest({ ...ROW, kind }, false).failure_message, null);
    const failed = { status: 'failed', failure_code: 'transaction_reverted' } as const;
    assert.match(
      renderPayerRequest({ ...ROW, kind, ...failed }, false).failure_message ?? '',
      /again\.$/,
      kind,
    );
  }
});
