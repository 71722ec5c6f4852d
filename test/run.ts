import { execFileSync, spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { glob, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { areSourcesUnchanged } from '#app/openapi-sources.ts';
import { ensurePackages } from '#packages/build-packages.ts';
import { startThrowawayPostgres } from '#sandbox/start-postgres.ts';
import { BROWSER_SETTING, launchChromium } from '#testkit/network/chromium.ts';
import { SANDBOX_SETTING, startSharedSandbox } from '#testkit/network/shared-sandbox.ts';
import { ensureBuilt, ensureCompressed } from '#web/build-web-apps.ts';
import { groupFiles, inGoodOrder, writeGroups } from './groups.ts';
import { memoryFolder } from './memory-folder.ts';
import { changedFiles, isBrowserTest, isSlow, selectTests } from './reached.ts';
import { childrenSeconds, TIMES_SETTING, timesTable } from './times.ts';

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
const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    changed: { type: 'boolean' },
    slow: { type: 'boolean' },
    times: { type: 'boolean' },
    concurrency: { type: 'string' },
  },
});
const PATTERNS = [
  'src/**/*.test.ts',
  'testkit/**/*.test.ts',
  'contracts/**/*.test.ts',
  'test/**/*.test.ts',
  'web/**/*.test.ts',
  '{sdk,cli,x402,reader}/test/**/*.test.ts',
];
/** Node's compile cache, without which each test process compiles the sources again. */
const COMPILED = path.join(ROOT, 'node_modules/.cache/compiled');
/**
 * Chosen for two cores: on average a file uses a third of a core, because it waits for a chain or a
 * browser. With four files at a time, a fifth of both cores was idle. `--concurrency` overrides it.
 */
const CONCURRENCY = 5;
/** For `--slow`, whose files start several services each. With five, a start took a minute. */
const SLOW_CONCURRENCY = 2;
/**
 * Time limit, because a hanging test must not block the run. The longest takes well under a minute.
 */
const TIMEOUT_MS = 300_000;
/**
 * Failed files run once more, one at a time in a new environment. A second failure is real; a pass
 * means that the test is sensitive to load, and is reported. If more files than this fail, none
 * runs again.
 */
const MOST_AGAIN = 6;

async function testFiles(): Promise<readonly string[]> {
  const files: string[] = [];
  for await (const file of glob(PATTERNS, { exclude: (name) => name === 'node_modules' })) {
    // Leaves out the long tests, which have their own runner: npm run test:long.
    if (!file.startsWith('test/long/')) files.push(file);
  }
  files.sort();
  if (options.changed) return changedTests(files);
  if (options.slow) return files.filter(isSlow);
  // A file named by its full path runs wherever it is, including long ones.
  const others = words.filter((word) => !files.some((file) => file.includes(word)));
  const unknown = others.filter((word) => !existsSync(word));
  if (unknown.length > 0) {
    console.error(`No test file has this in its path: ${unknown.join(' ')}`);
    process.exit(1);
  }
  const chosen = files.filter((file) => words.some((word) => file.includes(word)));
  const now = files.filter((file) => !isSlow(file));
  return words.length === 0 ? now : [...chosen, ...others];
}

function changedTests(files: readonly string[]): readonly string[] {
  const { run, leftOut } = selectTests(changedFiles(ROOT), files, ROOT);
  if (options.slow) return leftOut;
  if (leftOut.length > 0) {
    const list = leftOut.join('\n  ');
    console.log(`Left out, run by npm test -- --changed --slow:\n  ${list}`);
  }
  return run;
}

/**
 * Starts the resources that browser tests share, and passes them on through environment variables.
 */
async function startBrowserGround(files: readonly string[]) {
  if (!files.some(isBrowserTest)) {
    return { env: {}, stop: async () => {} };
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-shared-'));
  const file = path.join(folder, 'sandbox.json');
  // Writes the file in one step, because tests read it as soon as it exists. The sandbox's start is
  // not awaited, so that other tests run meanwhile.
  const say = async (found: object) => {
    await writeFile(`${file}.new`, JSON.stringify(found));
    await rename(`${file}.new`, file);
  };
  const starting = startSharedSandbox().then(async (shared) => {
    await say(shared.sandbox);
    return shared;
  });
  // Reports a failure immediately to the tests that wait for it.
  const started = starting.catch(async (error) => {
    await say({ error: String(error) });
    return null;
  });
  const browser = await launchChromium();
  return {
    env: { [BROWSER_SETTING]: browser.wsEndpoint(), [SANDBOX_SETTING]: file },
    stop: async () => {
      await browser.close();
      await (await started)?.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Runs `files`. @returns the exit code, and the files with a failed test. */
async function runFiles(
  files: readonly string[],
  concurrency: number,
  settings: NodeJS.ProcessEnv,
): Promise<{ readonly code: number; readonly failed: readonly string[] }> {
  // A folder of its own, so that two runs in one checkout do not disturb each other.
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-groups-'));
  const list = path.join(folder, 'failed');
  const groups = inGoodOrder(groupFiles(files), (file) => statSync(file).size);
  const entries = await writeGroups(groups, folder);
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
    { stdio: 'inherit', env: { ...process.env, ...settings, NODE_COMPILE_CACHE: COMPILED } },
  );
  const code = await new Promise<number>((resolve) => {
    child.once('exit', (exitCode) => resolve(exitCode ?? 1));
  });
  const failed = (await readFile(list, 'utf8')).split('\n').filter((file) => file !== '');
  await rm(folder, { recursive: true });
  return { code, failed };
}

async function withGround<T>(
  files: readonly string[],
  run: (settings: NodeJS.ProcessEnv) => Promise<T>,
): Promise<T> {
  const postgres = await startThrowawayPostgres();
  // Sets the URL first, because the sandbox that this process starts has its database there, too.
  process.env.TAPLINE_TEST_DATABASE_URL = postgres.url;
  const ground = await startBrowserGround(files);
  const result = await run(ground.env);
  await ground.stop();
  await postgres.stop();
  return result;
}

async function main(): Promise<number> {
  const files = await testFiles();
  if (files.length === 0) {
    console.log('No test is reached.');
    return options.changed ? 0 : 1;
  }
  // Renews the documents that responses are checked against; a stale committed one ends the run.
  if (!areSourcesUnchanged()) {
    const args = ['run', '--silent', 'openapi', '--', '--check'];
    execFileSync('npm', args, { cwd: ROOT, stdio: 'inherit' });
  }
  // Builds what tests use: packages imported by name, and the apps that a browser loads.
  const browses = files.some(isBrowserTest);
  const web = browses ? ensureBuilt(tmpdir()).then(ensureCompressed) : null;
  await Promise.all([ensurePackages(), web]);
  const usual = options.slow === true ? SLOW_CONCURRENCY : CONCURRENCY;
  const concurrency = Number(options.concurrency ?? usual);
  const first = await withGround(files, (settings) => runFiles(files, concurrency, settings));
  if (first.failed.length === 0 || first.failed.length > MOST_AGAIN) return first.code;
  console.log(`Again, one file at a time: ${first.failed.join(' ')}`);
  const again = await withGround(first.failed, (settings) => runFiles(first.failed, 1, settings));
  if (again.code === 0) console.log(`Passed alone, not beside others: ${first.failed.join(' ')}`);
  return again.code;
}

async function mainWithTimes(): Promise<number> {
  if (!options.times) return main();
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-times-'));
  const list = path.join(folder, 'times');
  process.env[TIMES_SETTING] = list;
  const code = await main();
  console.log(timesTable(list));
  // Includes PostgreSQL, browser and chains, which end with the run.
  const [took, busy] = [performance.now() / 1_000, childrenSeconds()];
  console.log(`${took.toFixed(0)} s, with ${busy.toFixed(0)} s of processor time in all`);
  await rm(folder, { recursive: true });
  return code;
}

/** Runs in a memory-backed folder. All processes of the run find it through the variable. */
async function mainInMemory(): Promise<number> {
  const folder = await memoryFolder();
  if (folder === null) return mainWithTimes();
  process.env.TMPDIR = folder;
  const code = await mainWithTimes();
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  return code;
}

process.exit(await mainInMemory());
