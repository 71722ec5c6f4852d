import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs';
import * as fs from 'node:fs/promises';
import path from 'node:path';
import { StartError } from '#core/start-error.ts';

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** Permission bits: writable by group or others. */
const WRITABLE_BY_OTHERS = 0o022;
const READABLE_BY_ALL = 0o004;
const ALL_MAY_WRITE = 0o002;
const ROOT = 0;

function modeOf({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

/**
 * True if only this user and root can write to the folder. False for another user's folder, because
 * its owner can replace our files with links or other files at any time.
 */
function isOwn({ uid, mode }: Stats): boolean {
  const user = process.geteuid?.();
  const isOurs = user === undefined || uid === user || uid === ROOT;
  return isOurs && (mode & WRITABLE_BY_OTHERS) === 0;
}

/** @throws StartError if it is a link or not a folder, or if others may write there. */
export async function requireOwnFolder(folder: string): Promise<void> {
  const stats = await fs.lstat(folder);
  if (stats.isSymbolicLink()) throw new StartError(`${folder} is a link: use a folder`);
  if (!stats.isDirectory()) throw new StartError(`${folder} is not a folder`);
  if (isOwn(stats)) return;
  const who = `mode ${modeOf(stats)}, owner ${stats.uid}`;
  throw new StartError(
    `${folder} is not used, because others can write to it (${who}): ` +
      `change its owner to this user, and run chmod go-w ${folder}`,
  );
}

/**
 * Checks a shared working folder, which may belong to another user and group.
 * @throws StartError if every user of this machine may create files in it.
 */
export async function requireClosedFolder(folder: string): Promise<void> {
  const stats = await fs.stat(folder);
  if ((stats.mode & ALL_MAY_WRITE) === 0) return;
  const mode = `mode ${modeOf(stats)}`;
  throw new StartError(
    `${folder} is not used, because others can write to it (${mode}): run chmod o-w ${folder}`,
  );
}

/**
 * Creates the folder (mode 0700) if it is missing.
 * @throws StartError as `requireOwnFolder` does.
 */
export async function makeOwnFolder(folder: string): Promise<void> {
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  await requireOwnFolder(folder);
}

/**
 * Checks for links, because programs would follow them.
 * @throws StartError if the folder contains one.
 */
export async function refuseLinksIn(folder: string): Promise<void> {
  const entries = await fs.readdir(folder, { withFileTypes: true });
  const link = entries.find((entry) => entry.isSymbolicLink());
  if (link === undefined) return;
  throw new StartError(
    `${path.join(folder, link.name)} is a link, which the service does not follow: remove it`,
  );
}

/**
 * Checks a file with settings or keys. Links are allowed, because a mounted secret may use them.
 * @throws StartError if every user of this machine may write the file or, if it is secret, read it.
 */
export async function requireClosedFile(file: string, isSecret: boolean): Promise<void> {
  const stats = await fs.stat(file);
  const wrong = stats.mode & (isSecret ? ALL_MAY_WRITE | READABLE_BY_ALL : ALL_MAY_WRITE);
  if (wrong === 0) return;
  const verb = (wrong & READABLE_BY_ALL) === 0 ? 'write' : 'read';
  const mode = `mode ${modeOf(stats)}`;
  throw new StartError(
    `${file} is not used, because others can ${verb} it (${mode}): run chmod o-rwx on it`,
  );
}

type Purpose = 'read' | 'append' | 'new';

/** `O_NONBLOCK`, so that a named pipe in place of a file is refused instead of waited for. */
const PLAIN = O_NOFOLLOW | O_NONBLOCK;
const FLAGS: Readonly<Record<Purpose, number>> = {
  read: O_RDONLY | PLAIN,
  append: O_WRONLY | O_APPEND | O_CREAT | PLAIN,
  new: O_WRONLY | O_CREAT | O_EXCL | PLAIN,
};

/**
 * Also refuses hard links, because a hard link, like a symbolic one, may lead outside the folder.
 */
function requirePlain(stats: Stats, file: string, purpose: Purpose): void {
  const isPlain = stats.isFile() && (purpose === 'read' || stats.nlink === 1);
  if (!isPlain)
    throw new StartError(`${file} must be a regular file without other hard links: remove it`);
}

function asRefusal(cause: unknown, file: string): unknown {
  const isLink = cause instanceof Error && 'code' in cause && cause.code === 'ELOOP';
  if (!isLink) return cause;
  return new StartError(`${file} is a link, which the service does not follow: remove it`, {
    cause,
  });
}

/** Opens a file (mode 0600 if it is created). @throws StartError if it is a link. */
export async function openOwn(file: string, purpose: Purpose): Promise<fs.FileHandle> {
  const handle = await fs.open(file, FLAGS[purpose], 0o600).catch((cause) => {
    throw asRefusal(cause, file);
  });
  try {
    requirePlain(await handle.stat(), file, purpose);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Opens a file like `openOwn`, but returns a descriptor, which can be passed to a child process.
 */
export function openOwnSync(file: string, purpose: Purpose): number {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(file, FLAGS[purpose], 0o600);
    requirePlain(fstatSync(descriptor), file, purpose);
    return descriptor;
  } catch (cause) {
    if (descriptor !== null) closeSync(descriptor);
    throw asRefusal(cause, file);
  }
}

/** Returns the text of a file that is not a link; `undefined` if it does not exist. */
export async function readOwn(file: string): Promise<string | undefined> {
  const handle = await openOwn(file, 'read').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return null;
    throw cause;
  });
  if (handle === null) return undefined;
  try {
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}
