import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A small file system in memory that a test can fill. */
export interface SmallDisk {
  readonly path: string;
  /**
   * Makes the disk full.
   * @returns a function that frees the space again
   */
  fill(): Promise<() => Promise<void>>;
  unmount(): Promise<void>;
}

/**
 * Number of tries. A write may come between reading how much is used and resizing the disk to that.
 */
const FILL_TRIES = 20;

function mount(...args: readonly string[]): boolean {
  return spawnSync('/bin/mount', args, { stdio: 'ignore' }).status === 0;
}

/** Shrinks the disk to the size of its content. Filling it with a file would take up memory. */
async function shrink(folder: string): Promise<void> {
  for (let tries = 0; tries < FILL_TRIES; tries++) {
    const { blocks, bfree, bsize } = await statfs(folder);
    const usedBytes = (blocks - bfree) * bsize;
    if (mount('-o', `remount,size=${usedBytes}`, folder)) return;
  }
  throw new Error(`the disk at ${folder} could not be filled`);
}

/**
 * Mounts a file system of this size.
 * @returns `null` if the current user may not mount one
 */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk | null> {
  if (process.platform !== 'linux') return null;
  const folder = path.join(tmpdir(), `tapline-small-${randomUUID()}`);
  await mkdir(folder);
  const size = `size=${megabytes}m`;
  if (!mount('-t', 'tmpfs', '-o', `${size},mode=1777`, 'tmpfs', folder)) {
    await rm(folder, { recursive: true });
    return null;
  }
  return {
    path: folder,
    fill: async () => {
      await shrink(folder);
      return async () => {
        if (!mount('-o', `remount,${size}`, folder)) throw new Error(`${folder} is still full`);
      };
    },
    unmount: async () => {
      spawnSync('/bin/umount', ['-l', folder], { stdio: 'ignore' });
      await rm(folder, { recursive: true, force: true });
    },
  };
}
