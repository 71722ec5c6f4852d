import { after } from 'node:test';
import { noteTimes } from './times.ts';

/**
 * Ends a test file that has finished but left something open, such as the server of a failed test.
 * The runner's `--test-force-exit` would end it immediately and lose unwritten results: up to half
 * of a file's tests, including the failure, were missing from the count.
 */
const GRACE_MS = 5_000;

function endWhenDone(): void {
  const timer = setTimeout(() => {
    console.error(`${process.argv[1]} left something open; ended after ${GRACE_MS} ms`);
    process.exit();
  }, GRACE_MS);
  timer.unref();
}

// Applies only to test processes: the runner itself loads this module, too, and has no tests.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  after(endWhenDone);
  noteTimes();
}
