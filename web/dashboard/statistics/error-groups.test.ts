import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupErrors } from './error-groups.ts';

test('failed requests are grouped by error and path, the most frequent first', () => {
  const request = (id: string, code: string | null, operation: string | null) => {
    return { id, code, operation, status: 400, created: '2026-11-20T10:00:00.000Z' };
  };
  const groups = groupErrors([
    request('req_4', 'parameter_invalid', 'createRefund'),
    request('req_3', 'parameter_missing', 'createPaymentIntent'),
    request('req_2', 'parameter_missing', 'createPaymentIntent'),
    request('req_1', null, null),
  ]);
  assert.deepEqual(
    groups.map(({ code, count, newest }) => [code, count, newest.id]),
    [
      ['parameter_missing', 2, 'req_3'],
      ['parameter_invalid', 1, 'req_4'],
      ['400', 1, 'req_1'],
    ],
  );
});
