import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  access,
  constants,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  utimes,
} from 'node:fs/promises';
import { getPriority, setPriority } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { DAY_MS } from '#core/durations.ts';
import { StartError } from '#core/start-error.ts';
import { makeOwnFolder } from '#files/own-files.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/**
 * Default time limit of a build. On an idle machine the web apps take 2 to 4 s, the packages 1 s;
 * emulated, a hundred times as long.
 */
const BUILD_MS = 120_000;
/**
 * Low priority, because on two cores a first start waits longest for its database, which needs the
 * processor more.
 */
const BUILD_PRIORITY = 10;
/**
 * Age since its last use at which a build is deleted. Copies of the repository may share
 * `node_modules`, each with its own sources and build.
 */
const KEPT_MS = DAY_MS;

/**
 * The result of a command, stored in a folder. The command runs again when its sources have
 * changed.
 */
export interface Build {
  /** The name of the build's folder in `node_modules/.cache`. */
  readonly name: string;
  /** The build's contents, for error messages: `the web apps`. */
  readonly what: string;
  /** The files and folders from which the build is made, as paths from the root. */
  readonly sources: readonly string[];
  /** Files in those folders that do not affect the build. */
  readonly ignored: RegExp;
  /** The command, as a path from the root. It builds into the folder given by `--out`. */
  readonly command: string;
}

async function filesBelow(folder: string): Promise<string[]> {
  const full = path.join(ROOT, folder);
  if ((await lstat(full)).isFile()) return [folder];
  const entries = await readdir(full, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)));
}

async function hashSources({ sources, ignored, command }: Build): Promise<string> {
  const places = [...sources, command, 'package-lock.json'];
  const files = (await Promise.all(places.map(filesBelow))).flat();
  const names = files.filter((name) => !ignored.test(name)).sort();
  const hash = createHash('sha256');
  for (const name of names) {
    const content = await readFile(path.join(ROOT, name));
    hash.update(`${name}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

/** True if the folder exists and is not a link, because a link may lead to another user's build. */
async function exists(file: string): Promise<boolean> {
  return lstat(file).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

/** False if the folder is missing, or belongs to another user, such as root, who built first. */
export async function canWrite(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** Returns the folder beside the program if this process may write there, otherwise `own`. */
async function cacheFolder(beside: string, own: string): Promise<string> {
  await mkdir(beside, { recursive: true }).catch(() => {});
  if (await canWrite(beside)) return beside;
  await makeOwnFolder(own);
  return own;
}

/**
 * Does nothing if this process may not write there, because then the build is part of the program
 * and is never deleted.
 */
async function markUsed(folder: string): Promise<void> {
  const now = new Date();
  await utimes(folder, now, now).catch(() => {});
}

async function removeUnused(cache: string): Promise<void> {
  const names = (await readdir(cache)).filter((name) => !name.includes('.'));
  for (const name of names) {
    const folder = path.join(cache, name);
    const used = await lstat(folder).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (used < Date.now() - KEPT_MS) await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs a command that builds into `into`, at low priority.
 * @param command A path from the root.
 * @throws StartError with the command's output.
 */
export async function runBuild(
  { what, command }: Pick<Build, 'what' | 'command'>,
  into: string,
  limitMs = BUILD_MS,
): Promise<void> {
  const args = [path.join(ROOT, command), '--out', into];
  try {
    const built = promisify(execFile)(process.execPath, args, { timeout: limitMs });
    // Only root may give a higher priority than the own one.
    const priority = Math.max(BUILD_PRIORITY, getPriority());
    if (built.child.pid !== undefined) setPriority(built.child.pid, priority);
    await built;
  } catch (error) {
    if (error instanceof Error && 'killed' in error && error.killed === true) {
      throw new StartError(
        `${what} were not built within ${Math.round(limitMs / 1_000)} s. ` +
          'If this machine is slow or busy, set SANDBOX_START_SECONDS higher.',
      );
    }
    const words = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    throw new StartError(`${what} cannot be built: ${words.trim() || String(error)}`);
  }
}

/**
 * Returns the folder with the result, and builds it first if its sources have changed. Concurrent
 * processes each build their own copy, and the first result is kept.
 * @param own used if this process may not write beside the program.
 * @throws StartError if the build fails.
 */
export async function ensureBuild(build: Build, own: string, limitMs?: number): Promise<string> {
  const hash = await hashSources(build);
  const beside = path.join(ROOT, 'node_modules/.cache', build.name);
  const shipped = path.join(beside, hash);
  if (await exists(shipped)) {
    await markUsed(shipped);
    return shipped;
  }
  const cache = await cacheFolder(beside, own);
  const folder = path.join(cache, hash);
  if (await exists(folder)) {
    await markUsed(folder);
    return folder;
  }
  const fresh = path.join(cache, `${hash}.${randomUUID()}`);
  await runBuild(build, fresh, limitMs);
  await rename(fresh, folder).catch(async (error) => {
    await rm(fresh, { recursive: true, force: true });
    if (!(await exists(folder))) throw error;
  });
  await removeUnused(cache);
  return folder;
}
