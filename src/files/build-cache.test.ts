import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { StartError } from '#core/start-error.ts';
import { runBuild } from '#files/build-cache.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';

const folder = testFolder();
const APPS = { what: 'the web apps', command: 'src/web/build-command.ts' };

test('a build that takes too long is named, with the setting that gives it more time', async () => {
  const built = runBuild(APPS, path.join(folder, 'apps'), 1);
  await assert.rejects(built, (error) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, /^the web apps were not built within 0 s.* SANDBOX_START_SECONDS/);
    return true;
  });
});

test('a build has no higher priority than its process, which only root may raise', async () => {
  const root = path.join(import.meta.dirname, '../..');
  const [build, out] = [path.join(folder, 'build.mjs'), path.join(folder, 'priority')];
  await writeFile(
    build,
    `import { writeFileSync } from 'node:fs';
     import { getPriority } from 'node:os';
     writeFileSync('${out}', String(getPriority()));`,
  );
  const expected = JSON.stringify({ what: 'it', command: path.relative(root, build) });
  const start = `import { setPriority } from 'node:os';
    import { runBuild } from '#files/build-cache.ts';
    setPriority(15);
    await runBuild(${expected}, '${out}');`;
  const args = ['--input-type=module-typescript', '-e', start];
  await promisify(execFile)(process.execPath, args, { cwd: root });
  assert.equal(await readFile(out, 'utf8'), '15');
});
