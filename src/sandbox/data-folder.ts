import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from '#core/start-error.ts';
import { makeOwnFolder, readOwn, refuseLinksIn, requireOwnFolder } from '#files/own-files.ts';
import { acceptExisting, createFile, replaceFile } from '#files/replace-file.ts';

/** Bytes of one secret: 256 bits, enough for every key that is derived from it. */
const SECRET_BYTES = 32;

/** What SQLite answers when another connection holds the lock (https://sqlite.org/rescode.html). */
const SQLITE_BUSY = 5;

/** The file that says where a running sandbox is reached; left behind by one that was killed. */
const SANDBOX_FILE = 'sandbox.json';

/** The process that has the folder. */
const HOLDER_FILE = 'holder.pid';

/** The one folder that holds all state of a sandbox; open means that no other process has it. */
export interface DataFolder {
  /** Absolute path with links resolved, so that it can be recognized in a command line. */
  readonly path: string;
  /** The 32 random bytes kept under this name; made at the first call. */
  secret(name: string): Promise<Buffer>;
  /** The JSON value kept in this file, or undefined when there is no such file. */
  readJson(file: string): Promise<unknown>;
  /** Replaces a JSON file as a whole: a reader sees the old value or the new one. */
  writeJson(file: string, value: unknown): Promise<void>;
  /** Gives the folder back. The files stay. */
  close(): Promise<void>;
}

/**
 * Opens the folder for this process alone, making it (mode 0700) when it is not there.
 *
 * The lock is a lock of the operating system, taken through SQLite, because a file with a process
 * id cannot tell a killed holder from a living process that got the same id, and two starts that
 * both find it stale can both win. A lock of the system ends with its holder, kill -9 included.
 * A `sandbox.json` that an earlier holder left is removed.
 *
 * @throws StartError when the folder cannot be made, others may write to it, a link is in it, or
 *   another instance has it.
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
    // Made exclusively: closing a second descriptor of a locked file would drop our own lock.
    await fs.writeFile(file, '', { flag: 'wx', mode: 0o600 }).catch(acceptExisting);
    lock = new DatabaseSync(file, { timeout: 0 });
    // No journal: nothing is ever written, the transaction is only there to hold the lock.
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
  if (!/^[a-z0-9-]+$/.test(name)) throw new Error(`Not a name for a secret: ${name}`);
  await makeOwnFolder(folder);
  const file = join(folder, name);
  const kept = await readSecret(file);
  if (kept !== undefined) return kept;
  await createFile(file, `${randomBytes(SECRET_BYTES).toString('hex')}\n`);
  const made = await readSecret(file);
  if (made === undefined) throw new Error(`The secret ${file} vanished while it was made`);
  return made;
}

async function readSecret(file: string): Promise<Buffer | undefined> {
  const text = await readOwn(file);
  if (text === undefined) return undefined;
  const secret = Buffer.from(text.trim(), 'hex');
  if (secret.length === SECRET_BYTES) return secret;
  // Never replaced silently: what was encrypted or derived with the lost value would be lost too.
  throw new StartError(
    `The secret file ${file} is damaged; restore it, or remove the data folder to start afresh.`,
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
