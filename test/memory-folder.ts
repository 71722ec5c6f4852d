import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import path from 'node:path';

const MEMORY = '/dev/shm';
const PREFIX = 'tapline-tests-';
/** A run has held 0.7 GB at once. Containers often offer 64 MB: then the disk has to do. */
const LEAST_FREE = 3 * 2 ** 30;
/** Like the usual folder: tests start programs as other users. */
const OPEN_TO_ALL = 0o755;

/** Programs that tests unpack have to be allowed to run there. */
function isMemory(mounts: string): boolean {
  return mounts.split('\n').some((line) => {
    const [, where, type, flags = ''] = line.split(' ');
    return where === MEMORY && type === 'tmpfs' && !/\b(noexec|ro)\b/.test(flags);
  });
}

/** What runs that were killed have left. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(MEMORY)) {
    if (!name.startsWith(PREFIX)) continue;
    const [pid] = name.slice(PREFIX.length).split('-');
    if (existsSync(`/proc/${pid}`)) continue;
    await rm(path.join(MEMORY, name), { recursive: true, force: true });
  }
}

/**
 * A folder in memory for the temporary files of a run, its databases among them; null where the
 * machine has none. Each test clones a database of about a thousand files: on a disk that takes 0.2
 * to 0.9 s, most of it in the kernel, and in memory 0.1 s.
 */
export async function memoryFolder(): Promise<string | null> {
  if (!existsSync('/proc/mounts') || !isMemory(readFileSync('/proc/mounts', 'utf8'))) return null;
  await removeLeftovers();
  const { bavail, bsize } = await statfs(MEMORY);
  if (bavail * bsize < LEAST_FREE) return null;
  const folder = await mkdtemp(path.join(MEMORY, `${PREFIX}${process.pid}-`));
  await chmod(folder, OPEN_TO_ALL);
  return folder;
}
