import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A small file system in memory, which a test fills up. */
export interface SmallDisk {
  readonly path: string;
  /** Fills the disk completely. @returns a function that frees the space again. */
  fill(): Promise<() => Promise<void>>;
  unmount(): Promise<void>;
}

/** How many times to try, because a write may happen between reading the used size and resizing. */
const FILL_TRIES = 20;

function mount(...args: readonly string[]): boolean {
  return spawnSync('/bin/mount', args, { stdio: 'ignore' }).status === 0;
}

/** Shrinks the disk to its used size. Filling it with a file would take memory. */
async function shrink(folder: string): Promise<void> {
  for (let tries = 0; tries < FILL_TRIES; tries++) {
    const { blocks, bfree, bsize } = await statfs(folder);
    const usedBytes = (blocks - bfree) * bsize;
    if (mount('-o', `remount,size=${usedBytes}`, folder)) return;
  }
  throw new Error(`the disk at ${folder} could not be filled`);
}

/** Mounts a file system of this size. @returns `null` if the current user may not mount one. */
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
