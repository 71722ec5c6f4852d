// Runs `forge test` as configured in foundry.toml.

import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { foundryBinary } from './foundry-binary.ts';

export const contractsFolder = dirname(fileURLToPath(import.meta.url));

/** The tests' result, and forge's output. */
export type ForgeResult = { passed: boolean; output: string };

/**
 * Runs `forge test` with `options`. `environment` extends the process's environment, e.g. with
 * FOUNDRY_PROFILE and ARTIFACT_<contract> (see test/TestBase.sol).
 */
export function runForge(
  options: readonly string[],
  environment: Record<string, string> = {},
): Promise<ForgeResult> {
  const child = spawn(foundryBinary('forge'), ['test', ...options], {
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
