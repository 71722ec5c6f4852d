import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { parseSync } from 'oxc-parser';

/** The repository's source files and their imports. */

export const ROOT = path.join(import.meta.dirname, '..');

/** A row of the table in docs/folders.md. */
interface Folder {
  /** Relative to src/, or the path of a folder of testkit/. */
  readonly name: string;
  readonly mayImport: readonly string[];
}

function foldersOf(markdown: string): Folder[] {
  const results: Folder[] = [];
  for (const [, path = '', allowed = ''] of markdown.matchAll(
    /^\| `(?:src\/?)?([^`]*)` \|[^\n]*\| ([^|\n]+) \|$/gm,
  )) {
    const above = results.map(({ name }) => name);
    const listed = allowed === 'nothing of ours' ? [] : allowed.split(', ');
    results.push({ name: path, mayImport: allowed === 'anything above' ? above : listed });
  }
  return results;
}

export const FOLDERS = foldersOf(readFileSync(path.join(ROOT, 'docs/folders.md'), 'utf8'));
export const MAY_IMPORT = new Map(FOLDERS.map(({ name, mayImport }) => [name, mayImport]));
/** Lower bound that detects a search in the wrong place. */
export const FEWEST_FILES = 100;

/** Generated files, which are as long as their source documents. */
const GENERATED = /^(sdk\/src\/types|web\/data\/types\/\w+)\.ts$/;

export interface Source {
  /** Relative to the root, with forward slashes. */
  readonly name: string;
  readonly text: string;
}

async function sources(pattern: string): Promise<Source[]> {
  const files: Source[] = [];
  for await (const name of glob(pattern, { cwd: ROOT })) {
    if (name.includes('node_modules') || name.includes('artifacts')) continue;
    if (GENERATED.test(name)) continue;
    files.push({ name, text: readFileSync(path.join(ROOT, name), 'utf8') });
  }
  return files;
}

const TREES = 'src,testkit,test,bench,{sdk,cli,x402,reader}/{src,test},contracts,web';
export const all = await sources(`{${TREES}}/**/*.{ts,tsx}`);
export const product = all.filter(
  ({ name }) => name.startsWith('src/') && !name.endsWith('.test.ts'),
);

export const testkit = all.filter(
  ({ name }) => name.startsWith('testkit/') && !name.endsWith('.test.ts'),
);

/** Returns the deepest folder of the table that contains the file, or `null`. */
export function folderOf(name: string): string | null {
  const parts = name
    .replace(/^src\//, '')
    .split('/')
    .slice(0, -1);
  if (parts.length === 0) return '';
  for (let length = parts.length; length > 0; length--) {
    const folder = parts.slice(0, length).join('/');
    if (MAY_IMPORT.has(folder)) return folder;
  }
  return null;
}

export function importsOf(source: Source): string[] {
  const { module } = parseSync(source.name, source.text);
  return [
    ...module.staticImports.map((one) => one.moduleRequest.value),
    ...module.staticExports.flatMap((one) =>
      one.entries.flatMap((entry) => (entry.moduleRequest ? [entry.moduleRequest.value] : [])),
    ),
  ];
}

/** Returns the literal targets of `import('…')`: the parts of the web apps that load later. */
export function lazyImportsOf({ name, text }: Source): string[] {
  const { module } = parseSync(name, text);
  return module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
    const [, target] = /^'([^']+)'$/.exec(text.slice(start, end)) ?? [];
    return target === undefined ? [] : [target];
  });
}

/** Returns the imports that remain when the types are stripped. */
export function runtimeImportsOf(source: Source): string[] {
  const { staticImports, staticExports } = parseSync(source.name, source.text).module;
  const imported = staticImports
    .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
    .map(({ moduleRequest }) => moduleRequest.value);
  const exported = staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ isType, moduleRequest }) =>
      moduleRequest && !isType ? [moduleRequest.value] : [],
    ),
  );
  return [...imported, ...exported, ...lazyImportsOf(source)];
}

/** Returns the target of an import, or `null` if it is a package. */
export function pathOf(source: Source, target: string): string | null {
  if (target.startsWith('#testkit/')) return target.slice(1);
  if (target.startsWith('#')) return `src/${target.slice(1)}`;
  return target.startsWith('.') ? path.join(path.dirname(source.name), target) : null;
}
