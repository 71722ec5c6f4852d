import { readFileSync } from 'node:fs';
import path from 'node:path';
import { present } from '#core/assert.ts';

const MANIFEST = path.join(import.meta.dirname, '../../package.json');

/**
 * Node's flags as `npm start` sets them, so that what is tested and measured is what runs: they
 * keep the garbage of a busy second from staying in memory.
 */
export function startFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as {
    scripts: Record<string, string>;
  };
  const words = present(scripts.start, 'start script').split(' ');
  return words.filter((word) => word.startsWith('--'));
}
