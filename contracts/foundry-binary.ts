import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/**
 * Returns the path of the native program in a @foundry-rs package. The package's `bin.mjs` must not
 * be used where the exit code matters: it exits with 0 even if the program exited with 1, so that
 * failing tests would pass.
 */
export function foundryBinary(tool: 'anvil' | 'forge'): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const platformPackage = `@foundry-rs/${tool}-${process.platform}-${architecture}`;
  // Resolves the platform's package from the tool's package, which depends on it.
  const fromTool = createRequire(require.resolve(`@foundry-rs/${tool}/package.json`));
  return fromTool.resolve(`${platformPackage}/bin/${tool}${suffix}`);
}
