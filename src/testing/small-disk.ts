import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, open, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A small file system in memory, which a test fills up. */
export interface SmallDisk {
  readonly path: string;
  /** Leaves no free byte. @returns a function that frees the space again. */
  fill(): Promise<() => Promise<void>>;
  unmount(): Promise<void>;
}

/** Large, because on a busy machine each write waits for its turn. */
const BLOCK_BYTES = 8 * 1024 * 1024;

async function fill(folder: string): Promise<() => Promise<void>> {
  const file = path.join(folder, 'filler');
  const handle = await open(file, 'w');
  const block = Buffer.alloc(BLOCK_BYTES);
  for (;;) {
    const { bavail } = await statfs(folder);
    if (bavail === 0) break;
    const { bytesWritten } = await handle.write(block).catch(() => ({ bytesWritten: 0 }));
    if (bytesWritten === 0) break;
  }
  await handle.close();
  return () => rm(file);
}

/** Mounts a file system of this size. @returns `null` if this user may not mount one. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk | null> {
  if (process.platform !== 'linux') return null;
  const folder = path.join(tmpdir(), `tapline-small-${randomUUID()}`);
  await mkdir(folder);
  const args = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=1777`, 'tmpfs', folder];
  if (spawnSync('/bin/mount', args, { stdio: 'ignore' }).status !== 0) {
    await rm(folder, { recursive: true });
    return null;
  }
  return {
    path: folder,
    fill: () => fill(folder),
    unmount: async () => {
      spawnSync('/bin/umount', ['-l', folder], { stdio: 'ignore' });
      await rm(folder, { recursive: true, force: true });
    },
  };
}
