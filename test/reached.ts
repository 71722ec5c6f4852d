import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Determines which tests a change can break. An edge is an import, or a string that names a file or
 * folder, so a test that starts `src/app/main.ts` as a process or reads `deploy/` counts, too.
 */
const isTest = (file: string) => file.includes('.test.');
export const isSlow = (test: string) => test.endsWith('.slow.test.ts');
export const isBrowserTest = (test: string) => /\.browser(\.slow)?\.test\.ts$/.test(test);

const SOURCE = /\.(ts|tsx|mjs|js)$/;
/** Requires a slash or a dot, because `'test'` is a mode and not the folder. */
const NAMES_FILE = /['"`]([#\w.@-]*[./][\w./@-]*)['"`]/g;
/** A comment may name a file that its code does not use. */
const COMMENTS = /^\s*(\/\*[\s\S]*?\*\/|\/\/.*$)/gm;
/** `'..'` is the start of a path, not the folder; the rest of the path is in another string. */
const ONLY_DOTS = /^[./]+$/;
/** Declares a route or a schema, which screens depend on. */
const FOR_SCREENS = /from '(typebox|#http\/route\.ts)'/;
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
  if (ONLY_DOTS.test(named)) return null;
  // Built files come from the sources beside them.
  const source = named.replace(/\/dist(\/.*)?$/, '/src');
  const candidates = named.startsWith('#')
    ? [path.join('src', named.slice(1))]
    : [path.join(path.dirname(file), source), source];
  const found = candidates.find(
    (one) => !one.startsWith('..') && one !== '.' && existsSync(path.join(root, one)),
  );
  // A list of tests does not depend on what they test.
  return found === undefined || isTest(found) ? null : path.normalize(found).replace(/\/$/, '');
}

function edgesOf(root: string, file: string): string[] {
  const full = path.join(root, file);
  if (!SOURCE.test(file) || !existsSync(full) || statSync(full).isDirectory()) return [];
  const text = readFileSync(full, 'utf8').replaceAll(COMMENTS, '').replaceAll(TYPES_ONLY, '');
  const packages = [...text.matchAll(PACKAGES)].map(([, name = '']) => FOLDERS[name] ?? '');
  const named = [...text.matchAll(NAMES_FILE)];
  return [...packages, ...named.flatMap(([, name = '']) => targetOf(root, file, name) ?? [])];
}

/** Returns a file and its parent folders, because a test may read one of them. */
function withFolders(file: string): string[] {
  const parts = file.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

type Distances = ReadonlyMap<string, number>;

/** Returns a function that finds the files that a test depends on, with their numbers of steps. */
export function createReach(root: string): (test: string) => Distances {
  const edges = new Map<string, readonly string[]>();
  const reached = new Map<string, Distances>();
  const search = (test: string) => {
    const seen = new Map<string, number>([[test, 0]]);
    for (const [file, distance] of seen) {
      const known = edges.get(file) ?? edgesOf(root, file);
      edges.set(file, known);
      for (const one of known) if (!seen.has(one)) seen.set(one, distance + 1);
    }
    return seen;
  };
  return (test) => {
    const known = reached.get(test) ?? search(test);
    reached.set(test, known);
    return known;
  };
}

/** Returns whether screens depend on a file: it is below `web`, or declares a route or a schema. */
function isForScreens(root: string, file: string): boolean {
  if (file.startsWith('web/')) return true;
  if (!file.startsWith('src/') || isTest(file)) return false;
  const full = path.join(root, file);
  return !existsSync(full) || FOR_SCREENS.test(readFileSync(full, 'utf8'));
}

/** The tests that depend on changed files, nearest first. Paths are relative to the root. */
export interface Selection {
  readonly run: readonly string[];
  /** Slow tests; and browser tests, if no screen depends on the change. */
  readonly leftOut: readonly string[];
}

export function selectTests(
  changed: readonly string[],
  tests: readonly string[],
  root: string,
  reach = createReach(root),
): Selection {
  const wanted = new Set(changed.flatMap(withFolders));
  const isScreen = changed.some((file) => file.startsWith('web/') && !isTest(file));
  const browses = changed.some((file) => isForScreens(root, file));
  /** Returns the number of steps from the test to a changed file; Infinity if there is no path. */
  const distanceOf = (test: string): number => {
    const steps = reach(test);
    const distances = [...wanted].map((file) => steps.get(file) ?? Number.POSITIVE_INFINITY);
    // Browsers load the screens, so no import connects a browser test to them.
    const farthest = isScreen && isBrowserTest(test) ? steps.size : Number.POSITIVE_INFINITY;
    return Math.min(...distances, farthest);
  };
  const reached = tests
    .map((test) => ({ test, distance: distanceOf(test) }))
    .filter(({ distance }) => Number.isFinite(distance))
    .sort((a, b) => a.distance - b.distance)
    .map(({ test }) => test);
  const runs = (test: string) => !isSlow(test) && (browses || !isBrowserTest(test));
  return { run: reached.filter(runs), leftOut: reached.filter((test) => !runs(test)) };
}

/** Returns all differences from `main`, committed or not. */
export function changedFiles(root: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  const [base = 'HEAD'] = git('merge-base', 'HEAD', 'main');
  const untracked = git('ls-files', '--others', '--exclude-standard');
  return [...new Set([...git('diff', '--name-only', base), ...untracked])];
}
