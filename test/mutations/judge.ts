import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type Mutation, mutate, type Verdict } from './mutation.ts';

/**
 * Time limit, because a mutant that never ends counts as detected. The slowest file takes a minute.
 */
const TIMEOUT_MS = 300_000;
const LINKS = ['node_modules', 'cli/node_modules', 'reader/node_modules'];

export interface Judgment {
  readonly verdict: Verdict;
  readonly by: string;
}

/** A copy of the tree in which one bug at a time is planted. */
export interface Plot {
  judge(mutation: Mutation, tests: readonly string[]): Promise<Judgment>;
  remove(): void;
}

/** Copies the whole tree, because tests and compiler read more than `src`. */
export function copyTree(root: string, folder: string): void {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  for (const name of listed.stdout.split('\0')) {
    const from = path.join(root, name);
    if (name !== '' && existsSync(from)) cpSync(from, path.join(folder, name));
  }
  for (const link of LINKS) {
    if (existsSync(path.join(root, link)))
      symlinkSync(path.join(root, link), path.join(folder, link));
  }
}

/** @param databaseUrl A cluster in which each test clones its own database. */
export function openPlot(root: string, databaseUrl: string): Plot {
  const folder = mkdtempSync(path.join(tmpdir(), 'tapline-mutant-'));
  copyTree(root, folder);
  const place = { folder, databaseUrl, sound: new Set<string>() };
  return {
    judge: (mutation, tests) => judge(place, mutation, tests),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

interface Place {
  readonly folder: string;
  readonly databaseUrl: string;
  /** Test files that pass without a planted bug. */
  readonly sound: Set<string>;
}

async function judge(
  place: Place,
  mutation: Mutation,
  tests: readonly string[],
): Promise<Judgment> {
  const file = path.join(place.folder, mutation.file);
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, mutate(source, mutation));
  try {
    // Runs the tests first, because they are quicker than the compiler, which only checks mutants
    // that the tests missed.
    const failed = await firstFailure(place, tests);
    if (failed === null) {
      const complaint = compile(place.folder);
      if (complaint !== null) return { verdict: 'caught by types', by: complaint };
      return { verdict: 'survived', by: '' };
    }
    writeFileSync(file, source);
    await checkSound(place, failed.file);
    return { verdict: 'caught', by: failed.test };
  } finally {
    writeFileSync(file, source);
  }
}

/**
 * Checks that a test passes without a bug, because otherwise its failure proves nothing.
 * @throws if it fails twice.
 */
async function checkSound(place: Place, file: string): Promise<void> {
  if (place.sound.has(file)) return;
  for (let tries = 0; tries < 2; tries++) {
    if ((await failureOf(place, file)) !== null) continue;
    place.sound.add(file);
    return;
  }
  throw new Error(`${file} fails though nothing is planted`);
}

function compile(folder: string): string | null {
  const tsc = path.join(folder, 'node_modules', '.bin', 'tsc');
  const { status, stdout } = spawnSync(tsc, ['--noEmit'], { cwd: folder, encoding: 'utf8' });
  return status === 0 ? null : (/error (TS\d+)/.exec(stdout)?.[1] ?? 'tsc');
}

/** Runs one file at a time. @returns the first failing test, or `null`. */
async function firstFailure(
  place: Place,
  tests: readonly string[],
): Promise<{ readonly file: string; readonly test: string } | null> {
  for (const file of tests) {
    const test = await failureOf(place, file);
    if (test !== null) return { file, test };
  }
  return null;
}

async function failureOf({ folder, databaseUrl }: Place, test: string): Promise<string | null> {
  const child = spawn(
    process.execPath,
    [
      `--import=${path.join(folder, 'test', 'end-when-done.ts')}`,
      '--test',
      '--test-reporter=tap',
      test,
    ],
    {
      cwd: folder,
      env: { ...process.env, TAPLINE_TEST_DATABASE_URL: databaseUrl },
      stdio: ['ignore', 'pipe', 'ignore'],
      // Starts it in its own process group, so that its chains and servers end with it.
      detached: true,
    },
  );
  const ended = once(child, 'exit');
  const timer = setTimeout(() => endGroup(child), TIMEOUT_MS);
  const seen = { failed: null as string | null, passed: 0 };
  for await (const line of createInterface({ input: child.stdout })) {
    const failed = /^\s*not ok \d+ - (.*)/.exec(line)?.[1];
    if (failed !== undefined && seen.failed === null) {
      seen.failed = failed;
      endGroup(child);
    }
    if (/^\s*ok \d+ - /.test(line)) seen.passed++;
  }
  await ended;
  clearTimeout(timer);
  if (seen.failed !== null) return seen.failed;
  if (child.signalCode !== null) return `no end within ${TIMEOUT_MS / 1000} s`;
  if (seen.passed === 0) throw new Error(`no test ran: ${test}`);
  return child.exitCode === 0 ? null : `exit code ${child.exitCode}`;
}

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}
