import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

export const MIGRATIONS_FOLDER = path.join(import.meta.dirname, '../../migrations');

const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
/** Matches the comments at the top of a file. */
const HEAD = /^(?:--.*\n)*/;
const KIND = /^-- (concurrently|batched)$/gm;
const BASELINE = /^-- baseline$/m;

/**
 * `at_once`: one transaction with a lock and a statement limit. `concurrently`: one index, built
 * without blocking writes. `batched`: one statement that is run repeatedly, a part each time.
 */
export type MigrationKind = 'at_once' | 'concurrently' | 'batched';

export interface Migration {
  readonly name: string;
  readonly kind: MigrationKind;
  readonly text: string;
  readonly digest: string;
  /** The first file of the first release (`-- baseline`), which every database of a release has. */
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
 * Reads the migrations in the order in which they are applied. Other files in the folder are
 * ignored.
 */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => FILE_NAME.test(name)).sort();
  return Promise.all(
    names.map(async (name) =>
      parseMigration(name, await readFile(path.join(folder, name), 'utf8')),
    ),
  );
}
