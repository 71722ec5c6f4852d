import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Determines which tests a change can break. An edge is an import, or a string that names a file or
 * folder, so a test that starts `src/app/main.ts` as a process or reads `deploy/` counts, too.
 */
export const isSlow = (test: string) => test.endsWith('.slow.test.ts');
export const isBrowserTest = (test: string) => /\.browser(\.slow)?\.test\.ts$/.test(test);

const SOURCE = /\.(ts|tsx|mjs|js)$/;
/** Requires a slash or a dot, because `'test'` is a mode and not the folder. */
const NAMES_FILE = /['"`]([#\w.@-]*[./][\w./@-]*)['"`]/g;
/** Type-only imports cannot break a test; the compiler checks them. */
const TYPES_ONLY = /^(import|export) type [^;]*;/gm;
/** This repository's packages by name. */
const PACKAGES = /'(tapline|tapline-cli|tapline-x402)(\/\w+)?'/g;
const FOLDERS: Readonly<Record<string, string>> = {
  tapline: 'sdk/src',
  'tapline-cli': 'cli/src',
  'tapline-x402': 'x402/src',
};

function targetOf(root: string, file: string, named: string): string | null {
  // Built files come from the sources beside them.
  const source = named.replace(/\/dist(\/.*)?$/, '/src');
  const candidates = named.startsWith('#')
    ? [path.join('src', named.slice(1))]
    : [path.join(path.dirname(file), source), source];
  const found = candidates.find(
    (one) => !one.startsWith('..') && one !== '.' && existsSync(path.join(root, one)),
  );
  return found === undefined ? null : path.normalize(found).replace(/\/$/, '');
}

function edgesOf(root: string, file: string): string[] {
  const full = path.join(root, file);
  if (!SOURCE.test(file) || !existsSync(full) || statSync(full).isDirectory()) return [];
  const text = readFileSync(full, 'utf8').replaceAll(TYPES_ONLY, '');
  const packages = [...text.matchAll(PACKAGES)].map(([, name = '']) => FOLDERS[name] ?? '');
  const named = [...text.matchAll(NAMES_FILE)];
  return [...packages, ...named.flatMap(([, name = '']) => targetOf(root, file, name) ?? [])];
}

/** Returns a file and its parent folders, because a test may read one of them. */
function withFolders(file: string): string[] {
  const parts = file.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Returns the tests that depend on a changed file, nearest first. Paths are relative to `root`. */
export function testsReachedBy(
  changed: readonly string[],
  tests: readonly string[],
  root: string,
): string[] {
  const wanted = new Set(changed.flatMap(withFolders));
  const isScreen = changed.some((file) => file.startsWith('web/') && !file.includes('.test.'));
  const edges = new Map<string, readonly string[]>();
  /** Returns the number of steps from the test to a changed file; Infinity if there is no path. */
  const distanceOf = (test: string): number => {
    const seen = new Map<string, number>([[test, 0]]);
    for (const [file, distance] of seen) {
      if (wanted.has(file)) return distance;
      const known = edges.get(file) ?? edgesOf(root, file);
      edges.set(file, known);
      for (const one of known) if (!seen.has(one)) seen.set(one, distance + 1);
    }
    // Browsers load the screens, so no import connects a browser test to them.
    return isScreen && isBrowserTest(test) ? wanted.size : Number.POSITIVE_INFINITY;
  };
  return tests
    .map((test) => ({ test, distance: distanceOf(test) }))
    .filter(({ distance }) => Number.isFinite(distance))
    .sort((a, b) => a.distance - b.distance)
    .map(({ test }) => test);
}

/** Returns all differences from `main`, committed or not. */
export function changedFiles(root: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  const [base = 'HEAD'] = git('merge-base', 'HEAD', 'main');
  const untracked = git('ls-files', '--others', '--exclude-standard');
  return [...new Set([...git('diff', '--name-only', base), ...untracked])];
}
