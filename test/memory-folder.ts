import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import path from 'node:path';

const MEMORY = '/dev/shm';
const PREFIX = 'tapline-tests-';
/**
 * Least free memory, because a run uses up to 0.7 GB. With less, such as the 64 MB of many
 * containers, the run uses the disk.
 */
const LEAST_FREE = 3 * 2 ** 30;
/** The usual permissions of a temporary folder, because tests start programs as other users. */
const OPEN_TO_ALL = 0o755;

/** Must be mounted without noexec, because tests run programs that they unpack there. */
function isMemory(mounts: string): boolean {
  return mounts.split('\n').some((line) => {
    const [, where, type, flags = ''] = line.split(' ');
    return where === MEMORY && type === 'tmpfs' && !/\b(noexec|ro)\b/.test(flags);
  });
}

/** Removes the folders that killed runs left behind. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(MEMORY)) {
    if (!name.startsWith(PREFIX)) continue;
    const [pid] = name.slice(PREFIX.length).split('-');
    if (existsSync(`/proc/${pid}`)) continue;
    await rm(path.join(MEMORY, name), { recursive: true, force: true });
  }
}

/**
 * Runs in a memory-backed folder, if the machine has one. All processes of the run find it through
 * the variable. Each test clones a database of about a thousand files, which takes 0.2 to 0.9 s on
 * disk, mostly in the kernel, and 0.1 s in memory.
 */
export async function inMemory(run: () => Promise<number>): Promise<number> {
  if (!existsSync('/proc/mounts') || !isMemory(readFileSync('/proc/mounts', 'utf8'))) return run();
  await removeLeftovers();
  const { bavail, bsize } = await statfs(MEMORY);
  if (bavail * bsize < LEAST_FREE) return run();
  const folder = await mkdtemp(path.join(MEMORY, `${PREFIX}${process.pid}-`));
  await chmod(folder, OPEN_TO_ALL);
  process.env.TMPDIR = folder;
  const code = await run();
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  return code;
}
