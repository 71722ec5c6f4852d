import { spawn } from 'node:child_process';
import { glob, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensurePackages } from '#packages/built.ts';
import { startThrowawayPostgres } from '#sandbox/postgres.ts';
import { BROWSER_SETTING, launchChromium } from '#testing/chromium.ts';
import { SANDBOX_SETTING, startSharedSandbox } from '#testing/shared-sandbox.ts';
import { ensureBuilt, ensureCompressed } from '#web/built.ts';
import { groupFiles, inGoodOrder, writeGroups } from './groups.ts';
import { LATER } from './later.ts';
import { memoryFolder } from './memory-folder.ts';
import { changedFiles, testsReachedBy } from './reached.ts';
import { childrenSeconds, TIMES_SETTING, timesTable } from './times.ts';

/**
 * Runs the tests: all of them, those that have one of the words in their path (`npm test --
 * payments/pay`), or with `--changed` those that what differs from `main` can break. `--times`
 * says at the end which files took how long. One PostgreSQL serves all test files (each test
 * clones a database of its own from a template in it), one Chromium and one sandbox all tests in
 * a browser (each opens windows and terminals of its own). `--later` runs what is left to the long
 * run (`later.ts`).
 */
const ROOT = path.join(import.meta.dirname, '..');
const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    changed: { type: 'boolean' },
    later: { type: 'boolean' },
    times: { type: 'boolean' },
    concurrency: { type: 'string' },
  },
});
const PATTERNS = [
  'src/**/*.test.ts',
  'contracts/**/*.test.ts',
  'test/**/*.test.ts',
  'web/**/*.test.ts',
];
/** What Node has made of the sources: without it each process of a test makes it again. */
const COMPILED = path.join(ROOT, 'node_modules/.cache/compiled');
/** Files that import the tests of one process. */
const GROUPS = path.join(ROOT, 'node_modules/.cache/test-groups');
/**
 * On two cores: many files wait for a chain most of the time. A fourth one makes all of them slower
 * than it saves. `--concurrency` tries another.
 */
const CONCURRENCY = 3;
/** A test that hangs must not hang the run; the longest takes well under a minute. */
const TIMEOUT_MS = 300_000;
/**
 * Files that failed run once more, one at a time on a ground of their own: what fails then is
 * wrong, what passes then is too sensitive to its neighbors and is named. More than these at
 * once are no accident.
 */
const MOST_AGAIN = 6;

async function testFiles(): Promise<string[]> {
  const files: string[] = [];
  for await (const file of glob(PATTERNS, { exclude: (name) => name === 'node_modules' })) {
    // Those have a runner of their own: npm run test:long.
    if (!file.startsWith('test/long/')) files.push(file);
  }
  files.sort();
  if (options.later) return files.filter((file) => LATER[file] !== undefined);
  if (options.changed) return testsReachedBy(changedFiles(ROOT), files, ROOT);
  // A file that is named whole runs wherever it lies, such as a long one.
  const others = words.filter((word) => !files.some((file) => file.includes(word)));
  const chosen = files.filter((file) => words.some((word) => file.includes(word)));
  const now = files.filter((file) => LATER[file] === undefined);
  return words.length === 0 ? now : [...chosen, ...others];
}

/** What tests in a browser share, told to them by the environment. */
async function startBrowserGround(files: readonly string[]) {
  if (!files.some((file) => file.endsWith('.browser.test.ts'))) {
    return { env: {}, stop: async () => {} };
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-shared-'));
  const file = path.join(folder, 'sandbox.json');
  // Nobody waits for it here: other tests begin meanwhile.
  const starting = startSharedSandbox().then(async (shared) => {
    await writeFile(`${file}.new`, JSON.stringify(shared.sandbox));
    await rename(`${file}.new`, file);
    return shared;
  });
  // Who waits for it hears at once that there is none.
  const started = starting.catch(async (error) => {
    await writeFile(file, JSON.stringify({ error: String(error) }));
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

/** Runs `files`. @returns the exit code, and the files with a test that failed. */
async function runFiles(
  files: readonly string[],
  concurrency: number,
  settings: NodeJS.ProcessEnv,
): Promise<{ readonly code: number; readonly failed: readonly string[] }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-failed-'));
  const list = path.join(folder, 'files');
  const entries = await writeGroups(inGoodOrder(groupFiles(files)), GROUPS);
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
  const [postgres, ground] = await Promise.all([
    startThrowawayPostgres(),
    startBrowserGround(files),
  ]);
  const result = await run({ ...ground.env, TAPLINE_TEST_DATABASE_URL: postgres.url });
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
  // Tests import the packages by their names, and weigh what a browser loads.
  const browses = files.some((file) => file.endsWith('.browser.test.ts'));
  const web = browses ? ensureBuilt(tmpdir()).then(ensureCompressed) : null;
  await Promise.all([ensurePackages(), web]);
  const concurrency = Number(options.concurrency ?? CONCURRENCY);
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
  // With PostgreSQL, browser and chains, which end with the run.
  const [took, busy] = [performance.now() / 1_000, childrenSeconds()];
  console.log(`${took.toFixed(0)} s, with ${busy.toFixed(0)} s of processor time in all`);
  await rm(folder, { recursive: true });
  return code;
}

/** All processes of the run find the folder by the variable. */
async function mainInMemory(): Promise<number> {
  const folder = await memoryFolder();
  if (folder === null) return mainWithTimes();
  process.env.TMPDIR = folder;
  const code = await mainWithTimes();
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  return code;
}

process.exit(await mainInMemory());
