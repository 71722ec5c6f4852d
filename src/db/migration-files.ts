import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

export const MIGRATIONS_FOLDER = path.join(import.meta.dirname, '../../migrations');

const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
/** The comments that a file begins with. */
const HEAD = /^(?:--.*\n)*/;
const KIND = /^-- (concurrently|batched)$/gm;
const BASELINE = /^-- baseline$/m;

/**
 * `at_once`: one transaction with a lock and a statement limit. `concurrently`: one index, built
 * beside the writes. `batched`: one statement that is run again and again, each time for a part.
 */
export type MigrationKind = 'at_once' | 'concurrently' | 'batched';

export interface Migration {
  readonly name: string;
  readonly kind: MigrationKind;
  readonly text: string;
  readonly digest: string;
  /** The first file of the first release (`-- baseline`): every database of a release has it. */
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

/** In the order in which they are applied. Other files in the folder are left alone. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => FILE_NAME.test(name)).sort();
  return Promise.all(
    names.map(async (name) =>
      parseMigration(name, await readFile(path.join(folder, name), 'utf8')),
    ),
  );
}
