import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { StartError } from '#core/start-error.ts';
import { runBuild } from '#files/build-cache.ts';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';

const ROOT = path.join(import.meta.dirname, '../..');
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
  const [build, out] = [path.join(folder, 'build.mjs'), path.join(folder, 'priority')];
  await writeFile(
    build,
    `import { writeFileSync } from 'node:fs';
     import { getPriority } from 'node:os';
     writeFileSync('${out}', String(getPriority()));`,
  );
  const options = JSON.stringify({ what: 'it', command: path.relative(ROOT, build) });
  const start = `import { setPriority } from 'node:os';
    import { runBuild } from '#files/build-cache.ts';
    setPriority(15);
    await runBuild(${options}, '${out}');`;
  await run(start);
  assert.equal(await readFile(out, 'utf8'), '15');
});

test('a build goes to the own folder if another user has made the cache', async (t) => {
  const name = `tapline-test-${process.pid}`;
  const beside = path.join(ROOT, 'node_modules/.cache', name);
  await mkdir(beside, { recursive: true });
  t.after(() => rm(beside, { recursive: true }));
  await chmod(beside, 0o555);
  const [command, own] = [path.join(folder, 'make.mjs'), path.join(folder, 'own')];
  await writeFile(command, "import { mkdirSync } from 'node:fs'; mkdirSync(process.argv.at(-1));");
  await run(
    `import { ensureBuild } from '#files/build-cache.ts';
     const command = '${path.relative(ROOT, command)}';
     const build = { name: '${name}', what: 'it', sources: [], ignored: /^$/, command };
     await ensureBuild(build, '${own}');`,
    'held to file modes',
  );
  assert.equal((await readdir(own)).length, 1);
});

test('a start leaves another user’s build of the web apps as it is', async () => {
  const apps = path.join(folder, 'built-apps');
  await mkdir(apps);
  await writeFile(path.join(apps, 'app.js'), 'x'.repeat(1_000));
  await chmod(apps, 0o555);
  await run(
    `import { ensureCompressed } from '#web/build-web-apps.ts';
     await ensureCompressed('${apps}');`,
    'held to file modes',
  );
  assert.deepEqual(await readdir(apps), ['app.js']);
});

/** Runs a program in the repository. Root usually writes regardless of file modes. */
async function run(program: string, as?: 'held to file modes'): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  const drop = as && isRoot ? ['setpriv', '--bounding-set', '-dac_override'] : [];
  const node = [process.execPath, '--input-type=module-typescript', '-e', program];
  const [file = '', ...args] = [...drop, ...node];
  await promisify(execFile)(file, args, { cwd: ROOT });
}
