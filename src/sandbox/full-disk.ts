import { readFile, statfs } from 'node:fs/promises';

/**
 * Free space that counts as room: PostgreSQL needs a segment of its log (16 MB) and some pages to
 * recover, and the chains save their whole state beside the old one.
 */
const ROOM_BYTES = 64 * 1024 * 1024;

export async function hasRoom(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize >= ROOM_BYTES;
}

/** True if a write failed because the disk is full. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOSPC';
}

/** Bytes at the end of a server's log that tell why it ended. */
const LAST_BYTES = 4_096;

/** True if a server's log ends with a lack of space. The log may lack it: its disk is full. */
export async function endedWithoutSpace(logFile: string): Promise<boolean> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return text.slice(-LAST_BYTES).includes('No space left on device');
}
