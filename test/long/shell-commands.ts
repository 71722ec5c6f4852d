import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs commands in a shell of this machine. @returns their output. */
export async function sh(commands: string): Promise<string> {
  return (await run('sh', ['-c', commands])).stdout.trim();
}

/** Returns the first of these programs that is not installed here, or `null`. */
export async function missingProgram(programs: readonly string[]): Promise<string | null> {
  for (const program of programs) {
    if ((await sh(`command -v ${program}`).catch(() => null)) === null) return program;
  }
  return null;
}
