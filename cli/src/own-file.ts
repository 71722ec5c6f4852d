import { readFileSync, renameSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { WrongUse } from './wrong-use.ts';

/** Others may write to a file with these bits. */
const WRITABLE_BY_OTHERS = 0o022;

/** Windows has no such owners: there the folders of a user are closed to others. */
function checkOwner(file: string, { uid, mode }: Stats): void {
  const user = process.getuid?.();
  if (user === undefined) return;
  if (uid !== user) throw new WrongUse(`${file} belongs to another user: it is not used.`);
  if ((mode & WRITABLE_BY_OTHERS) !== 0) {
    throw new WrongUse(`${file} is not used: others can write to it. Say: chmod 600 ${file}`);
  }
}

/**
 * Keys and addresses are read only from files that nobody but this user can have written.
 *
 * @returns null where there is no such file, or it holds no JSON.
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

/** By rename: a file that was there before keeps its mode when it is only written to. */
export function writeOwnJson(file: string, value: unknown): void {
  const part = `${file}.${process.pid}`;
  writeFileSync(part, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(part, file);
}
