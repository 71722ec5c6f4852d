import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { StartError } from '#core/start-error.ts';
import { postgresPrograms } from '#sandbox/postgres-cluster.ts';
import { ensureLibraryLinks } from '#sandbox/postgres-links.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';

const INSTALLED = join(dirname(postgresPrograms().postgres), '..', '..');

interface Link {
  readonly source: string;
  readonly target: string;
}

async function packageWith(t: TestContext, links: readonly Link[]): Promise<string> {
  const folder = testFolder(t);
  await fs.mkdir(join(folder, 'native', 'lib'), { recursive: true });
  await fs.writeFile(join(folder, 'native', 'lib', 'a.so.1'), 'library');
  await fs.writeFile(join(folder, 'native', 'pg-symlinks.json'), JSON.stringify(links));
  return folder;
}

function versionOf(folder: string): Promise<{ readonly stdout: string }> {
  return promisify(execFile)(join(folder, 'native', 'bin', 'postgres'), ['--version']);
}

test('PostgreSQL starts from a package whose install script never ran', async (t) => {
  const folder = testFolder(t);
  await fs.cp(INSTALLED, folder, { recursive: true, verbatimSymlinks: true });
  const list = await fs.readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8');
  const links = JSON.parse(list) as readonly Link[];
  assert.ok(links.length > 10);
  for (const { target } of links) await fs.rm(join(folder, target), { force: true });
  const before = await fs.readdir(join(folder, 'native', 'lib'));
  await assert.rejects(versionOf(folder), /cannot open shared object file/);

  await Promise.all([1, 2, 3, 4].map(() => ensureLibraryLinks(folder)));

  assert.match((await versionOf(folder)).stdout, /^postgres \(PostgreSQL\) \d+/);
  const made = links.map(({ target }) => basename(target));
  const names = await fs.readdir(join(folder, 'native', 'lib'));
  assert.deepEqual(names.sort(), [...before, ...made].sort());
});

test('a dangling link is created again, and a library in its place stays', async (t) => {
  const folder = await packageWith(t, [
    { source: 'native/lib/a.so.1', target: 'native/lib/a.so' },
    { source: 'native/lib/a.so.1', target: 'native/lib/b.so' },
  ]);
  await fs.symlink('nowhere', join(folder, 'native/lib/a.so'));
  await fs.writeFile(join(folder, 'native/lib/b.so'), 'kept');

  await ensureLibraryLinks(folder);

  assert.equal(await fs.readFile(join(folder, 'native/lib/a.so'), 'utf8'), 'library');
  assert.equal(await fs.readFile(join(folder, 'native/lib/b.so'), 'utf8'), 'kept');
});

test('links that cannot be created end the start with a line that says npm rebuild', async (t) => {
  const link = { source: 'native/lib/a.so.1', target: 'native/missing/a.so' };
  const folder = await packageWith(t, [link]);

  await assert.rejects(ensureLibraryLinks(folder), (error: unknown) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, /^[^\n]{1,140}: run npm rebuild\.$/);
    return true;
  });
});
