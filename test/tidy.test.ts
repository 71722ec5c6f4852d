import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { parseSync, Visitor } from 'oxc-parser';

/**
 * House rules that no linter knows, executed. Every rule says how many files it saw: a guard that
 * reads nothing would pass for ever.
 */

const ROOT = path.join(import.meta.dirname, '..');

/** Folders of src/ and what each may import beside itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  db: ['core'],
  idempotency: ['core', 'db'],
  http: ['core', 'db', 'idempotency'],
  settlement: ['core', 'db'],
  events: ['core', 'db'],
  risk: ['core', 'db'],
  accounts: ['core', 'db', 'events', 'settlement', 'idempotency'],
  payers: ['core', 'db', 'events', 'settlement', 'idempotency', 'accounts'],
  webhooks: ['core', 'db', 'events', 'idempotency', 'accounts'],
  payments: ['core', 'db', 'events', 'settlement', 'idempotency', 'accounts', 'payers', 'risk'],
  refunds: ['core', 'db', 'events', 'settlement', 'idempotency', 'accounts', 'payments'],
  recovery: [
    'core',
    'db',
    'events',
    'settlement',
    'idempotency',
    'accounts',
    'payers',
    'payments',
    'refunds',
    'terminals',
  ],
  terminals: [
    'core',
    'db',
    'events',
    'settlement',
    'idempotency',
    'accounts',
    'payments',
    'refunds',
  ],
};

/** Composition: these see every folder, and only tests and `main` see them. */
const ROOTS = new Set(['sandbox', 'testing', 'ops', 'dashboard', 'payer-app', 'test-helpers', '']);
/** Where a domain meets HTTP. */
const SEES_HTTP = /(^|[-/])(routes?|schema|surface|catalogue)\.ts$/;
const MERCHANT_CALLER = 'accounts/merchant-caller.ts';
const LINE_LIMIT = 400;
const FUNCTION_LIMIT = 60;
const COLUMN_LIMIT = 100;
/** Fewer would mean that the search looks in the wrong place. */
const FEWEST_FILES = 100;

interface Source {
  /** From the root, with forward slashes. */
  readonly name: string;
  readonly text: string;
}

async function sources(pattern: string): Promise<Source[]> {
  const files: Source[] = [];
  for await (const name of glob(pattern, { cwd: ROOT })) {
    if (name.includes('node_modules') || name.includes('artifacts')) continue;
    files.push({ name, text: readFileSync(path.join(ROOT, name), 'utf8') });
  }
  return files;
}

const all = await sources('{src,test,bench,sdk,contracts}/**/*.ts');
const product = all.filter(({ name }) => name.startsWith('src/') && !name.endsWith('.test.ts'));

function folderOf(name: string): string {
  const parts = name.split('/');
  return parts.length > 2 ? (parts[1] ?? '') : '';
}

function importsOf(source: Source): string[] {
  const { module } = parseSync(source.name, source.text);
  return [
    ...module.staticImports.map((one) => one.moduleRequest.value),
    ...module.staticExports.flatMap((one) =>
      one.entries.flatMap((entry) => (entry.moduleRequest ? [entry.moduleRequest.value] : [])),
    ),
  ];
}

function problemOf(source: Source, target: string): string | null {
  const from = folderOf(source.name);
  const to = target.includes('/') ? target.split('/')[0] : '';
  if (from === to || ROOTS.has(from)) return null;
  const allowed = MAY_IMPORT[from];
  if (allowed === undefined) return `${source.name}: src/${from} is not in the import table`;
  if (SEES_HTTP.test(source.name) && (to === 'http' || target === MERCHANT_CALLER)) return null;
  return allowed.includes(to ?? '') ? null : `${source.name} imports #${target}`;
}

test('every import follows the import table', () => {
  assert.ok(product.length >= FEWEST_FILES, `only ${product.length} files were seen`);
  let seen = 0;
  const problems = product.flatMap((source) =>
    importsOf(source).flatMap((target) => {
      if (!target.startsWith('#')) return [];
      seen++;
      return problemOf(source, target.slice(1)) ?? [];
    }),
  );
  assert.ok(seen >= FEWEST_FILES, `only ${seen} imports were seen`);
  assert.deepEqual(problems, []);
});

test('nothing but tests imports the test support, and nobody imports main', () => {
  const problems = product.flatMap((source) =>
    importsOf(source)
      .filter((target) => target === '#main.ts' || target.startsWith('#testing/'))
      .filter(() => folderOf(source.name) !== 'testing')
      .map((target) => `${source.name} imports ${target}`),
  );
  assert.deepEqual(problems, []);
});

test('files, lines and functions stay short', () => {
  const problems: string[] = [];
  let functions = 0;
  for (const { name, text } of all) {
    const lines = text.split('\n');
    if (lines.length - 1 > LINE_LIMIT) problems.push(`${name}: ${lines.length - 1} lines`);
    lines.forEach((line, index) => {
      // A long address or import cannot be broken.
      if (line.length > COLUMN_LIMIT && !/https?:\/\/|^import |^} from /.test(line)) {
        problems.push(`${name}:${index + 1}: ${line.length} columns`);
      }
    });
    for (const { line, length } of functionLengths(name, text)) {
      functions++;
      // A `describe` holds its tests; each of them is short by itself.
      if (!name.endsWith('.test.ts') && length > FUNCTION_LIMIT)
        problems.push(`${name}:${line}: a function of ${length} lines`);
    }
  }
  assert.ok(functions >= FEWEST_FILES, `only ${functions} functions were seen`);
  assert.deepEqual(problems, []);
});

function functionLengths(name: string, text: string): { line: number; length: number }[] {
  const found: { line: number; length: number }[] = [];
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length;
  const note = (node: { start: number; end: number }) => {
    const line = lineOf(node.start);
    found.push({ line, length: lineOf(node.end) - line + 1 });
  };
  const visitor = new Visitor({
    FunctionDeclaration: note,
    FunctionExpression: note,
    ArrowFunctionExpression: note,
  });
  visitor.visit(parseSync(name, text).program);
  return found;
}

/** Words that have no place in the code, each with what to do instead. */
const BANS: readonly { readonly pattern: RegExp; readonly instead: string }[] = [
  { pattern: /\bas any\b|: any\b|<any>/, instead: 'give it a type, or unknown' },
  { pattern: /@ts-(ignore|expect-error|nocheck)/, instead: 'mend the type' },
  { pattern: /biome-ignore|eslint-disable/, instead: 'mend the code' },
  { pattern: /\b(TODO|FIXME|XXX)\b/, instead: 'do it, or write an issue' },
  { pattern: /\b(test|it|describe)\.(only|skip)\(/, instead: 'run every test' },
  { pattern: /^\s*enum \w/m, instead: 'a union of strings' },
];

const BANNED_NAMES = /(^|[-/])(utils?|helpers?|common|manager|misc)(\.test)?\.ts$/;

test('banned words and file names do not come back', () => {
  const problems = all
    .filter(({ name }) => name !== 'test/tidy.test.ts')
    .flatMap(({ name, text }) => {
      const bans = BANS.filter(({ pattern }) => pattern.test(text));
      const words = bans.map(({ pattern, instead }) => `${name}: ${pattern}: ${instead}`);
      return BANNED_NAMES.test(name) ? [...words, `${name}: name it after what it holds`] : words;
    });
  assert.deepEqual(problems, []);
});

test('no object of a request has a getter, which would keep it until a full collection', () => {
  const http = product.filter(({ name }) => name.startsWith('src/http/'));
  assert.ok(http.length >= 15, `only ${http.length} files were seen`);
  const getters = http.filter(({ text }) => /^\s+get \w+\(\)/m.test(text));
  assert.deepEqual(
    getters.map(({ name }) => name),
    [],
  );
});

test('migrations are numbered once each, and say why they are there', async () => {
  const files: string[] = [];
  for await (const name of glob('migrations/*.sql', { cwd: ROOT })) files.push(name);
  assert.ok(files.length >= 8, `only ${files.length} migrations were seen`);
  const numbers = files.map((name) => path.basename(name).slice(0, 4));
  assert.equal(new Set(numbers).size, numbers.length);
  for (const name of files) {
    assert.match(readFileSync(path.join(ROOT, name), 'utf8'), /^-- \S/, `${name} opens with why`);
  }
});
