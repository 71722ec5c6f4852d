import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type Mutation, mutate, type Verdict } from './mutation.ts';

/** A mutant that never ends is caught, too. The longest file takes a minute. */
const TIMEOUT_MS = 300_000;
/** What a test needs of the tree. */
const PARTS = ['src', 'test', 'migrations', 'contracts', 'package.json', 'tsconfig.json'];

export interface Judgement {
  readonly verdict: Verdict;
  readonly by: string;
}

/** A copy of the tree in which bugs are planted one after the other. */
export interface Plot {
  judge(mutation: Mutation, tests: readonly string[]): Promise<Judgement>;
  remove(): void;
}

/** @param databaseUrl Of a cluster in which each test clones a database of its own. */
export function openPlot(root: string, databaseUrl: string): Plot {
  const folder = mkdtempSync(path.join(tmpdir(), 'tapline-mutant-'));
  for (const part of PARTS) {
    cpSync(path.join(root, part), path.join(folder, part), { recursive: true });
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  return {
    judge: (mutation, tests) => judge(folder, databaseUrl, mutation, tests),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function judge(
  folder: string,
  databaseUrl: string,
  mutation: Mutation,
  tests: readonly string[],
): Promise<Judgement> {
  const file = path.join(folder, mutation.file);
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, mutate(source, mutation));
  try {
    // The tests are quicker than the compiler, which is asked about what they let through.
    const failed = await firstFailure(folder, databaseUrl, tests);
    if (failed !== null) return { verdict: 'caught', by: failed };
    const complaint = compile(folder);
    if (complaint !== null) return { verdict: 'caught by types', by: complaint };
    return { verdict: 'survived', by: '' };
  } finally {
    writeFileSync(file, source);
  }
}

function compile(folder: string): string | null {
  const tsc = path.join(folder, 'node_modules', '.bin', 'tsc');
  const { status, stdout } = spawnSync(tsc, ['--noEmit'], { cwd: folder, encoding: 'utf8' });
  return status === 0 ? null : (/error (TS\d+)/.exec(stdout)?.[1] ?? 'tsc');
}

/** One file after the other, in their order: @returns the first test that fails, or null. */
async function firstFailure(
  folder: string,
  databaseUrl: string,
  tests: readonly string[],
): Promise<string | null> {
  for (const file of tests) {
    const failed = await failureOf(folder, databaseUrl, file);
    if (failed !== null) return failed;
  }
  return null;
}

async function failureOf(
  folder: string,
  databaseUrl: string,
  test: string,
): Promise<string | null> {
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
      // A group of its own, so that the chains and servers of its tests end with it.
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
    // It has ended by itself.
  }
}
