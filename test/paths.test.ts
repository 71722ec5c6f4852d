import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ROOT } from './sources.ts';

/** Texts that no compiler reads, but in which readers and machines look for files. */
const TEXTS = '{**,.ci/**,.github/**}/{*.md,*.sh,*.sql,*.yaml,*.yml,Dockerfile,package.json,run}';
const FEWEST_TEXTS = 150;
const FEWEST_PATHS = 900;

/** Folders of the root, as the first part of a path. */
const FOLDERS = readdirSync(ROOT).filter(
  (name) => !/^(\.git|node_modules)$/.test(name) && statSync(path.join(ROOT, name)).isDirectory(),
);
/** Kinds of files that only this repository has, so that a name without its folder names one. */
const OURS = /\.(md|sol|sql|tsx?)$/;
/** Names of files in other projects. */
const OF_OTHERS = new Set(['medusa-config.ts']);

/** What commands make: the paths in .gitignore. */
const MADE = readFileSync(path.join(ROOT, '.gitignore'), 'utf8')
  .split('\n')
  .map((line) => line.replace(/^\/|\/$/g, ''))
  .filter((line) => /\w/.test(line));

function isMade(name: string): boolean {
  return MADE.some((made) => `/${name}/`.includes(`/${made}/`));
}

const files = globSync('{**,.*/**}/{*,.*}', {
  cwd: ROOT,
  exclude: (name) => isMade(name) || name === '.git',
});
const names = new Set(files);
/** Every file by the end of its path: `c.ts`, `b/c.ts` and `a/b/c.ts`. */
const ends = new Set(
  files.flatMap((name) => name.split('/').map((_, n, parts) => parts.slice(n).join('/'))),
);

/** `{a,b}/c` is two paths. */
function expanded(name: string): string[] {
  const [all, head = '', choices = ''] = /^([^{]*)\{([^{}]*)\}/.exec(name) ?? [];
  if (all === undefined) return [name];
  const rest = name.slice(all.length);
  return choices.split(',').flatMap((choice) => expanded(`${head}${choice}${rest}`));
}

function exists(name: string): boolean {
  if (name.includes('*')) return files.some((file) => path.matchesGlob(file, name));
  return names.has(name);
}

/** Returns the paths that a text names. `<a word>` in a path stands for any word. */
function pathsIn(text: string): string[] {
  const words = text.replaceAll(/<[\w ]+>/g, '*').match(/[\w.@$*{},/-]+/g) ?? [];
  return words
    .map((word) => word.replace(/^\*+|(?:\*\*|[.,/-])+$/g, ''))
    .filter((word) => isOfRoot(word) || (OURS.test(word) && /^[\w*]/.test(word)))
    .flatMap(expanded);
}

function isOfRoot(word: string): boolean {
  const parts = word.split('/').filter((part) => !/^\.\.?$/.test(part));
  return parts.length > 1 && !word.startsWith('/') && FOLDERS.includes(parts[0] ?? '');
}

/** The targets of a page's links to other files. */
function linksIn(text: string): string[] {
  const targets = [...text.matchAll(/\]\(([^\s)#]+?)\/?[)#\s]/g)].map(([, target = '']) => target);
  return targets.filter((target) => !/^\/|:/.test(target));
}

/**
 * Removes what names files of the past: closed sections of a changelog, and dated rows of a table
 * of runs. Those record what was true then.
 */
function presentPart(name: string, text: string): string {
  const open = path.basename(name) === 'CHANGELOG.md' ? text.split(/^## /m).slice(0, 2) : [text];
  return open.join('').replaceAll(/^\| 20\d\d-\d\d-\d\d .*$/gm, '');
}

/** Returns the paths in a text that lead to no file or folder. */
function wrongIn(name: string, text: string): string[] {
  const from = (target: string) => path.posix.join(path.posix.dirname(name), target);
  const wrongLinks = linksIn(text).filter((target) => !exists(from(target)) && !isMade(target));
  const wrong = pathsIn(text).filter((one) => {
    const plain = one.replace(/^(\.\.?\/)+/, '');
    const isFound = exists(from(one)) || exists(plain) || (OURS.test(plain) && ends.has(plain));
    return !isFound && !isMade(plain) && !OF_OTHERS.has(plain);
  });
  return [...new Set([...wrongLinks, ...wrong])].map((one) => `${name}: ${one}`);
}

test('each path in a page, a build file, a script or a migration leads to a file', () => {
  const texts = globSync(TEXTS, { cwd: ROOT, exclude: isMade }).map((name) => ({
    name,
    text: presentPart(name, readFileSync(path.join(ROOT, name), 'utf8')),
  }));
  assert.ok(texts.length >= FEWEST_TEXTS, `only ${texts.length} texts were seen`);
  const seen = texts.flatMap(({ text }) => pathsIn(text));
  assert.ok(seen.length >= FEWEST_PATHS, `only ${seen.length} paths were seen`);
  assert.deepEqual(
    texts.flatMap(({ name, text }) => wrongIn(name, text)),
    [],
  );
});

test('a wrong path is found in each kind of text', () => {
  const wrong = {
    'deploy/container/Dockerfile': 'RUN cat src/gone.ts > /tmp/a && rm -rf web/gone',
    '.github/workflows/ci.yml': '      - run: node ./src/app/gone-command.ts',
    'deploy/ha/a.sh': 'exec sh "deploy/gone.sh"',
    'package.json': '"test": "node test/gone.ts"',
    'migrations/0001_a.sql': '-- The defaults of src/gone/settings.ts hold.',
    'README.md': 'See [this](docs/gone.md#part), `src/{db,gone}/table.ts` and `src/gone/*.ts`.',
    'src/db/README.md':
      'See `gone-queries.ts`, [that](../docs/index.md), and `npm test -- test/go`.',
  };
  assert.deepEqual(
    Object.entries(wrong).flatMap(([name, text]) => wrongIn(name, text)),
    [
      'deploy/container/Dockerfile: src/gone.ts',
      'deploy/container/Dockerfile: web/gone',
      '.github/workflows/ci.yml: ./src/app/gone-command.ts',
      'deploy/ha/a.sh: deploy/gone.sh',
      'package.json: test/gone.ts',
      'migrations/0001_a.sql: src/gone/settings.ts',
      'README.md: docs/gone.md',
      'README.md: src/gone/table.ts',
      'README.md: src/gone/*.ts',
      'src/db/README.md: ../docs/index.md',
      'src/db/README.md: gone-queries.ts',
      'src/db/README.md: test/go',
    ],
  );
});
