import { readFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * `npm run licenses`: lists every locked package with its version and license. A license that the
 * lockfile lacks is read from the installed package.
 */
const ROOT = path.join(import.meta.dirname, '../..');

interface Locked {
  readonly version?: string;
  readonly license?: string;
}

async function readJson<T>(file: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(path.join(ROOT, file), 'utf8')) as T;
  } catch {
    return null; // A package for another platform is not installed here.
  }
}

const lock = await readJson<{ readonly packages: Record<string, Locked> }>('package-lock.json');
for (const [location, { version, license }] of Object.entries(lock?.packages ?? {})) {
  if (!location.includes('node_modules/')) continue;
  const name = location.slice(location.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const installed = license ?? (await readJson<Locked>(`${location}/package.json`))?.license;
  console.log(`${name} ${version ?? ''} ${installed ?? 'not installed here'}`);
}
