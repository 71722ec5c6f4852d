import assert from 'node:assert/strict';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { StartError } from '#core/start-error.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { startInstance } from '#testkit/network/sandbox-instance.ts';
import { openDataFolder } from './data-folder.ts';

const root = testFolder();
let places = 0;
const emptyPlace = () => join(root, String(places++));

test('a created folder is closed to other users', async () => {
  const folder = await openDataFolder(emptyPlace());
  await folder.secret('one');
  await folder.writeJson('sandbox.json', { a: 1 });
  assert.equal((await fs.stat(folder.path)).mode & 0o777, 0o700);
  for (const file of ['secrets/one', 'sandbox.json', 'lock']) {
    assert.equal((await fs.stat(join(folder.path, file))).mode & 0o777, 0o600, file);
  }
  await folder.close();
});

test('a folder that others may write to is refused with one line', async () => {
  const path = emptyPlace();
  await fs.mkdir(path);
  for (const mode of [0o777, 0o775, 0o1777]) {
    await fs.chmod(path, mode);
    await assert.rejects(openDataFolder(path), (error) => {
      assert.ok(error instanceof StartError);
      assert.match(error.message, /^TAPLINE_DATA_DIR: .* others can write to it .*chmod go-w/);
      return !error.message.includes('\n');
    });
  }
  assert.deepEqual(await fs.readdir(path), []);
  await fs.chmod(path, 0o755);
  await (await openDataFolder(path)).close();
});

test('a link in the folder is refused, and nothing is written to its target', async () => {
  for (const name of ['holder.pid', 'lock', 'secrets', 'mail', 'postgres', 'chain-testnet.log']) {
    const path = emptyPlace();
    const outside = `${path}-outside`;
    await fs.mkdir(path, { mode: 0o700 });
    const isFolder = ['secrets', 'mail', 'postgres'].includes(name);
    await (isFolder ? fs.mkdir(outside) : fs.writeFile(outside, 'theirs'));
    await fs.symlink(outside, join(path, name));
    await assert.rejects(openDataFolder(path), /^StartError: TAPLINE_DATA_DIR: .* is a link/);
    if (isFolder) assert.deepEqual(await fs.readdir(outside), [], name);
    else assert.equal(await fs.readFile(outside, 'utf8'), 'theirs', name);
  }
  // Create the link after the check, as another program of the same user could.
  const folder = await openDataFolder(emptyPlace());
  const outside = `${folder.path}-outside`;
  await fs.mkdir(outside);
  await fs.symlink(outside, join(folder.path, 'secrets'));
  await assert.rejects(folder.secret('one'), StartError);
  assert.deepEqual(await fs.readdir(outside), []);
  await folder.close();
});

test('a folder in use by another process is refused, and its sandbox.json stays', async () => {
  const path = emptyPlace();
  const holder = await startInstance(path, []);
  await fs.writeFile(join(path, 'sandbox.json'), '{}');
  await assert.rejects(openDataFolder(path), (error) => {
    assert.ok(error instanceof StartError);
    assert.ok(error.message.includes(path) && error.message.includes(`${holder.process.pid}`));
    assert.ok(error.message.includes('TAPLINE_DATA_DIR') && !error.message.includes('\n'));
    return true;
  });
  assert.equal(await fs.readFile(join(path, 'sandbox.json'), 'utf8'), '{}');
  await holder.kill('SIGKILL');
});

test('a folder is refused to a second holder in the same process', async () => {
  const path = emptyPlace();
  const first = await openDataFolder(path);
  await assert.rejects(openDataFolder(path), StartError);
  await assert.rejects(startInstance(path, []), /in use by another instance/);
  await first.close();
});

test('a folder whose holder was killed opens at once, without the stale sandbox.json', async () => {
  const path = emptyPlace();
  const holder = await startInstance(path, []);
  await fs.writeFile(join(path, 'sandbox.json'), '{}');
  await holder.kill('SIGKILL');
  const folder = await openDataFolder(path);
  await assert.rejects(fs.stat(join(path, 'sandbox.json')), { code: 'ENOENT' });
  await folder.close();
});

test('of many simultaneous starts exactly one gets the folder', async () => {
  const path = emptyPlace();
  await (await startInstance(path, [])).kill('SIGKILL');
  const starts = await Promise.allSettled(Array.from({ length: 4 }, () => startInstance(path, [])));
  const winners = starts.filter((start) => start.status === 'fulfilled');
  for (const winner of winners) await winner.value.kill('SIGKILL');
  assert.equal(winners.length, 1);
});

test('a secret is 32 random bytes, the same for every caller and after a restart', async () => {
  const path = emptyPlace();
  const folder = await openDataFolder(path);
  const [first, second] = await Promise.all([folder.secret('pair'), folder.secret('pair')]);
  const other = await folder.secret('other');
  await folder.close();
  const again = await openDataFolder(path);
  assert.equal(first.length, 32);
  assert.deepEqual([second, await again.secret('pair')], [first, first]);
  assert.notDeepEqual(other, first);
  assert.deepEqual((await fs.readdir(join(path, 'secrets'))).sort(), ['other', 'pair']);
  await again.close();
});

test('a damaged secret stops the start instead of being replaced', async () => {
  const folder = await openDataFolder(emptyPlace());
  await folder.secret('key');
  await fs.writeFile(join(folder.path, 'secrets', 'key'), 'abc');
  await assert.rejects(folder.secret('key'), StartError);
  assert.equal(await fs.readFile(join(folder.path, 'secrets', 'key'), 'utf8'), 'abc');
  await folder.close();
});

test('a path that is not a folder is refused in one line', async () => {
  const path = emptyPlace();
  await fs.writeFile(path, 'a file');
  await assert.rejects(openDataFolder(path), (error) => {
    assert.ok(error instanceof StartError && error.message.startsWith('TAPLINE_DATA_DIR'));
    return !error.message.includes('\n');
  });
});
