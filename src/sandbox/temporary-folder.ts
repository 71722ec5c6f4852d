import { spawn } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DataFolder, openDataFolder } from './data-folder.ts';

/**
 * Script of a clean-up process. It reads process IDs until its input ends, which also happens when
 * our process is killed. Then it kills those processes and removes the folder.
 */
const CLEAN_UP = `
  pids=
  while read -r pid; do pids="$pids $pid"; done
  [ -z "$pids" ] || kill -QUIT $pids 2>/dev/null
  sleep 0.2
  rm -rf "$1"
`;

export interface TemporaryFolder {
  folder: DataFolder;
  /** Registers a process to kill if our process ends without `remove()`. */
  endWithUs(pid: number): void;
  /** Removes the folder. All processes in it must have ended. */
  remove(): Promise<void>;
}

/**
 * Creates a folder for temporary files. At the latest, it is removed when our process ends.
 * @param parent The folder that contains it.
 */
export async function openTemporaryFolder(
  prefix: string,
  parent: string = tmpdir(),
): Promise<TemporaryFolder> {
  const path = await fs.mkdtemp(join(parent, `${prefix}-`));
  const folder = await openDataFolder(path);
  const guard = spawn('/bin/sh', ['-c', CLEAN_UP, 'sh', path], {
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  return {
    folder,
    endWithUs: (pid) => guard.stdin.write(`${pid}\n`),
    remove: async () => {
      guard.kill('SIGKILL');
      await folder.close();
      await fs.rm(path, { recursive: true, force: true });
    },
  };
}
