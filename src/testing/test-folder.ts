import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Calls `remove` when it ends, as a test's context does. */
interface Owner {
  after(remove: () => void): void;
}

/**
 * Owns folders that more than one test uses. Not `after`, because hooks run in the order in which
 * they were registered, and what uses a folder is stopped in later ones.
 */
const untilExit: Owner = { after: (remove) => removals.push(remove) };
const removals: (() => void)[] = [];
process.once('exit', () => {
  for (const remove of removals) remove();
});

/** Creates a temporary folder. It is removed after its owner, by default when the process ends. */
export function testFolder(owner: Owner = untilExit): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'tapline-test-'));
  owner.after(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  return folder;
}
