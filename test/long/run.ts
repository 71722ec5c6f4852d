import { glob, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { ensurePackages } from '#packages/build-packages.ts';
import { startThrowawayPostgres } from '#testkit/fixtures/db/throwaway-postgres.ts';
import { ensureBuilt, ensureCompressed } from '#web/build-web-apps.ts';

/**
 * Runs tests that are too slow for every change: the files of this folder, or those named. A dated
 * row per file goes to bench/long.md, in place of its last, with what its tests measured
 * (`t.diagnostic`).
 */
const TABLE = path.join(import.meta.dirname, '../../bench/long.md');
const HEADING = `# Long runs

The newest run of each file of \`npm run test:long\`, and of some runs by hand.
Earlier rows are in the git history.
All loads are those of a machine with two cores.

| date | file | passed | failed | minutes | measured |
|---|---|---|---|---|---|
`;
/**
 * Time limit, so that a hanging test does not block the run. An outage or a soak of more minutes
 * adds its length.
 */
const LONGER_MINUTES =
  Number(process.env.OUTAGE_MINUTES ?? 0) + Number(process.env.SOAK_MINUTES ?? 0);
const TIMEOUT_MS = 1_800_000 + LONGER_MINUTES * 90_000;

interface Tally {
  passed: number;
  failed: number;
  readonly measured: string[];
}

async function longTests(named: readonly string[]): Promise<string[]> {
  if (named.length > 0) return named.map((name) => path.resolve(name));
  const files: string[] = [];
  for await (const name of glob('*.test.ts', { cwd: import.meta.dirname })) {
    files.push(path.join(import.meta.dirname, name));
  }
  return files.sort();
}

async function runFile(file: string): Promise<Tally> {
  const tally: Tally = { passed: 0, failed: 0, measured: [] };
  const tests = run({ files: [file], concurrency: false, timeout: TIMEOUT_MS });
  tests.on('test:pass', ({ details, skip }) => {
    if (details.type !== 'suite' && skip === undefined) tally.passed++;
  });
  tests.on('test:fail', ({ details }) => {
    if (details.type !== 'suite') tally.failed++;
  });
  tests.on('test:diagnostic', ({ message, file: from }) => {
    // Skips the runner's own summary, which belongs to no file.
    if (from !== undefined) tally.measured.push(message);
  });
  tests.compose(spec).pipe(process.stdout, { end: false });
  await new Promise((resolve) => tests.once('end', resolve));
  return tally;
}

async function main(): Promise<number> {
  const files = await longTests(process.argv.slice(2));
  if (files.length === 0) throw new Error('no long test was found');
  // Builds the packages, because tests import them by name.
  await Promise.all([ensurePackages(), ensureBuilt(tmpdir()).then(ensureCompressed)]);
  const postgres = await startThrowawayPostgres();
  process.env.TAPLINE_TEST_DATABASE_URL = postgres.url;
  let failed = 0;
  for (const file of files) {
    const started = performance.now();
    const tally = await runFile(file);
    const minutes = ((performance.now() - started) / 60_000).toFixed(1);
    const date = new Date().toISOString().slice(0, 16).replace('T', ' ');
    const cells = [date, path.basename(file), tally.passed, tally.failed, minutes];
    // Reads the table again, because another run may have written to it in between.
    const table = await readFile(TABLE, 'utf8').catch(() => HEADING);
    const row = `| ${[...cells, tally.measured.join('; ')].join(' | ')} |\n`;
    const isOlder = (line: string) => line.includes(` | ${path.basename(file)} | `);
    const others = table.split('\n').filter((line) => !isOlder(line));
    await writeFile(TABLE, others.join('\n') + row);
    failed += tally.failed;
  }
  await postgres.stop();
  return failed === 0 ? 0 : 1;
}

process.exit(await main());
