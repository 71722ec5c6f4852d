// Used by the packages' commands when they run in this repository, where dist/ is built from the
// sources beside it. Plain JavaScript, because the Node that runs a command may be older than the
// service's.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = path.join(import.meta.dirname, '../..');

async function build(name) {
  const { ensurePackages } = await import('./build-packages.ts');
  return path.join(await ensurePackages(), name, 'dist');
}

function builtBefore(name) {
  const inPlace = path.join(ROOT, name, 'dist');
  if (existsSync(inPlace)) return inPlace;
  const { node } = process.versions;
  throw new Error(
    `${name}/dist is not built, and Node ${node} is too old to build it: run npm run build, or ` +
      'install Node 24.',
  );
}

/** @returns the address of a package's dist/, built if its sources have changed */
export async function ownDist(name) {
  try {
    const dist = process.features.typescript ? await build(name) : builtBefore(name);
    return pathToFileURL(`${dist}/`);
  } catch (error) {
    console.error(error.message);
    return process.exit(2);
  }
}
