import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from '#core/start-error.ts';

/** Bytes of one secret: 256 bits, enough for every key that is derived from it. */
const SECRET_BYTES = 32;

/** What SQLite answers when another connection holds the lock (https://sqlite.org/rescode.html). */
const SQLITE_BUSY = 5;

/** The file that says where a running sandbox is reached; left behind by one that was killed. */
const SANDBOX_FILE = 'sandbox.json';

/** The one folder that holds all state of a sandbox; open means that no other process has it. */
export interface DataFolder {
  /** Absolute path with links resolved, so that it can be recognised in a command line. */
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
 * @throws StartError when the folder cannot be made or another instance has it.
 */
export async function openDataFolder(wantedPath: string): Promise<DataFolder> {
  const path = await makeFolder(resolve(wantedPath));
  const lock = await takeLock(path);
  try {
    await fs.rm(join(path, SANDBOX_FILE), { force: true });
    await fs.writeFile(join(path, 'holder.pid'), `${process.pid}\n`, { mode: 0o600 });
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
      await fs.rm(join(path, 'holder.pid'), { force: true });
      lock.close();
    },
  };
}

async function makeFolder(path: string): Promise<string> {
  try {
    await fs.mkdir(path, { recursive: true, mode: 0o700 });
    await fs.access(path, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
    return await fs.realpath(path);
  } catch (cause) {
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
    const holder = await fs.readFile(join(path, 'holder.pid'), 'utf8').catch(() => '');
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
  const file = join(folder, name);
  const kept = await readSecret(file);
  if (kept !== undefined) return kept;
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  await createFile(file, `${randomBytes(SECRET_BYTES).toString('hex')}\n`);
  const made = await readSecret(file);
  if (made === undefined) throw new Error(`The secret ${file} vanished while it was made`);
  return made;
}

async function readSecret(file: string): Promise<Buffer | undefined> {
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
  const secret = Buffer.from(text.trim(), 'hex');
  if (secret.length === SECRET_BYTES) return secret;
  // Never replaced silently: what was encrypted or derived with the lost value would be lost too.
  throw new StartError(
    `The secret file ${file} is damaged; restore it, or remove the data folder to start afresh.`,
  );
}

async function readJsonFile(file: string): Promise<unknown> {
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StartError(`The file ${file} is damaged; remove it and start again.`, { cause });
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await fs.readFile(file, 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw cause;
  }
}

/**
 * Replaces a file (mode 0600) by rename, durable when the promise resolves: after a crash at any
 * moment the file holds either all of the old content or all of the new one.
 */
export async function replaceFile(file: string, content: string | Uint8Array): Promise<void> {
  const draft = await writeDraft(file, content);
  await fs.rename(draft, file);
  await syncFolder(dirname(file));
}

/** Makes a file (mode 0600) with this content unless it exists; of two at once, the first wins. */
async function createFile(file: string, content: string): Promise<void> {
  const draft = await writeDraft(file, content);
  try {
    await fs.link(draft, file);
    await syncFolder(dirname(file));
  } catch (cause) {
    acceptExisting(cause);
  } finally {
    await fs.rm(draft, { force: true });
  }
}

function acceptExisting(cause: unknown): void {
  if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause;
}

async function writeDraft(file: string, content: string | Uint8Array): Promise<string> {
  const draft = `${file}.${randomBytes(4).toString('hex')}.draft`;
  const handle = await fs.open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return draft;
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await fs.open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
