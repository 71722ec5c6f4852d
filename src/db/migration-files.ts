import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

export const MIGRATIONS_FOLDER = path.join(import.meta.dirname, '../../migrations');

const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
/** Matches the comment lines at the top of a file. */
const HEAD = /^(?:--.*\n)*/;
const KIND = /^-- (concurrently|batched)$/gm;
const BASELINE = /^-- baseline$/m;

/**
 * The way in which a migration runs. `at_once`: in one transaction, with limits on locks and
 * statements. `concurrently`: builds indexes without blocking writes. `batched`: repeats one
 * statement, each time for some of the rows.
 */
export type MigrationKind = 'at_once' | 'concurrently' | 'batched';

export interface Migration {
  readonly name: string;
  readonly kind: MigrationKind;
  readonly text: string;
  readonly digest: string;
  /**
   * True for the first release's first file (`-- baseline`), which every released database
   * contains.
   */
  readonly isBaseline: boolean;
}

function parseMigration(name: string, text: string): Migration {
  const [head] = HEAD.exec(text) ?? [''];
  const [kind] = [...head.matchAll(KIND)].map(([, found]) => found as MigrationKind);
  return {
    name,
    kind: kind ?? 'at_once',
    text,
    digest: createHash('sha256').update(text).digest('hex'),
    isBaseline: BASELINE.test(head),
  };
}

/**
 * Returns the migrations in the order in which they are applied. Ignores other files in the folder.
 */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => FILE_NAME.test(name)).sort();
  return Promise.all(
    names.map(async (name) =>
      parseMigration(name, await readFile(path.join(folder, name), 'utf8')),
    ),
  );
}
