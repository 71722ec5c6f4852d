import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { startOwnNetwork } from '#testkit/network/spawn-network.ts';

/**
 * Environment variable with the path of the file that describes the sandbox of a test run.
 * `test/run.ts` sets it. The file appears once the sandbox is ready, so that tests that do not need
 * it can start earlier.
 */
export const SANDBOX_SETTING = 'TAPLINE_TEST_SANDBOX';

/**
 * Time limit for a start, which has taken half a minute while a run's first tests were starting.
 */
const START_MS = 180_000;

export interface SharedSandbox {
  readonly sandbox: SandboxFile;
  /** Stops the sandbox if this process started it. */
  close(): Promise<void>;
}

/** All tests call from one address. */
const MANY_CALLERS = { RATE_LIMIT: '1000/1', APPROVALS_PER_ADDRESS: '100000' } as const;

/** Starts a network. Tests that share it create their own terminals. */
export async function startSharedSandbox(
  env: Readonly<Record<string, string>> = {},
): Promise<SharedSandbox> {
  return startOwnNetwork({
    env: { ...MANY_CALLERS, WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', ...env },
  });
}

/** Starts the sandbox of a test run, and writes it, or why it failed, to the file. */
export async function startSandboxOfRun(file: string): Promise<SharedSandbox | null> {
  const shared = await startSharedSandbox().catch((error) => ({ error: String(error) }));
  // Written in one step, because tests read the file as soon as it exists.
  await writeFile(`${file}.new`, JSON.stringify('error' in shared ? shared : shared.sandbox));
  await rename(`${file}.new`, file);
  return 'error' in shared ? null : shared;
}

/** Opens the sandbox of the test run. A test file that runs alone starts one. */
export async function openSharedSandbox(): Promise<SharedSandbox> {
  const file = process.env[SANDBOX_SETTING];
  if (file === undefined) return startSharedSandbox();
  if (!(await waitUntil(async () => existsSync(file), START_MS))) throw new Error(`no ${file}`);
  const sandbox = JSON.parse(await readFile(file, 'utf8')) as SandboxFile | { error: string };
  if ('error' in sandbox) throw new Error(sandbox.error);
  return { sandbox, close: async () => {} };
}
