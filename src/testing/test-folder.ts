import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';

/** Whatever ends: a test's context, or by default the tests of the file or suite that calls. */
interface Owner {
  after(remove: () => void): void;
}

/** Creates a temporary folder, which is removed after the test or the tests that own it. */
export function testFolder(owner: Owner = { after }): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'tapline-test-'));
  owner.after(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  return folder;
}
