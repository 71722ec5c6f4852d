import { present } from '#core/assert.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { spawnNetwork, temporaryDataDir } from '#testing/spawn-network.ts';

/** Where the one sandbox of a test run is described; `test/run.ts` sets it. */
export const SANDBOX_SETTING = 'TAPLINE_TEST_SANDBOX';

export interface SharedSandbox {
  readonly sandbox: SandboxFile;
  /** Ends it if it is this file's own. */
  close(): Promise<void>;
}

/** A real network as `npm start` runs it. Tests that share it make terminals of their own. */
export async function startSharedSandbox(
  env: Readonly<Record<string, string>> = {},
): Promise<SharedSandbox> {
  const folder = await temporaryDataDir();
  const network = await spawnNetwork({
    dataDir: folder.path,
    env: { RATE_LIMIT: '1000/1', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', ...env },
  });
  return {
    sandbox: network.sandbox,
    close: async () => {
      await network.stop();
      await folder.remove();
    },
  };
}

/** The run's sandbox, or one of its own where a file is run by itself. */
export async function openSharedSandbox(): Promise<SharedSandbox> {
  const described = process.env[SANDBOX_SETTING];
  if (described === undefined) return startSharedSandbox();
  const sandbox = JSON.parse(present(described, SANDBOX_SETTING)) as SandboxFile;
  return { sandbox, close: async () => {} };
}
