import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from '#core/start-error.ts';
import { makeOwnFolder, readOwn, refuseLinksIn, requireOwnFolder } from '#files/own-files.ts';
import { acceptExisting, createFile, replaceFile } from '#files/replace-file.ts';

/** Length of a secret in bytes: 256 bits, enough for every key derived from it. */
const SECRET_BYTES = 32;

/** SQLite's error code for a lock held by another connection (https://sqlite.org/rescode.html). */
const SQLITE_BUSY = 5;

/** The file with a running sandbox's addresses. It remains if the sandbox is killed. */
const SANDBOX_FILE = 'sandbox.json';

/** The file with the ID of the process that has the folder open. */
const HOLDER_FILE = 'holder.pid';

/** The folder with all state of a sandbox. Only one process can have it open. */
export interface DataFolder {
  /** The absolute path without links, so that it can be recognized in a process's arguments. */
  readonly path: string;
  /** Returns the 32 random bytes stored under this name; the first call creates them. */
  secret(name: string): Promise<Buffer>;
  /** Returns the JSON value in this file; undefined if there is no such file. */
  readJson(file: string): Promise<unknown>;
  /** Replaces a JSON file atomically: readers see either the old value or the new one. */
  writeJson(file: string, value: unknown): Promise<void>;
  /** Releases the folder and keeps its files. */
  close(): Promise<void>;
}

/**
 * Opens the folder for this process alone, and creates it (mode 0700) if it does not exist. SQLite
 * takes the lock from the operating system, so the lock ends with its holder, even after kill -9. A
 * file with a process ID would not do: the ID may meanwhile belong to another process, and two
 * starts that both find the file stale could both proceed. Removes a `sandbox.json` that an earlier
 * process left.
 * @throws StartError if the folder cannot be created, others may write to it, it contains a link,
 * or another instance has it open.
 */
export async function openDataFolder(wantedPath: string): Promise<DataFolder> {
  const path = await makeFolder(resolve(wantedPath));
  const lock = await takeLock(path);
  try {
    await fs.rm(join(path, SANDBOX_FILE), { force: true });
    await replaceFile(join(path, HOLDER_FILE), `${process.pid}\n`);
  } catch (cause) {
    lock.close();
    throw unusable(path, cause);
  }
  return {
    path,
    secret: (name) => keepSecret(join(path, 'secrets'), name),
    readJson: (file) => readJsonFile(join(path, file)),
    writeJson: (file, value) =>
      replaceFile(join(path, file), `${JSON.stringify(value, null, 2)}\n`),
    close: async () => {
      await fs.rm(join(path, HOLDER_FILE), { force: true });
      lock.close();
    },
  };
}

async function makeFolder(path: string): Promise<string> {
  try {
    await fs.mkdir(path, { recursive: true, mode: 0o700 });
    await fs.access(path, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
    const real = await fs.realpath(path);
    await requireOwnFolder(real);
    await refuseLinksIn(real);
    return real;
  } catch (cause) {
    if (cause instanceof StartError) throw new StartError(`TAPLINE_DATA_DIR: ${cause.message}`);
    throw unusable(path, cause);
  }
}

function unusable(path: string, cause: unknown): StartError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new StartError(
    `TAPLINE_DATA_DIR: the folder ${path} cannot be used (${reason}); ` +
      'choose a folder that this user may write.',
    { cause },
  );
}

async function takeLock(path: string): Promise<DatabaseSync> {
  const file = join(path, 'lock');
  let lock: DatabaseSync | undefined;
  try {
    // Create the file only if it is missing: closing a second descriptor of a locked file would
    // release our lock.
    await fs.writeFile(file, '', { flag: 'wx', mode: 0o600 }).catch(acceptExisting);
    lock = new DatabaseSync(file, { timeout: 0 });
    // No journal is needed, because nothing is written; the transaction only holds the lock.
    lock.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE');
    return lock;
  } catch (cause) {
    lock?.close();
    if (!isBusy(cause)) throw unusable(path, cause);
    const holder = (await readOwn(join(path, HOLDER_FILE)).catch(() => '')) ?? '';
    const who = holder.trim() === '' ? '' : ` (process ${holder.trim()})`;
    throw new StartError(
      `TAPLINE_DATA_DIR: the folder ${path} is in use by another instance${who}; ` +
        'stop that one, or set TAPLINE_DATA_DIR to another folder.',
      { cause },
    );
  }
}

function isBusy(cause: unknown): boolean {
  return cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY;
}

async function keepSecret(folder: string, name: string): Promise<Buffer> {
  if (!/^[a-z0-9-]+$/.test(name)) throw new Error(`Invalid name for a secret: ${name}`);
  await makeOwnFolder(folder);
  const file = join(folder, name);
  const kept = await readSecret(file);
  if (kept !== undefined) return kept;
  await createFile(file, `${randomBytes(SECRET_BYTES).toString('hex')}\n`);
  const made = await readSecret(file);
  if (made === undefined) throw new Error(`The secret ${file} was removed during its creation`);
  return made;
}

async function readSecret(file: string): Promise<Buffer | undefined> {
  const text = await readOwn(file);
  if (text === undefined) return undefined;
  const secret = Buffer.from(text.trim(), 'hex');
  if (secret.length === SECRET_BYTES) return secret;
  // Never replace a damaged secret silently: everything encrypted with it or derived from it would
  // be lost.
  throw new StartError(
    `The secret file ${file} is damaged; restore it, or remove the data folder to start over.`,
  );
}

async function readJsonFile(file: string): Promise<unknown> {
  const text = await readOwn(file);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StartError(`The file ${file} is damaged; remove it and start again.`, { cause });
  }
}
