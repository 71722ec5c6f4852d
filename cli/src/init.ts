import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { WrongUse } from './wrong-use.ts';

/** The service's command for its settings, in the clone that this program runs from. */
const COMMAND = 'src/ops/settings-command.ts';
const NAME = 'tapline-network';

function isClone(folder: string): boolean {
  const file = path.join(folder, 'package.json');
  if (!existsSync(file) || !existsSync(path.join(folder, COMMAND))) return false;
  return (JSON.parse(readFileSync(file, 'utf8')) as { name?: string }).name === NAME;
}

/**
 * Returns the repository clone whose `cli/bin` started this program. Never uses a clone just
 * because it is the current folder: its author could make this program run their code.
 */
function ownClone(): string {
  const program = realpathSync(process.argv[1] ?? import.meta.filename);
  const clone = path.join(path.dirname(program), '../..');
  if (isClone(clone)) return clone;
  throw new WrongUse('This command needs a clone of Tapline. Run `npx tapline` in its folder.');
}

/**
 * Creates (`init`) or checks (`check`) the settings of a network in `folder`, by running the
 * service's code, because only the service knows what it needs to start. @returns the exit code
 */
export async function settingsOfNetwork(
  command: 'init' | 'check',
  options: { readonly folder: string; readonly json?: boolean },
): Promise<number> {
  const clone = ownClone();
  const own = path.join(clone, 'node_modules/.bin/node');
  const node = existsSync(own) ? own : process.execPath;
  const args = [path.join(clone, COMMAND), command, '--folder', path.resolve(options.folder)];
  const all = options.json === true ? [...args, '--json'] : args;
  const child = spawn(node, all, { stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code ?? 1;
}
