import { execFile } from 'node:child_process';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { sumOf } from '#db/migration-files.ts';
import { git } from '#release/git.ts';
import { cloneInstalled } from '#release/release-tree.ts';

/** Two release candidates: one of this commit, and a next one with migrations. */

const ROOT = path.join(import.meta.dirname, '../../..');
/** Both candidates. */
export const VERSIONS = ['1.0.0-rc.1', '1.0.0-rc.2'] as const;
const RELEASE_MS = 1_200_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;
const run = promisify(execFile);

/** Migrations of a next release, one of each kind: a column, an index and a backfill. */
export const NEXT_MIGRATIONS: Readonly<Record<string, string>> = {
  '9001_column.sql':
    '-- A column of a large table.\nalter table payment_intents add column of_migration bigint;\n',
  '9002_index.sql': `-- concurrently
create index concurrently if not exists payment_intents_of_migration
  on payment_intents (of_migration, created);
`,
  '9003_backfill.sql': `-- batched
with part as (
  select id from payment_intents where id > coalesce($1::text, '') order by id limit 20
), filled as (
  update payment_intents set of_migration = amount from part where payment_intents.id = part.id
)
select max(id) as cursor from part;
`,
};

/** Clones this commit, with its locked packages. */
export function cloneTree(folder: string): Promise<void> {
  return cloneInstalled(ROOT, folder);
}

/** Runs the rehearsal command of CONTRIBUTING.md. @returns its output. */
export async function rehearse(
  tree: string,
  out: string,
  options: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const words = ['run', '--silent', 'release', '--', '--rehearse', '--out', out, ...options];
  const own = { ...process.env, ...env };
  const limits = { cwd: tree, env: own, timeout: RELEASE_MS, maxBuffer: OUTPUT_BYTES };
  return (await run('npm', words, limits)).stdout;
}

async function addMigration(tree: string, name: string, sql: string): Promise<void> {
  const folder = path.join(tree, 'migrations');
  await writeFile(path.join(folder, name), sql);
  await appendFile(path.join(folder, 'SHA256SUMS'), `${sumOf(sql)}  ${name}\n`);
}

/**
 * Checks out the rehearsed release from its bundle, and commits a next one with migrations on it.
 */
export async function commitNext(
  tree: string,
  {
    bundle,
    tag,
    version,
  }: { readonly bundle: string; readonly tag: string; readonly version: string },
): Promise<void> {
  await git(tree, ['fetch', '-q', bundle, 'tag', tag]);
  await git(tree, ['merge', '-q', '--ff-only', tag]);
  for (const [name, sql] of Object.entries(NEXT_MIGRATIONS)) await addMigration(tree, name, sql);
  const open = `## v${version}, not released yet\n\n- A column, an index and a backfill.\n\n`;
  for (const name of ['CHANGELOG.md', 'docs/guides/upgrading.md']) {
    const file = path.join(tree, name);
    const text = await readFile(file, 'utf8');
    await writeFile(
      file,
      text.replace(/^(?=## v)/m, () => open),
    );
  }
  await git(tree, ['add', '.']);
  await git(tree, ['commit', '-q', '-m', 'migrations of the next release']);
}
