import { readFileSync, renameSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { WrongUse } from './wrong-use.ts';

/** Permission bits that let other users write to a file. */
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Throws if other users own the file or can write to it. Windows has no uid, but its user folders
 * are private by default, so it is skipped there.
 */
function checkOwner(file: string, { uid, mode }: Stats): void {
  const user = process.getuid?.();
  if (user === undefined) return;
  if (uid !== user) throw new WrongUse(`${file} belongs to another user, so it is not used.`);
  if ((mode & WRITABLE_BY_OTHERS) !== 0) {
    throw new WrongUse(
      `${file} is not used, because other users can write to it. Run: chmod 600 ${file}`,
    );
  }
}

/**
 * Reads keys and URLs only from files that no other user can have written.
 *
 * @returns `null` if the file does not exist or is not JSON.
 */
export function readOwnJson<T>(file: string): T | null {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  checkOwner(file, stats);
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    return null;
  }
}

/** Writes a file by renaming a new one, because overwriting a file would keep its old mode. */
export function writeOwnJson(file: string, value: unknown): void {
  const part = `${file}.${process.pid}`;
  writeFileSync(part, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(part, file);
}
