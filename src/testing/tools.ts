import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const TOOLS = path.join(import.meta.dirname, '../../test/tools');

/**
 * A third-party program that only one or two tests need. It is too large for the service's
 * dependencies, or conflicts with them. Each tool has its own folder in test/tools; all of them
 * share one lockfile.
 */
export interface Tool {
  /** Working directory, which contains the tool's files from test/tools. */
  readonly cwd: string;
  /** Returns the path of something that the tool installed, such as `ethers` or `.bin/newman`. */
  installed(name: string): string;
}

// Skips install scripts, because no tool needs them, and peer dependencies, because package.json
// lists those that are needed.
const FLAGS = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'];

/** Installs only this tool, in the folder `folder`. */
export async function installTool(name: string, folder: string): Promise<Tool> {
  await cp(TOOLS, folder, { recursive: true });
  const args = ['ci', `--workspace=${name}`, '--prefer-offline', ...FLAGS];
  await promisify(execFile)('npm', args, { cwd: folder });
  const cwd = path.join(folder, name);
  return {
    cwd,
    installed: (wanted) => {
      const own = path.join(cwd, 'node_modules', wanted);
      return existsSync(own) ? own : path.join(folder, 'node_modules', wanted);
    },
  };
}
