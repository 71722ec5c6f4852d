import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { StartError } from '#core/start-error.ts';
import { makeOwnFolder } from '#files/own-files.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/** What a build is made from; tests, types and words about it change nothing. */
const SOURCES = ['web', 'package-lock.json', 'src/web/build-command.ts'];
const NOT_BUILT = /\.test\.tsx?$|\.md$|(^|\/)testing\/|^web\/data\/types\//;
/** Takes 2 to 4 s on a quiet machine. */
const BUILD_MS = 120_000;

async function filesBelow(place: string): Promise<string[]> {
  const entries = await readdir(path.join(ROOT, place), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)));
}

async function hashSources(): Promise<string> {
  const [web = '', ...others] = SOURCES;
  const names = [...(await filesBelow(web)), ...others].filter((name) => !NOT_BUILT.test(name));
  const hash = createHash('sha256');
  for (const name of names.sort()) {
    const content = await readFile(path.join(ROOT, name));
    hash.update(`${name}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

/** A link of that name is none: it may lead to what others have built. */
async function isThere(place: string): Promise<boolean> {
  return lstat(place).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

/** Beside the program where it may write there, else in the data folder. */
async function cacheFolder(dataDir: string): Promise<string> {
  const beside = path.join(ROOT, 'node_modules/.cache/tapline-web');
  const own = path.resolve(dataDir, 'web');
  return mkdir(beside, { recursive: true }).then(
    () => beside,
    async () => {
      await makeOwnFolder(own);
      return own;
    },
  );
}

async function build(into: string): Promise<void> {
  const command = path.join(import.meta.dirname, 'build-command.ts');
  try {
    await promisify(execFile)(process.execPath, [command, '--out', into], { timeout: BUILD_MS });
  } catch (error) {
    const words = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    throw new StartError(`the web apps cannot be built: ${words.trim() || String(error)}`);
  }
}

/**
 * The folder with the built web apps; builds them when their sources have changed. Several
 * processes may do so at once: each builds for itself, and the first one's result stays.
 *
 * @throws StartError when they cannot be built.
 */
export async function ensureBuilt(dataDir: string): Promise<string> {
  const hash = await hashSources();
  const shipped = path.join(ROOT, 'node_modules/.cache/tapline-web', hash);
  if (await isThere(shipped)) return shipped;
  const cache = await cacheFolder(dataDir);
  const place = path.join(cache, hash);
  if (await isThere(place)) return place;
  const fresh = path.join(cache, `${hash}.${randomUUID()}`);
  await build(fresh);
  await rename(fresh, place).catch(async (error) => {
    await rm(fresh, { recursive: true, force: true });
    if (!(await isThere(place))) throw error;
  });
  // What runs holds its files in memory: older builds are of no use.
  const others = (await readdir(cache)).filter((name) => name !== hash && !name.includes('.'));
  const remove = (name: string) => rm(path.join(cache, name), { recursive: true, force: true });
  await Promise.all(others.map(remove));
  return place;
}
