import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { type Expression, parseSync, Visitor } from 'oxc-parser';
import { readMigrations } from '#db/migration-files.ts';
import {
  all,
  FEWEST_FILES,
  folderOf,
  importsOf,
  product,
  ROOT,
  type Source,
  testkit,
} from './sources.ts';

/**
 * House rules that no linter supports. Every rule asserts how many files it read, so that it cannot
 * pass without reading any.
 */

/**
 * A limit, not a target: one file that hides much is faster to read than three that share its
 * content.
 */
const LINE_LIMIT = 600;
const FUNCTION_LIMIT = 60;
const COLUMN_LIMIT = 100;

test('no parameter is named "of"', () => {
  const bags: string[] = [];
  let file = '';
  const note = ({ params }: { params: readonly object[] }) => {
    const named = params.map((one) => ('left' in one ? Object(one.left) : one));
    if (named.some((one) => one.name === 'of')) bags.push(file);
  };
  const visitor = new Visitor({
    FunctionDeclaration: note,
    FunctionExpression: note,
    ArrowFunctionExpression: note,
  });
  for (const { name, text } of all) {
    file = name;
    visitor.visit(parseSync(name, text).program);
  }
  assert.deepEqual(bags, [], 'parameters are named "of"');
});

/**
 * Returns calls with a transaction that are not awaited. If such a call fails, nothing handles its
 * error: Node exits, and a deadlock is not retried.
 */
function unawaited({ name, text }: Source): string[] {
  const results: string[] = [];
  const note = (node: { readonly start: number; readonly end: number }) => {
    const call = text.slice(node.start, node.end);
    if (/\btx\b/.test(call)) results.push(`${name}: ${call.split('\n')[0]}`);
  };
  const visitor = new Visitor({
    UnaryExpression: (node) => {
      if (node.operator === 'void') note(node);
    },
    ExpressionStatement: ({ expression }) => {
      const isQuery =
        expression.type === 'CallExpression' &&
        /^tx\.query\b/.test(text.slice(expression.start, expression.end));
      if (isQuery) note(expression);
    },
  });
  visitor.visit(parseSync(name, text).program);
  return results;
}

test('calls with a transaction are awaited', () => {
  assert.deepEqual(product.flatMap(unawaited), []);
});

test('only tests import the test support, and no file imports main', () => {
  const problems = product.flatMap((source) =>
    importsOf(source)
      .filter((target) => /^#(app\/main\.ts$|testkit\/)/.test(target))
      .map((target) => `${source.name} imports ${target}`),
  );
  assert.deepEqual(problems, []);
});

/**
 * The mutable module variables that are allowed: caches of expensive values, a process's exit code,
 * and tracing, which concerns the whole process. Everything else is passed as a parameter.
 */
const KEPT_IN_MODULES: Readonly<Record<string, readonly string[]>> = {
  'src/core/ids.ts': ['used'],
  'src/observability/tracing.ts': ['tracing'],
  'src/people/passwords.ts': ['decoy', 'scorer'],
  'src/app/score-command.ts': ['failed'],
};

test('no module has a mutable variable, except for the listed ones', () => {
  const kept = product.flatMap(({ name, text }) => {
    const names = [...text.matchAll(/^(?:export )?let (\w+)/gm)].map(([, one]) => String(one));
    return names.length === 0 ? [] : [[name, names] as const];
  });
  assert.deepEqual(Object.fromEntries(kept), KEPT_IN_MODULES);
});

/**
 * The contexts of processes, and the maximum number of fields in each, including inherited ones.
 */
const CONTEXTS = ['ProcessContext', 'ChainContext', 'ApiContext', 'WorkerContext'];
const CONTEXT_FIELDS = 12;

/** Returns the fields of an interface, its own and inherited ones. */
function fieldsOf(name: string): string[] {
  const declared = new RegExp(
    `^export interface ${name}(?: extends (\\w+))? \\{\\n([^]*?)^\\}`,
    'm',
  );
  const results = product.flatMap(({ text }) => declared.exec(text) ?? []);
  const [, parent, body = ''] = results;
  const own = [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, field]) => String(field));
  return [...(parent === undefined ? [] : fieldsOf(parent)), ...own];
}

test('the context of a process has few fields', () => {
  for (const name of CONTEXTS) {
    const fields = fieldsOf(name);
    const isBounded = fields.length >= 4 && fields.length <= CONTEXT_FIELDS;
    assert.ok(isBounded, `${name}: ${fields.join(', ')}`);
  }
});

/**
 * Folders that may copy a context: the role of a process composes parts of it.
 */
const MAY_COPY = ['app'];

test('no route or use case copies a context, and no statement takes one', () => {
  const problems = product.flatMap(({ name, text }) => {
    const copies = /\{ ?\.\.\.ctx\b(?!\.)/.test(text) && !MAY_COPY.includes(folderOf(name) ?? '');
    const isStatement = name.endsWith('-queries.ts') && /\b\w+Context\b/.test(text);
    return copies || isStatement ? [name] : [];
  });
  assert.deepEqual(problems, []);
});

/** Names that only these files may use, so that there is one way to do each thing. */
const ONE_WAY: readonly { readonly names: RegExp; readonly only: RegExp; readonly does: string }[] =
  [
    {
      names: /\b(insertIntents|createBatch)\(/,
      // Recovery rebuilds intents from the chain. Offline sales create intents for what customers
      // signed.
      only: /^src\/payments\/(create-intent.*|rebuild-.*|intent-queries|offline.take-\w+)\.ts$/,
      does: 'creates intents: use createIntent',
    },
    {
      names: /\b(freesKey|meetUnderWay|requestInProgress|updateCompleted)\b/,
      only: /^src\/idempotency\//,
      does: 'says what an Idempotency-Key means: use decideKeyed or runOnce',
    },
    {
      names: /\binsertKeys\(/,
      only: /^src\/(idempotency\/|payments\/(create-intents|pay-taps)-together\.ts$)/,
      does: 'stores what a key means: use decideKeyed and what it returns, or runOnce',
    },
  ];

test('there is one way to create an intent, and one place that decides about keys', () => {
  for (const { names, only, does } of ONE_WAY) {
    const users = product.filter(({ text }) => names.test(text));
    assert.ok(users.length > 0, `no file ${does}`);
    assert.deepEqual(
      users.filter(({ name }) => !only.test(name)).map(({ name }) => `${name} ${does}`),
      [],
    );
  }
});

test('files, lines and functions stay short', () => {
  const problems: string[] = [];
  let functions = 0;
  for (const { name, text } of all) {
    const lines = text.split('\n');
    if (lines.length - 1 > LINE_LIMIT) problems.push(`${name}: ${lines.length - 1} lines`);
    lines.forEach((line, index) => {
      // A long URL or import cannot be wrapped.
      if (line.length > COLUMN_LIMIT && !/https?:\/\/|^import |^} from /.test(line)) {
        problems.push(`${name}:${index + 1}: ${line.length} columns`);
      }
    });
    for (const { line, length } of functionLengths(name, text)) {
      functions++;
      // Exempts test files, whose `describe` contains many tests, each of which is short.
      if (!name.endsWith('.test.ts') && length > FUNCTION_LIMIT)
        problems.push(`${name}:${line}: a function of ${length} lines`);
    }
  }
  assert.ok(functions >= FEWEST_FILES, `only ${functions} functions were seen`);
  assert.deepEqual(problems, []);
});

function functionLengths(name: string, text: string): { line: number; length: number }[] {
  const results: { line: number; length: number }[] = [];
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length;
  const note = (node: { start: number; end: number }) => {
    const line = lineOf(node.start);
    results.push({ line, length: lineOf(node.end) - line + 1 });
  };
  const visitor = new Visitor({
    FunctionDeclaration: note,
    FunctionExpression: note,
    ArrowFunctionExpression: note,
  });
  visitor.visit(parseSync(name, text).program);
  return results;
}

/** Durations are declared only in src/core/durations.ts. */
const DURATION = /^(?:export )?const (?:SECOND|MINUTE|HOUR|DAY)_MS =/m;

test('a second, a minute, an hour and a day are declared once', () => {
  const declaring = all.filter(({ name, text }) => name.startsWith('src/') && DURATION.test(text));
  assert.deepEqual(
    declaring.map(({ name }) => name),
    ['src/core/durations.ts'],
  );
});

/** Banned patterns in code, each with its replacement. */
const BANS: readonly { readonly pattern: RegExp; readonly instead: string }[] = [
  { pattern: /\bas any\b|: any\b|<any>/, instead: 'give it a type, or unknown' },
  { pattern: /@ts-(ignore|expect-error|nocheck)/, instead: 'mend the type' },
  { pattern: /biome-ignore|eslint-disable/, instead: 'mend the code' },
  { pattern: /\b(TODO|FIXME|XXX)\b/, instead: 'do it, or write an issue' },
  { pattern: /\b(test|it|describe)\.(only|skip)\(/, instead: 'run every test' },
  { pattern: /^\s*enum \w/m, instead: 'a union of strings' },
  {
    pattern: /AbortSignal\.any\(/,
    instead: 'a controller with a timer: data/run-within.ts says why',
  },
  { pattern: /waitForFunction\(\s*async\b/, instead: 'becomesTrue of web/testing/becomes-true.ts' },
];

const BANNED_NAMES = /(^|[-/])(utils?|helpers?|common|manager|misc)(\.test)?\.tsx?$/;

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

/** What would decode a response, in the programs: the web apps run in browsers. */
const DECODING = [
  {
    pattern: /(?<![\w.])fetch\(/,
    instead: 'outgoing/plain-fetch.ts, or nodeFetch of tapline/node-fetch',
  },
  { pattern: /new WebSocket\(/, without: /from 'ws'/, instead: "WebSocket of 'ws'" },
  { pattern: /(transport:|=) http\(/, without: /fetchFn: /, instead: 'viem’s http with fetchFn' },
];

test('no program sends a request in a way that decodes the response', () => {
  const programs = all.filter(({ name }) =>
    /^(src\/(?!docs\/assets\/)|cli\/src|x402\/src|reader\/src).*(?<!\.test)\.ts$/.test(name),
  );
  assert.ok(programs.length >= FEWEST_FILES, `only ${programs.length} files were seen`);
  const problems = programs.flatMap(({ name, text }) =>
    DECODING.flatMap(({ pattern, without, instead }) => {
      const isFound = pattern.test(text.replaceAll(/`[^`]*`/g, ''));
      return isFound && without?.test(text) !== true ? `${name}: ${instead}` : [];
    }),
  );
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

/**
 * True for an element, a list of elements, or nothing: values that React may render beside others.
 */
function isDrawn(value: Expression | null): boolean {
  if (value === null || value.type.startsWith('JSX')) return true;
  if (value.type === 'ParenthesizedExpression') return isDrawn(value.expression);
  if (value.type === 'ConditionalExpression') {
    return isDrawn(value.consequent) && isDrawn(value.alternate);
  }
  if (value.type === 'CallExpression' && value.callee.type === 'MemberExpression') {
    const { property } = value.callee;
    return property.type === 'Identifier' && property.name === 'map';
  }
  return value.type === 'Literal' && value.value === null;
}

/**
 * Returns components that may return a bare text, because `web/ui/text/jsx-runtime.ts` only handles
 * elements.
 */
function bareTexts({ name, text }: Source): string[] {
  const inside: (string | null)[] = [];
  const results: string[] = [];
  const enter = (node: { readonly id?: { readonly name: string } | null }) => {
    inside.push(node.id?.name ?? null);
  };
  const leave = () => void inside.pop();
  new Visitor({
    FunctionDeclaration: enter,
    'FunctionDeclaration:exit': leave,
    FunctionExpression: enter,
    'FunctionExpression:exit': leave,
    ArrowFunctionExpression: enter,
    'ArrowFunctionExpression:exit': leave,
    ReturnStatement({ argument }) {
      const component = inside.at(-1) ?? '';
      if (/^[A-Z]/.test(component) && !isDrawn(argument)) results.push(`${name}: ${component}`);
    },
  }).visit(parseSync(name, text).program);
  return results;
}

/**
 * Finds elements with a `key` after a spread. The JSX transform compiles them to `createElement`,
 * which our JSX runtime does not replace.
 */
function keysBehindSpreads({ name, text }: Source): string[] {
  const results: string[] = [];
  new Visitor({
    JSXOpeningElement({ attributes, start }) {
      const spread = attributes.findIndex(({ type }) => type === 'JSXSpreadAttribute');
      const key = attributes.findLastIndex(
        (one) => one.type === 'JSXAttribute' && one.name.name === 'key',
      );
      if (spread !== -1 && key > spread) results.push(`${name}: ${text.slice(start, start + 40)}`);
    },
  }).visit(parseSync(name, text).program);
  return results;
}

test('a key precedes spread props, or the web apps do not build', () => {
  const apps = all.filter(({ name }) => name.startsWith('web/') && name.endsWith('.tsx'));
  assert.ok(apps.length >= FEWEST_FILES, `only ${apps.length} files were seen`);
  assert.deepEqual(apps.flatMap(keysBehindSpreads), []);
  const wrong = { name: 'wrong.tsx', text: 'const row = <Row {...all} key="a" />;' };
  assert.equal(keysBehindSpreads(wrong).length, 1);
});

test('every text of the web apps is in an element: a browser may translate the page', () => {
  const apps = all.filter(({ name }) => name.startsWith('web/') && name.endsWith('.tsx'));
  assert.ok(apps.length >= FEWEST_FILES, `only ${apps.length} files were seen`);
  assert.deepEqual(apps.flatMap(bareTexts), [], 'return <>{text}</>');
  // Finds elements that bypass the apps' runtime, because they could contain bare texts, too.
  const past = all.filter(({ name, text }) => {
    const isApp = name.startsWith('web/') && !/\.test\.ts$|jsx-runtime\.ts$/.test(name);
    return isApp && /'react\/jsx-|(?<!document\.)createElement\('/.test(text);
  });
  assert.deepEqual(
    past.map(({ name }) => name),
    [],
  );
  const config = readFileSync(path.join(ROOT, 'web/vite.config.ts'), 'utf8');
  assert.match(config, /importSource: '#text'/);
});

test('docs/where.md names files that exist', () => {
  const text = readFileSync(path.join(ROOT, 'docs/where.md'), 'utf8');
  const files = [...text.matchAll(/^\| .* \| \[([^\]]+)\]/gm)].map(([, file]) => String(file));
  assert.ok(files.length >= 40, `only ${files.length} questions`);
  assert.deepEqual(
    files.filter((file) => !existsSync(path.join(ROOT, file))),
    [],
  );
});

test('what comments cite is in the repository: rules of docs/behavior.md by number', async () => {
  const rules = readFileSync(path.join(ROOT, 'docs/behavior.md'), 'utf8');
  const numbers = new Set([...rules.matchAll(/^(?:## )?(\d+(?:\.\d+)?)\. /gm)].map(([, n]) => n));
  const [dangling, cited]: [string[], string[]] = [[], []];
  for await (const name of glob('{src,web,test,sdk,cli,contracts,bench}/**/*.{ts,tsx,sol,md}', {
    cwd: ROOT,
    // Skips folders in `out` that forge names after its sources.
    exclude: (entry) => entry === 'node_modules' || entry === 'out',
  })) {
    const text = readFileSync(path.join(ROOT, name), 'utf8');
    if (/\b(api-v1|decisions)[.]md/.test(text)) dangling.push(name);
    for (const [, number] of text.matchAll(/behavior\.md,? (\d+(?:\.\d+)?)/g)) {
      cited.push(String(number));
      if (!numbers.has(number)) dangling.push(`${name}: ${number}`);
    }
  }
  assert.ok(cited.length >= 60, `only ${cited.length} citations were seen`);
  assert.deepEqual(dangling, []);
});

/** An advisory lock with a literal number; other locks hash a name. */
const NUMBERED_LOCK = /pg_(?:try_)?advisory_(?:xact_)?lock\((?!hashtext)/;
const LOCK_NUMBER = /\bconst (\w+_LOCK) = ([\d_]+);/g;

test('no two advisory locks share a number', () => {
  const locking = [...product, ...testkit].filter(({ text }) => NUMBERED_LOCK.test(text));
  const numbers = locking.flatMap(({ name, text }) => {
    const results = [...text.matchAll(LOCK_NUMBER)];
    assert.ok(results.length > 0, `${name}: the number of its lock is no constant of its own`);
    return results.map(([, lock, number = '']) => ({ lock, number: number.replaceAll('_', '') }));
  });
  assert.ok(numbers.length >= 4, `only ${numbers.length} numbers were seen`);
  const byNumber = Map.groupBy(numbers, ({ number }) => number);
  assert.deepEqual(
    [...byNumber.values()].filter((locks) => locks.length > 1),
    [],
  );
});

test('each migration has a number of its own and states its reason', async () => {
  const files: string[] = [];
  for await (const name of glob('migrations/*.sql', { cwd: ROOT })) files.push(name);
  assert.ok(files.length >= 8, `only ${files.length} migrations were seen`);
  const numbers = files.map((name) => path.basename(name).slice(0, 4));
  assert.equal(new Set(numbers).size, numbers.length);
  for (const name of files) {
    assert.match(readFileSync(path.join(ROOT, name), 'utf8'), /^-- \S/, `${name} opens with why`);
  }
});

test('a merged migration never changes, except in its comments', async () => {
  const migrations = await readMigrations(path.join(ROOT, 'migrations'));
  const sums = migrations.map(({ name, sum }) => `${sum}  ${name}`);
  const recorded = readFileSync(path.join(ROOT, 'migrations/SHA256SUMS'), 'utf8');
  const added = sums.filter((line) => !recorded.includes(line.slice(line.indexOf(' '))));
  assert.equal(
    recorded.trimEnd(),
    sums.join('\n'),
    'databases have applied these files: undo the change, and write a new migration. ' +
      `A new one adds its line to migrations/SHA256SUMS:\n${added.join('\n')}\n`,
  );
});

test('a released migration never changes, even with its line in SHA256SUMS', () => {
  const linesOf = (name: string) =>
    readFileSync(path.join(ROOT, name), 'utf8').trimEnd().split('\n');
  const current = new Set(linesOf('migrations/SHA256SUMS'));
  const released = linesOf('docs/released/migrations.sha256');
  assert.ok(released.length >= 20, `only ${released.length} released migrations were seen`);
  assert.deepEqual(
    released.filter((line) => !current.has(line)),
    [],
    'a release has applied these files: databases would refuse to start. Write a new migration',
  );
});
