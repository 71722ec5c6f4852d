import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/**
 * The native program of a @foundry-rs package. Their `bin.mjs` must not be used where the exit code
 * matters: it ends with 0 when the program it started ended with 1, so failing tests would pass.
 */
export function foundryBinary(tool: 'anvil' | 'forge'): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const platformPackage = `@foundry-rs/${tool}-${process.platform}-${architecture}`;
  // The platform package is a dependency of the tool's package, and is found from there.
  const fromTool = createRequire(require.resolve(`@foundry-rs/${tool}/package.json`));
  return fromTool.resolve(`${platformPackage}/bin/${tool}${suffix}`);
}
