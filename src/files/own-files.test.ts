import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as fs from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { before, test } from 'node:test';
import { StartError } from '#core/start-error.ts';
import { makeOwnFolder, openOwn, openOwnSync, readOwn } from '#files/own-files.ts';
import { createFile, replaceFile } from '#files/replace-file.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';

const root = testFolder();
const outside = path.join(root, 'outside');

before(() => fs.writeFile(outside, 'theirs'));

/** Creates a socket in place of a file. */
async function listenAt(file: string): Promise<void> {
  const server = createServer().unref();
  await once(server.listen(file), 'listening');
}

/** Returns a predicate that requires a one-line message that matches. */
function isOneLine(words: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, words);
    assert.doesNotMatch(error.message, /\n/);
    return true;
  };
}

test('a folder that others may write to, or that another user owns, is not used', async () => {
  const folder = path.join(root, 'folder');
  await makeOwnFolder(folder);
  assert.equal((await fs.stat(folder)).mode & 0o777, 0o700);
  for (const mode of [0o755, 0o711, 0o500]) {
    await fs.chmod(folder, mode);
    await makeOwnFolder(folder);
  }
  for (const mode of [0o770, 0o720, 0o702, 0o777, 0o1777]) {
    await fs.chmod(folder, mode);
    const words = new RegExp(`others can write to it \\(mode ${mode.toString(8).padStart(4, '0')}`);
    await assert.rejects(makeOwnFolder(folder), isOneLine(words));
  }
  await fs.chmod(folder, 0o700);
  // Only root can change the owner of a folder.
  if (process.geteuid?.() === 0) {
    await fs.chown(folder, 12_345, 0);
    await assert.rejects(makeOwnFolder(folder), isOneLine(/owner 12345/));
  }
  await fs.symlink(root, path.join(root, 'link'));
  await assert.rejects(makeOwnFolder(path.join(root, 'link')), isOneLine(/is a link/));
});

test('a link in a file’s place is neither read nor written through', async () => {
  for (const name of ['soft', 'dangling', 'hard', 'socket'] as const) {
    const file = path.join(root, name);
    if (name === 'soft') await fs.symlink(outside, file);
    else if (name === 'dangling') await fs.symlink(path.join(root, 'nowhere'), file);
    else if (name === 'hard') await fs.link(outside, file);
    else await listenAt(file);
    const refused = /is a link|regular file|ENXIO/;
    await assert.rejects(openOwn(file, 'append'), refused, name);
    assert.throws(() => openOwnSync(file, 'append'), refused, name);
    await assert.rejects(openOwn(file, 'new'), /EEXIST/, name);
    // Reading accepts a hard link, which is like the file itself, but rejects the other links.
    if (name !== 'hard') await assert.rejects(readOwn(file), refused, name);
  }
  await assert.rejects(fs.stat(path.join(root, 'nowhere')), { code: 'ENOENT' });
  assert.equal(await fs.readFile(outside, 'utf8'), 'theirs');
});

test("a file that replaces a link leaves the link's target unchanged", async () => {
  const file = path.join(root, 'replaced');
  await fs.symlink(outside, file);
  await replaceFile(file, 'ours');
  assert.equal(await readOwn(file), 'ours');
  const other = path.join(root, 'made');
  await fs.symlink(outside, other);
  await createFile(other, 'ours');
  await assert.rejects(readOwn(other), isOneLine(/is a link/));
  assert.equal(await fs.readFile(outside, 'utf8'), 'theirs');
  const handle = await openOwn(path.join(root, 'log'), 'append');
  await handle.appendFile('one line\n');
  await handle.close();
  assert.equal((await fs.stat(path.join(root, 'log'))).mode & 0o777, 0o600);
  assert.equal(await readOwn(path.join(root, 'log')), 'one line\n');
  assert.equal(await readOwn(path.join(root, 'missing')), undefined);
});
