import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const TOOLS = path.join(import.meta.dirname, '../../test/tools');

/**
 * A third-party program that only one or two tests need, and that is too large for the service's
 * dependencies or conflicts with them. Each tool has a folder here; all share one lockfile.
 */
export interface Tool {
  /** Working directory, with the tool's files from test/tools. */
  readonly cwd: string;
  /** Returns the path of an installed package or program, such as `ethers` or `.bin/newman`. */
  installed(name: string): string;
}

// Skips install scripts, which no tool needs, and peer dependencies, which package.json lists
// explicitly.
const FLAGS = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'];

/** Installs only this tool, in `folder`. */
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
