import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
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
/** Starts the service with the command of package.json. */
const STARTS = /\bscripts\.start\b/;
/** In parts, because a test of this file does not start it. */
const START = ['src', 'app', 'main.ts'].join('/');
/** Added to the steps on the way through a process of the service, which has nearly every file. */
const START_STEPS = 1_000;
/** Their strings name sources as data, which only the tests below read. */
const LISTS = /^test\/mutations\/[\w-]+\.ts$/;
/** Tests that read all sources as text; `npm run check` and `npm test` run them. */
const READ_SOURCES: readonly string[] = [
  'test/deploy/deployment.test.ts',
  'test/deploy/log-reference.test.ts',
  'test/deploy/prometheus.test.ts',
  'test/imports.test.ts',
  'test/mutations/generate.test.ts',
  'test/mutations/selection.test.ts',
  'test/paths.test.ts',
  'test/statements.test.ts',
  'test/texts.test.ts',
  'test/tidy.test.ts',
  'web/operator/runbook.test.ts',
];
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
    ? [named.startsWith('#testkit/') ? named.slice(1) : path.join('src', named.slice(1))]
    : [path.join(path.dirname(file), source), source];
  const result = candidates.find(
    (one) => !one.startsWith('..') && one !== '.' && existsSync(path.join(root, one)),
  );
  // A list of tests does not depend on what they test.
  if (result === undefined || isTest(result)) return null;
  const target = path.normalize(result).replace(/\/$/, '');
  // A string with all sources is the start of a path; READ_SOURCES has the tests that read them.
  const isData = target === 'src' || (target.startsWith('src/') && LISTS.test(file));
  return isData ? null : target;
}

function edgesOf(root: string, file: string): string[] {
  const full = path.join(root, file);
  if (!SOURCE.test(file) || !existsSync(full) || statSync(full).isDirectory()) return [];
  const text = readFileSync(full, 'utf8').replaceAll(COMMENTS, '').replaceAll(TYPES_ONLY, '');
  const packages = [...text.matchAll(PACKAGES)].map(([, name = '']) => FOLDERS[name] ?? '');
  const named = [...text.matchAll(NAMES_FILE)];
  return [...packages, ...named.flatMap(([, name = '']) => targetOf(root, file, name) ?? [])];
}

const starts = new Map<string, boolean>();

function startsService(root: string, file: string): boolean {
  const full = path.join(root, file);
  const known = starts.get(full);
  if (known !== undefined) return known;
  const isSource = SOURCE.test(file) && existsSync(full) && statSync(full).isFile();
  const result = isSource && STARTS.test(readFileSync(full, 'utf8').replaceAll(COMMENTS, ''));
  starts.set(full, result);
  return result;
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
  const follow = (seen: Map<string, number>) => {
    for (const [file, distance] of seen) {
      const known = edges.get(file) ?? edgesOf(root, file);
      edges.set(file, known);
      for (const one of known) if (!seen.has(one)) seen.set(one, distance + 1);
    }
  };
  const search = (test: string) => {
    const seen = new Map<string, number>([[test, 0]]);
    follow(seen);
    if (![...seen.keys()].some((file) => startsService(root, file))) return seen;
    if (!seen.has(START)) seen.set(START, START_STEPS);
    follow(seen);
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
  /**
   * Slow tests; tests that only start the service with the changed files in it, or read all
   * sources; and browser tests, if no screen depends on the change.
   */
  readonly leftOut: readonly string[];
}

export function selectTests(
  changed: readonly string[],
  tests: readonly string[],
  root: string,
  reach = createReach(root),
): Selection {
  const targets = new Set(changed.flatMap(withFolders));
  const isScreen = changed.some((file) => file.startsWith('web/') && !isTest(file));
  const browses = changed.some((file) => isForScreens(root, file));
  /** Returns the number of steps from the test to a changed file; Infinity if there is no path. */
  const distanceOf = (test: string): number => {
    const steps = reach(test);
    const distances = [...targets].map((file) => steps.get(file) ?? Number.POSITIVE_INFINITY);
    // Browsers load the screens, so no import connects a browser test to them.
    const screen = isScreen && isBrowserTest(test) ? START_STEPS - 1 : Number.POSITIVE_INFINITY;
    return Math.min(...distances, screen);
  };
  const ofStart = changed.some((file) => file.startsWith(path.dirname(START)));
  const farthest = ofStart ? Number.POSITIVE_INFINITY : START_STEPS;
  const ofSources = changed.some((file) => file.startsWith('src/'));
  const reached = tests
    .map((test) => ({ test, distance: distanceOf(test) }))
    .filter(
      ({ test, distance }) =>
        Number.isFinite(distance) || (ofSources && READ_SOURCES.includes(test)),
    )
    .sort((a, b) => a.distance - b.distance);
  const runs = ({ test, distance }: (typeof reached)[number]) =>
    distance < farthest && !isSlow(test) && (browses || !isBrowserTest(test));
  const [run = [], leftOut = []] = [runs, (one: (typeof reached)[number]) => !runs(one)].map(
    (belongs) => reached.filter(belongs).map(({ test }) => test),
  );
  return { run, leftOut };
}

/** Returns all differences from `main`, committed or not. */
export function changedFiles(root: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  const [base = 'HEAD'] = git('merge-base', 'HEAD', 'main');
  const untracked = git('ls-files', '--others', '--exclude-standard');
  return [...new Set([...git('diff', '--name-only', base), ...untracked])];
}

/** Returns all test files, without those of the long run. */
export function testFiles(root: string): string[] {
  return globSync('{src,testkit,contracts,test,web,sdk,cli,x402,reader}/**/*.test.ts', {
    cwd: root,
    exclude: ['**/node_modules', 'test/long'],
  }).sort();
}
