import { readFileSync } from 'node:fs';
import { StartError } from '#core/start-error.ts';

const FILE = /^file:(?:\/\/)?(\/.+)$/;

/**
 * Returns the keys in a setting: its own text or, for `file:/<path>`, the lines of that file
 * (systemd credentials, secrets mounted by Kubernetes).
 * @throws StartError if the file does not exist.
 */
export function readKeyTexts(text: string, name: string): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .flatMap((one) => {
      const [, path] = FILE.exec(one) ?? [];
      return path === undefined ? [one] : linesOf(path, name);
    });
}

function linesOf(path: string, name: string): string[] {
  try {
    const lines = readFileSync(path, 'utf8').split(/[\s,]+/);
    return lines.filter((line) => line !== '');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new StartError(`${name}: ${path} cannot be read (${code})`, { cause });
  }
}
