import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Fills in settings files as an operator would. */

const KEPT_BY_ONE: readonly (readonly [string, RegExp])[] = [
  ['worker.env', /(RELAYER_KEYS|SPONSOR_KEY)$/],
  ['registrar.env', /REGISTRAR_KEY$/],
  ['tapline.env', /^(?!.*(RELAYER_KEYS|SPONSOR_KEY|REGISTRAR_KEY)$)/],
];

/** Sets `NAME=value` in a settings file, in place if the name exists, otherwise at the end. */
export function withSettings(text: string, settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings).reduce((sum, [name, value]) => {
    const line = `${name}=${value}`;
    const pattern = new RegExp(`^(# )?${name}=.*$`, 'm');
    return pattern.test(sum) ? sum.replace(pattern, () => line) : `${sum}\n${line}\n`;
  }, text);
}

export function settingsIn(block: string, password: string): Record<string, string> {
  const pairs = block
    .trim()
    .split('\n')
    .map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1).replace('…', password)];
    });
  return Object.fromEntries(pairs);
}

/** Fills in the values that an example leaves empty. */
export function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/^(\w+)=$/gm, (line, name) => `${line}${values[name] ?? ''}`);
}

/** Writes each setting to the one of three files in this folder that docs/deploy.md names. */
export async function fillSettings(
  folder: string,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, pattern] of KEPT_BY_ONE) {
    const own = Object.entries(settings).filter(([setting]) => pattern.test(setting));
    const file = path.join(folder, name);
    const text = await readFile(file, 'utf8').catch(() => '');
    await writeFile(file, withSettings(text, Object.fromEntries(own)));
  }
}
