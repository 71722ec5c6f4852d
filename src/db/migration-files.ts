import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { withoutComments } from '#db/sql-comments.ts';

export const MIGRATIONS_FOLDER = path.join(import.meta.dirname, '../../migrations');

const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/;
/** Matches the comment lines at the top of a file. */
const HEAD = /^(?:--.*\n)*/;
const KIND = /^-- (concurrently|batched)$/gm;
const BASELINE = /^-- baseline$/m;
/** The digests of whole files, as builds without sums recorded them. No line is ever added. */
const WHOLE_TEXTS = 'whole-text.sha256';

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
  /** See `sumOf`. */
  readonly sum: string;
  /**
   * The digest that a build without sums expects for this migration: of the whole file, as that
   * build had it. Such a build may restart on a database that this one has migrated.
   */
  readonly digest: string;
  /**
   * True for the first release's first file (`-- baseline`), which every released database
   * contains.
   */
  readonly isBaseline: boolean;
}

interface Declared {
  readonly kind: MigrationKind;
  readonly isBaseline: boolean;
}

/** Reads the lines at the top of a file that are no comments but say how it runs. */
function declaredIn(text: string): Declared {
  const [head] = HEAD.exec(text) ?? [''];
  const [kind] = [...head.matchAll(KIND)].map(([, kind]) => kind as MigrationKind);
  return { kind: kind ?? 'at_once', isBaseline: BASELINE.test(head) };
}

/**
 * Returns the digest of a file's statements and declarations. Other comments do not count, so that
 * they can be corrected after databases have applied the file.
 */
export function sumOf(text: string): string {
  const { kind, isBaseline } = declaredIn(text);
  const summed = `${kind}\n${isBaseline ? 'baseline\n' : ''}${withoutComments(text)}`;
  return createHash('sha256').update(summed).digest('hex');
}

/**
 * Returns the migrations in the order in which they are applied. Ignores other files in the folder.
 */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const files = await readdir(folder);
  const wholeTexts = files.includes(WHOLE_TEXTS)
    ? await readFile(path.join(folder, WHOLE_TEXTS), 'utf8')
    : '';
  const digests = new Map(
    [...wholeTexts.matchAll(/^(\w+) {2}(.+)$/gm)].map(([, digest, name]) => [name, digest]),
  );
  return Promise.all(
    files
      .filter((name) => FILE_NAME.test(name))
      .sort()
      .map(async (name) => {
        const text = await readFile(path.join(folder, name), 'utf8');
        const sum = sumOf(text);
        return { name, text, sum, digest: digests.get(name) ?? sum, ...declaredIn(text) };
      }),
  );
}
