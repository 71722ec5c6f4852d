import { readFileSync, renameSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { WrongUse } from './wrong-use.ts';

/** Permission bits that let other users write to the file. */
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Throws if the file belongs to another user or is writable by others. Windows has no user numbers
 * but keeps user folders private, so this is skipped there.
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
 * Reads a JSON file with keys and URLs, but only if no other user could have written it. @returns
 * `null` if the file does not exist or is not JSON.
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

/**
 * Writes a new file and renames it, because overwriting the old file would keep its permissions.
 */
export function writeOwnJson(file: string, value: unknown): void {
  const part = `${file}.${process.pid}`;
  writeFileSync(part, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(part, file);
}
