import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/**
 * Returns the path of the native program in a @foundry-rs package. Where the exit code matters, do
 * not use the package's `bin.mjs`: it exits with 0 even if the program exited with 1, so failing
 * tests would pass.
 */
export function foundryBinary(tool: 'anvil' | 'forge'): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const platformPackage = `@foundry-rs/${tool}-${process.platform}-${architecture}`;
  // The platform package is a dependency of the tool's package, so it is resolved from there.
  const fromTool = createRequire(require.resolve(`@foundry-rs/${tool}/package.json`));
  return fromTool.resolve(`${platformPackage}/bin/${tool}${suffix}`);
}
