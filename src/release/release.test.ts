import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { git } from '#release/git.ts';
import { listFiles } from '#release/manifest-and-checksums.ts';
import { readTree } from '#release/release-tree.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';

/**
 * Tests what `npm run release` refuses and what it lists. test/long/release.test.ts makes a whole
 * release.
 */

const run = promisify(execFile);
const folder = testFolder();

test('without --rehearse nothing is made, and the manual steps are listed', async () => {
  const program = path.join(import.meta.dirname, 'release-command.ts');
  await assert.rejects(run(process.execPath, [program]), (error: Error & { stderr: string }) => {
    assert.match(error.stderr, /^release: A release is published by a person\./);
    assert.match(error.stderr, /npm run release -- --rehearse\n[\s\S]*sign its tag\./);
    return 'code' in error && error.code === 2;
  });
});

test('only a committed tree is released', async () => {
  assert.equal(await readTree(folder), 'This folder is no git repository.');
  await git(folder, ['init', '-q']);
  await writeFile(path.join(folder, 'CHANGELOG.md'), '# Changelog\n');
  assert.match(String(await readTree(folder)), /not committed:\n\?\? CHANGELOG\.md/);
  await git(folder, ['add', '.']);
  await git(folder, ['commit', '-q', '-m', 'first'], { date: '2026-11-28T10:00:00Z' });
  await git(folder, ['tag', 'v1.0.0-rc.1']);
  const tree = await readTree(folder);
  assert(typeof tree !== 'string', String(tree));
  assert.deepEqual([tree.changelog, tree.tags], ['# Changelog\n', ['v1.0.0-rc.1']]);
  assert.match(tree.committedAt, /^2026-11-28T10:00:00/);
});

test('inside a hook of another repository, git acts on the folder alone', async (t) => {
  const [other, own] = ['other', 'own'].map((name) => path.join(folder, name));
  assert(other !== undefined && own !== undefined);
  for (const repository of [other, own]) await git(folder, ['init', '-q', repository]);
  process.env.GIT_DIR = path.join(other, '.git');
  process.env.GIT_WORK_TREE = other;
  t.after(() => {
    delete process.env.GIT_DIR;
    delete process.env.GIT_WORK_TREE;
  });
  await writeFile(path.join(own, 'file.txt'), 'text');
  await git(own, ['add', '--all']);
  await git(own, ['commit', '-q', '-m', 'own'], { date: '2026-11-28T10:00:00Z' });
  assert.equal(await git(own, ['log', '--format=%an %s']), 'Rehearsal own');
  await assert.rejects(git(other, ['rev-parse', '--verify', '-q', 'HEAD']));
  assert.equal(await git(other, ['ls-files']), '');
});

test('the folder lists each file with its size and checksum, and the checksums match', async () => {
  await writeFile(path.join(folder, 'b.txt'), 'two');
  await writeFile(path.join(folder, 'a.txt'), 'one');
  const files = ['b.txt', 'a.txt'].map((file) => ({ file, what: 'words', isReproducible: true }));
  const madeBy = { node: 'v24', npm: '11', git: '2', architecture: 'x64' };
  const about = {
    version: '1.0.0',
    tag: 'v1.0.0',
    commit: 'abc',
    madeBy,
    missing: ['the image: why'],
  };
  await listFiles(folder, files, about);
  const manifest = JSON.parse(await readFile(path.join(folder, 'manifest.json'), 'utf8'));
  const sha256 = createHash('sha256').update('one').digest('hex');
  const [first] = manifest.files;
  assert.deepEqual(first, { name: 'a.txt', size: 3, sha256, what: 'words', reproducible: true });
  assert.deepEqual(manifest.missing, about.missing);
  assert.deepEqual(manifest.madeBy, madeBy);
  const { stdout } = await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: folder });
  assert.equal(stdout, 'a.txt: OK\nb.txt: OK\nmanifest.json: OK\n');
});
