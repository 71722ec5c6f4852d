import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeError, stderrLog } from '#core/log.ts';

const NOW = new Date('2026-10-01T12:00:00.000Z');

test('an entry is one line of JSON, whatever stands in it', (context) => {
  const lines: string[] = [];
  context.mock.method(process.stderr, 'write', (line: string) => lines.push(line));
  const fault = new Error('away\nfor long', { cause: new Error('refused') });
  stderrLog(() => NOW).error('the relayer failed', { amount: 5n, fault });
  context.mock.restoreAll();
  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.indexOf('\n'), lines[0]?.lastIndexOf('\n'));
  assert.deepEqual(JSON.parse(lines[0] ?? ''), {
    time: '2026-10-01T12:00:00.000Z',
    level: 'error',
    message: 'the relayer failed',
    amount: '5',
    fault: 'away\nfor long: refused',
  });
});

test('a fault is told with everything that caused it', () => {
  const cause = new Error('no route', { cause: 'cable' });
  assert.equal(describeError(new Error('no answer', { cause })), 'no answer: no route: cable');
  assert.equal(describeError('plain'), 'plain');
});
