import { access, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Build, canWrite, ensureBuild, runBuild } from '#files/build-cache.ts';

/** The files and folders from which the web apps are built. */
export const WEB_SOURCES = [
  ...['web', 'texts', 'src/i18n', 'src/core', 'src/prices/sale-lines.ts'],
  ...['src/prices/refund-lines.ts', 'src/prices/refund-taxes.ts', 'src/people/role-order.ts'],
  'reader/src/printing/escpos.ts',
];

const APPS: Build = {
  name: 'tapline-web',
  what: 'the web apps',
  sources: WEB_SOURCES,
  // Tests, types and documentation do not affect the build.
  ignored: /\.test\.tsx?$|\.md$|(^|\/)testing\/|^web\/data\/types\//,
  command: 'src/web/build-command.ts',
};

/**
 * Returns the folder with the built web apps, building them if necessary.
 * @throws StartError if the build fails.
 */
export async function ensureBuilt(dataDir: string, limitMs?: number): Promise<string> {
  return ensureBuild(APPS, path.resolve(dataDir, 'web'), limitMs);
}

const COMPRESSION = {
  what: 'smaller files of the web apps',
  command: 'src/web/compress-command.ts',
} as const;

/**
 * Compresses the built apps as much as possible, once. A service that already serves the apps uses
 * the result only from its next start. Does nothing if this process may not write there, because
 * the build's own compressed files are a tenth larger, but sufficient.
 * @param folder The folder that {@link ensureBuilt} returned.
 * @throws StartError if the command fails.
 */
export async function ensureCompressed(folder: string, limitMs?: number): Promise<void> {
  const done = path.join(folder, '.compressed');
  const isDone = await access(done).then(
    () => true,
    () => false,
  );
  if (isDone || !(await canWrite(folder))) return;
  await runBuild(COMPRESSION, folder, limitMs);
  await writeFile(done, '');
}
