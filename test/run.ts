import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { areSourcesUnchanged } from '#app/openapi-sources.ts';
import { ensurePackages } from '#packages/build-packages.ts';
import { startThrowawayPostgres } from '#testkit/fixtures/db/throwaway-postgres.ts';
import { BROWSER_SETTING, launchChromium } from '#testkit/network/chromium.ts';
import { SANDBOX_SETTING, startSandboxOfRun } from '#testkit/network/shared-sandbox.ts';
import { ensureBuilt, ensureCompressed } from '#web/build-web-apps.ts';
import { inMemory } from './memory-folder.ts';
import { writeProcesses } from './processes.ts';
import { changedFiles, isBrowserTest, isSlow, selectTests, testFiles } from './reached.ts';
import { withTimes } from './times.ts';

/**
 * Runs the tests: all of them, those with one of the words in their path (`npm test --
 * payments/pay`), or with `--changed` those that the differences from `main` can break. `--times`
 * lists the slowest files at the end. One PostgreSQL serves all files (each test clones a database
 * from a template), and all browser tests share one Chromium and one sandbox (each opens its own
 * windows and terminals). `--slow` runs the files that are left to the long run
 * (`*.slow.test.ts`).
 */
const ROOT = path.join(import.meta.dirname, '..');
// `npm test -w reader` starts in the package's folder.
process.chdir(ROOT);
const flag = { type: 'boolean' } as const;
const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { changed: flag, slow: flag, times: flag, concurrency: { type: 'string' } },
});
/** Node's compile cache, without which each test process compiles the sources again. */
const COMPILED = path.join(ROOT, 'node_modules/.cache/compiled');
/**
 * Chosen for two cores: on average a file uses a third of a core, because it waits for a chain or a
 * browser. With five at a time, a quarter of both cores was idle. `--concurrency` overrides it.
 */
const CONCURRENCY = 6;
/** For `--slow`, whose files start several services each. With five, a start took a minute. */
const SLOW_CONCURRENCY = 2;
/** Time limit of a process, because a hanging test must not block the run. */
const TIMEOUT_MS = 600_000;
/**
 * Failed files run once more, one at a time in a new environment. A second failure is real; a pass
 * means that the test is sensitive to load, and is reported. If more files than this fail, none
 * runs again.
 */
const MOST_AGAIN = 6;

function chosenFiles(): readonly string[] {
  const files = testFiles(ROOT);
  if (options.changed) {
    const { run, leftOut } = selectTests(changedFiles(ROOT), files, ROOT);
    if (options.slow) return leftOut;
    const list = leftOut.map((file) => `\n  ${file}`).join('');
    console.log(`Left out, run by npm test -- --changed --slow:${list}`);
    return run;
  }
  if (options.slow) return files.filter(isSlow);
  if (words.length === 0) return files.filter((file) => !isSlow(file));
  // A file named by its full path runs wherever it is, including long ones.
  const others = words.filter((word) => !files.some((file) => file.includes(word)));
  const unknown = others.filter((word) => !existsSync(word));
  if (unknown.length > 0) {
    console.error(`No test file has this in its path: ${unknown.join(' ')}`);
    process.exit(1);
  }
  return [...files.filter((file) => words.some((word) => file.includes(word))), ...others];
}

/** Runs `files`. @returns the exit code, and the files with a failed test. */
async function runFiles(files: readonly string[], concurrency: number, env = {}) {
  // A folder of its own, so that two runs in one checkout do not disturb each other.
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-entries-'));
  const list = path.join(folder, 'failed');
  const entries = await writeProcesses(files, folder);
  const child = spawn(
    process.execPath,
    [
      `--import=${import.meta.resolve('./end-when-done.ts')}`,
      '--test',
      `--test-concurrency=${concurrency}`,
      `--test-timeout=${TIMEOUT_MS}`,
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      `--test-reporter=${import.meta.resolve('./failed-files.ts')}`,
      `--test-reporter-destination=${list}`,
      ...entries,
    ],
    { stdio: 'inherit', env: { ...process.env, ...env, NODE_COMPILE_CACHE: COMPILED } },
  );
  const code = await new Promise<number>((resolve) => {
    child.once('exit', (exitCode) => resolve(exitCode ?? 1));
  });
  const failed = (await readFile(list, 'utf8')).split('\n').filter((file) => file !== '');
  await rm(folder, { recursive: true });
  return { code, failed };
}

/** Runs the files with a database, and with the sandbox and the browser that tests share. */
async function runWithServices(files: readonly string[], concurrency: number) {
  const postgres = await startThrowawayPostgres();
  // Sets the URL first, because the sandbox that this process starts has its database there, too.
  process.env.TAPLINE_TEST_DATABASE_URL = postgres.url;
  const run = files.some(isBrowserTest) ? runWithBrowser : runFiles;
  const result = await run(files, concurrency);
  await postgres.stop();
  return result;
}

async function runWithBrowser(files: readonly string[], concurrency: number) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-shared-'));
  const file = path.join(folder, 'sandbox.json');
  // Not awaited, so that other tests run while it starts.
  const starting = startSandboxOfRun(file);
  const browser = await launchChromium();
  const env = { [BROWSER_SETTING]: browser.wsEndpoint(), [SANDBOX_SETTING]: file };
  const result = await runFiles(files, concurrency, env);
  await browser.close();
  await (await starting)?.close();
  await rm(folder, { recursive: true });
  return result;
}

async function main(): Promise<number> {
  const files = chosenFiles();
  if (files.length === 0) {
    console.log('No test is reached.');
    return options.changed ? 0 : 1;
  }
  // Renews the documents that responses are checked against; a stale committed one ends the run.
  if (!areSourcesUnchanged()) {
    execFileSync('npm', ['run', '--silent', 'openapi', '--', '--check'], { stdio: 'inherit' });
  }
  // Builds what tests use: packages imported by name, and the apps that a browser loads.
  const web = files.some(isBrowserTest) ? ensureBuilt(tmpdir()).then(ensureCompressed) : null;
  await Promise.all([ensurePackages(), web]);
  const usual = options.slow ? SLOW_CONCURRENCY : CONCURRENCY;
  const concurrency = Number(options.concurrency ?? usual);
  const first = await runWithServices(files, concurrency);
  if (first.failed.length === 0 || first.failed.length > MOST_AGAIN) return first.code;
  console.log(`Again, one file at a time: ${first.failed.join(' ')}`);
  const again = await runWithServices(first.failed, 1);
  if (again.code === 0) console.log(`Passed alone, not beside others: ${first.failed.join(' ')}`);
  return again.code;
}

process.exit(await inMemory(options.times ? () => withTimes(main) : main));
