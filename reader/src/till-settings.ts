import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';
import { openKey } from './protocols/p256.ts';
import type { Wallets } from './protocols/read-tap.ts';

/** The data stored between runs, in a file that only its owner can read. */
export interface Pairing {
  readonly server: string;
  readonly device_key: string;
  readonly terminal: string;
}

/** Thrown for an invalid setting. The message is for the user who set it. */
export class SettingError extends Error {}

/** A till in a browser that uses this reader. */
export interface Till {
  /** Origin of the network's pages. */
  readonly origin: string;
  /** Hash of the till's token, or `null` while the till still shows a code. */
  readonly token_hash: string | null;
  /** Never stored, because it is valid for only a few minutes. */
  readonly code?: string;
}

function folderOf(env: NodeJS.ProcessEnv): string {
  const base = env.XDG_CONFIG_HOME || path.join(env.HOME || homedir(), '.config');
  return path.join(base, 'tapline');
}

export function defaultFile(env: NodeJS.ProcessEnv): string {
  return path.join(folderOf(env), 'reader.json');
}

export function tillFile(env: NodeJS.ProcessEnv): string {
  return path.join(folderOf(env), 'till.json');
}

export function savePairing(file: string, pairing: Pairing): Promise<void> {
  return saveOwn(file, pairing);
}

export function saveTill(file: string, { origin, token_hash }: Till): Promise<void> {
  return saveOwn(file, { origin, token_hash });
}

async function saveOwn(file: string, value: object): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${process.pid}`;
  const handle = await open(fresh, 'w', 0o600);
  await handle.writeFile(`${JSON.stringify(value, null, 2)}\n`);
  await handle.sync();
  await handle.close();
  await chmod(fresh, 0o600);
  await rename(fresh, file);
}

export async function readPairing(file: string): Promise<Pairing | null> {
  const text = await readOwn(file);
  return text === null ? null : parse<Pairing>(file, text);
}

export async function readTill(file: string): Promise<Till | null> {
  const text = await readOwn(file);
  return text === null ? null : parse<Till>(file, text);
}

export function registerFile(file: string): string {
  return `${file.replace(/\.json$/, '')}.zvt.json`;
}

/** Writes a cash register's state. It is on disk when the promise resolves. */
export async function saveRegister(file: string, state: object): Promise<void> {
  await saveOwn(file, state);
  // Syncs the folder, too, because a loss of power may otherwise bring back the old file.
  const folder = await open(path.dirname(file), 'r');
  await folder.sync().finally(() => folder.close());
}

/**
 * Takes the lock of a cash register's state, which the system releases when this process ends.
 * @returns a function that releases it
 * @throws SettingError if another reader uses the file
 */
export async function lockRegister(file: string): Promise<() => void> {
  const name = createHash('sha256').update(path.resolve(file)).digest('hex');
  const lock = LOCKS[process.platform];
  // Other systems have no names that end with their process, so a crash would lock out the reader.
  if (lock === undefined) return () => {};
  const server = createServer((socket) => socket.destroy()).unref();
  server.listen({ path: `${lock}tapline-${name}` });
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new SettingError(`Another reader uses ${file}.`);
  });
  return () => server.close();
}

/** Where names are that only a running process holds: abstract sockets, and pipes. */
const LOCKS: Readonly<Record<string, string>> = { linux: '\0', win32: '\\\\.\\pipe\\' };

export async function readRegister<T>(file: string): Promise<T | null> {
  const text = await readOwn(file);
  return text === null ? null : parse<T>(file, text);
}

interface WalletsFile {
  readonly apple_vas?: {
    readonly pass_type_identifier: string;
    /** 32 bytes in hex. */
    readonly private_key: string;
  };
}

export const NO_WALLETS: Wallets = { collector: null, passType: null };

/** Reads the key for Apple Wallet. @throws SettingError if other users can read the file. */
export async function readPassType(file: string): Promise<Wallets['passType']> {
  const text = await readOwn(file);
  if (text === null) throw new SettingError(`${file} does not exist.`);
  const { apple_vas: apple } = parse<WalletsFile>(file, text);
  if (apple === undefined) throw new SettingError(`${file} has no apple_vas.`);
  return {
    identifier: apple.pass_type_identifier,
    key: openKey(Buffer.from(apple.private_key, 'hex')),
  };
}

function parse<T>(file: string, text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new SettingError(`${file} is not JSON.`);
  }
}

async function readOwn(file: string): Promise<string | null> {
  const stats = await stat(file).catch(() => null);
  if (stats === null) return null;
  if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0) {
    throw new SettingError(`${file} can be read by other users. Run: chmod 600 ${file}`);
  }
  return readFile(file, 'utf8');
}
