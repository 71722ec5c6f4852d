import { lstat, readlink, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Build, ensureBuild } from '#files/build-cache.ts';

const ROOT = path.join(import.meta.dirname, '../..');

/** The npm packages, by folder. */
export const PACKAGES = ['sdk', 'cli', 'x402', 'reader'] as const;

const BUILD: Build = {
  name: 'tapline-packages',
  what: 'the packages',
  sources: PACKAGES.flatMap((name) =>
    ['src', 'bin', 'package.json', 'README.md', 'CHANGELOG.md', 'LICENSE'].map((file) =>
      path.join(name, file),
    ),
  ),
  ignored: /\.test\.ts$/,
  command: 'src/packages/build-command.ts',
};

/** Returns the cache for use without a data folder: a folder that belongs to this user alone. */
function ownCache(): string {
  return path.join(tmpdir(), `tapline-packages-${process.geteuid?.() ?? 'own'}`);
}

async function linkedTo(link: string): Promise<string | null> {
  return readlink(link).catch(() => null);
}

/** Replaces the target in one step, so that a program that is starting finds either version. */
async function link(from: string, to: string): Promise<void> {
  const isWindows = process.platform === 'win32';
  const target = isWindows ? to : path.relative(path.dirname(from), to);
  if ((await linkedTo(from)) === target) return;
  const fresh = `${from}.${process.pid}`;
  await symlink(target, fresh, isWindows ? 'junction' : 'dir');
  const isFolder = await lstat(from).then(
    (stats) => stats.isDirectory() || isWindows,
    () => false,
  );
  // Removes a folder that an earlier release created here.
  if (isFolder) await rm(from, { recursive: true });
  await rename(fresh, from);
}

/**
 * Returns the folder in which the packages are built if this process may not write beside the
 * program.
 */
export function packagesIn(dataDir: string): string {
  return path.resolve(dataDir, 'packages');
}

/**
 * Returns the folder with the packages as they are published, `<folder>/sdk` and so on; builds them
 * if their sources have changed. If the program's folder is writable, `sdk/dist` and the others
 * link to the result, for programs in this repository that import the packages by name.
 * @param own used if this process may not write beside the program.
 * @throws StartError if the packages cannot be built.
 */
export async function ensurePackages(own: string = ownCache(), limitMs?: number): Promise<string> {
  const folder = await ensureBuild(BUILD, own, limitMs);
  if (!folder.startsWith(ROOT)) return folder;
  for (const name of PACKAGES) {
    // If the service may not write to its program's files, the links stay as installed.
    await link(path.join(ROOT, name, 'dist'), path.join(folder, name, 'dist')).catch(() => {});
  }
  return folder;
}
