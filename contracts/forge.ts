// Runs `forge test` as it stands in foundry.toml.

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const contractsFolder = dirname(fileURLToPath(import.meta.url));

/** What a run of forge came to. */
export type ForgeResult = { passed: boolean; output: string };

/**
 * Runs the forge tests with `options` of `forge test`. `environment` comes on top of our own;
 * FOUNDRY_PROFILE and ARTIFACT_<contract> (see test/TestBase.sol) are of use there.
 */
export function runForge(
  options: readonly string[],
  environment: Record<string, string> = {},
): Promise<ForgeResult> {
  const require = createRequire(import.meta.url);
  const script = join(dirname(require.resolve('@foundry-rs/forge/package.json')), 'bin.mjs');
  const child = spawn(process.execPath, [script, 'test', ...options], {
    cwd: dirname(contractsFolder),
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ passed: code === 0, output }));
  });
}
