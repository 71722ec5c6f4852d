import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const TYPED_MS = 900_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;

/** Runs commands in a shell of this machine. @returns their output. */
export async function sh(commands: string): Promise<string> {
  return (await run('sh', ['-c', commands])).stdout.trim();
}

/** Runs commands of a guide in bash. @throws with their output if one fails. */
export async function typed(
  commands: string,
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd?: string },
  before: readonly string[] = [],
): Promise<string> {
  const words = [...before, 'bash', '--norc', '-euo', 'pipefail', '-c', commands];
  const [program = '', ...args] = words;
  const limits = { timeout: TYPED_MS, maxBuffer: OUTPUT_BYTES };
  return (await run(program, args, { ...options, ...limits })).stdout;
}

/** Returns the first of these programs that is not installed here, or `null`. */
export async function missingProgram(programs: readonly string[]): Promise<string | null> {
  for (const program of programs) {
    if ((await sh(`command -v ${program}`).catch(() => null)) === null) return program;
  }
  return null;
}

/** Unmounts what is mounted below paths with this beginning. @returns those mounts. */
export async function unmountBelow(beginning: string): Promise<readonly string[]> {
  const mounts = (await sh('cut -d " " -f 2 /proc/self/mounts')).split('\n');
  // The newest first, because some are mounted inside others.
  const own = mounts.filter((position) => position.startsWith(beginning)).reverse();
  for (const position of own) await sh(`umount -l ${position}`).catch(() => {});
  return own;
}
