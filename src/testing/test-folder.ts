import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const folders: string[] = [];
// Not in `after`, because hooks run in the order in which they were registered, and what uses a
// folder is stopped in later ones.
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Creates an empty folder, which is removed when this process ends. */
export async function testFolder(name: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), `tapline-${name}-`));
  folders.push(folder);
  return folder;
}
