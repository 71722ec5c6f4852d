import { spawn } from 'node:child_process';
import { glob } from 'node:fs/promises';
import { startThrowawayPostgres } from '#sandbox/postgres.ts';

/**
 * Runs the tests: all of them, or the files that are named. One PostgreSQL serves all test files
 * (each test clones a database of its own from a template in it).
 */
const PATTERNS = ['src/**/*.test.ts', 'contracts/**/*.test.ts', 'test/**/*.test.ts'];
/** Two cores: more files at once only slow each other down. */
const CONCURRENCY = 2;
/** A test that hangs must not hang the run; the longest takes well under a minute. */
const TIMEOUT_MS = 300_000;

async function testFiles(named: readonly string[]): Promise<string[]> {
  if (named.length > 0) return [...named];
  const files: string[] = [];
  for await (const file of glob(PATTERNS, { exclude: (name) => name === 'node_modules' })) {
    // Those have a runner of their own: npm run test:long.
    if (!file.startsWith('test/long/')) files.push(file);
  }
  return files.sort();
}

async function main(): Promise<number> {
  const files = await testFiles(process.argv.slice(2));
  if (files.length === 0) throw new Error('no test file was found');
  const postgres = await startThrowawayPostgres();
  const child = spawn(
    process.execPath,
    [
      `--import=${import.meta.resolve('./end-when-done.ts')}`,
      '--test',
      `--test-concurrency=${CONCURRENCY}`,
      `--test-timeout=${TIMEOUT_MS}`,
      '--test-reporter=spec',
      ...files,
    ],
    { stdio: 'inherit', env: { ...process.env, TAPLINE_TEST_DATABASE_URL: postgres.url } },
  );
  const code = await new Promise<number>((resolve) => {
    child.once('exit', (exitCode) => resolve(exitCode ?? 1));
  });
  await postgres.stop();
  return code;
}

process.exit(await main());
