import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chown, readdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/** Debian's `nobody`, which owns no file of the program, like the user of a systemd unit. */
const NOBODY = 65_534;
const run = promisify(execFile);

test('a user who owns no file of the program can build the web apps', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can switch to another user');
  const folder = testFolder(t);
  await chown(folder, NOBODY, NOBODY);
  const program = path.join(ROOT, 'src/web/build-command.ts');
  const options = { cwd: ROOT, uid: NOBODY, gid: NOBODY, env: { HOME: folder } };
  await run(process.execPath, [program, '--out', path.join(folder, 'made')], options);
  assert((await readdir(path.join(folder, 'made'))).includes('terminal.html'));
});
