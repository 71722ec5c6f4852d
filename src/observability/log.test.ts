import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { describeError, type Log, stderrLog } from '#observability/log.ts';

const NOW = new Date('2026-10-01T12:00:00.000Z');

test('an entry is one line of JSON, for any content', (context) => {
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

test('at a terminal an entry is a line of text, and cannot steer the terminal', (context) => {
  const lines: string[] = [];
  context.mock.method(process.stderr, 'write', (line: string) => lines.push(line));
  const log = stderrLog(() => NOW, { asText: true, release: '1.0.0', secrets: ['hunter22'] });
  log.warn('a node is silent\u001b[2J', { network: 'testnet', fault: new Error('hunter22\naway') });
  context.mock.restoreAll();
  assert.equal(lines.length, 1);
  const [line = ''] = lines;
  assert.match(line, /^12:00:00 warn: a node is silent \[2J \(network testnet, fault .+away"\)\n$/);
  assert.doesNotMatch(line, /hunter22/);
});

/**
 * Runs `work` with a log and a fake clock.
 * @returns the lines that it wrote
 */
function told(context: TestContext, work: (log: Log, tick: (ms: number) => void) => void) {
  const lines: string[] = [];
  context.mock.timers.enable({ apis: ['setTimeout'] });
  context.mock.method(process.stderr, 'write', (line: string) => lines.push(line));
  work(
    stderrLog(() => NOW),
    (ms) => context.mock.timers.tick(ms),
  );
  context.mock.restoreAll();
  return lines.map((line) => JSON.parse(line));
}

test('a repeated fault is logged once in ten seconds, with the number omitted', (context) => {
  const lines = told(context, (log, tick) => {
    for (let i = 0; i < 9_386; i++) log.warn('database away', { request: i, error: 'refused' });
    tick(10_000);
    tick(60_000);
    log.warn('database away', { request: 'later', error: 'refused' });
  });
  assert.deepEqual(
    lines.map(({ request, left_out }) => [request, left_out]),
    [
      [0, undefined],
      [9_385, 9_384],
      ['later', undefined],
    ],
  );
});

test('a repeated message without a fault is omitted, whatever object it names', (context) => {
  const lines = told(context, (log, tick) => {
    for (let i = 0; i < 500; i++) log.warn('malformed request', { request: i, message: 'no' });
    tick(10_000);
  });
  assert.deepEqual(
    lines.map(({ request, message, why, left_out }) => [request, message, why, left_out]),
    [
      [0, 'malformed request', 'no', undefined],
      [499, 'malformed request', 'no', 498],
    ],
  );
});

test('another fault, another place and another level are never omitted', (context) => {
  const lines = told(context, (log) => {
    log.error('the sender failed', { network: 'testnet', error: 'refused' });
    log.error('the sender failed', { network: 'mainnet', error: 'refused' });
    log.error('the sender failed', { network: 'testnet', error: 'reset' });
    log.warn('the sender failed', { network: 'testnet', error: 'reset' });
    log.warn('a sender is running low on gas funds', { network: 'testnet', sender: 1 });
    log.warn('a sender is running low on gas funds', { network: 'testnet', sender: 2 });
  });
  assert.equal(lines.length, 6);
});

test('a fault is logged with all of its causes', () => {
  const cause = new Error('no route', { cause: 'cable' });
  assert.equal(describeError(new Error('no answer', { cause })), 'no answer: no route: cable');
  assert.equal(describeError('plain'), 'plain');
});
