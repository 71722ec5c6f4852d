import { readFileSync } from 'node:fs';
import path from 'node:path';
import { present } from '#core/assert.ts';

const ROOT = path.join(import.meta.dirname, '../..');

/** The start script of the release in that folder, word by word. */
function startWords(root: string): string[] {
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  return present(scripts.start, 'start script').split(' ');
}

/**
 * Node's flags as `npm start` sets them, so that what is tested and measured is what runs: they
 * keep the garbage of a busy second from staying in memory.
 */
export function startFlags(): string[] {
  return startWords(ROOT).filter((word) => word.startsWith('--'));
}

/** The file that `npm start` runs, in that release. */
export function startProgram(root: string): string {
  return path.join(root, present(startWords(root).at(-1), 'program'));
}
