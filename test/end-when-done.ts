import { after } from 'node:test';
import { noteTimes } from './times.ts';

/**
 * Ends a test file that is done but left something open, such as a server of a failed test.
 * The runner's `--test-force-exit` would end it at once, and lose results not yet written: up to
 * half of a file's tests went missing from the count, with the failure among them.
 */
const GRACE_MS = 5_000;

function endWhenDone(): void {
  const timer = setTimeout(() => {
    console.error(`${process.argv[1]} left something open; ended after ${GRACE_MS} ms`);
    process.exit();
  }, GRACE_MS);
  timer.unref();
}

// The runner itself loads this too, and has no tests of its own.
if (process.env.NODE_TEST_CONTEXT !== undefined) {
  after(endWhenDone);
  noteTimes();
}
