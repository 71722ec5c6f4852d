import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const TOOLS = path.join(import.meta.dirname, '../../test/tools');

/**
 * Programs of others that one test or two need: too large, or of other versions, for the folder of
 * the service. Each has a folder here, and all share one lockfile.
 */
export interface Tool {
  /** Its folder, with what test/tools has of it. */
  readonly cwd: string;
  /** Where something is installed: `ethers`, `.bin/newman`. */
  installed(name: string): string;
}

// Their scripts are not needed, and their peers are named where they are.
const FLAGS = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'];

/** Installs one tool and no other, below `folder`. */
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
