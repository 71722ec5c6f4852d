import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Expression, parseSync, Visitor } from 'oxc-parser';
import { digest, type Mutation } from './mutation.ts';

/** The kinds of change that the generator makes wherever it can. */
export const KINDS = ['comparison', 'where term', 'lock', 'arguments', 'await'] as const;
export type Kind = (typeof KINDS)[number];

export type Candidate = Mutation & { readonly offset: number };

const COMPARISONS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
};

interface Span {
  readonly start: number;
  readonly end: number;
}

function comparisons(file: string, text: string): Candidate[] {
  const found: Candidate[] = [];
  const visitor = new Visitor({
    BinaryExpression: (node) => {
      const to = COMPARISONS[node.operator];
      if (to === undefined) return;
      const gap = text.slice(node.left.end, node.right.start);
      const offset = node.left.end + gap.indexOf(node.operator);
      found.push({ name: 'comparison', file, from: node.operator, to, offset });
    },
  });
  visitor.visit(parseSync(file, text).program);
  return found;
}

function awaits(file: string, text: string): Candidate[] {
  const found: Candidate[] = [];
  const visitor = new Visitor({
    AwaitExpression: (node) => {
      const from = text.slice(node.start, node.argument.start);
      // The call is made, but nothing waits for it. Only for statements, whose value is not used.
      const to = from.replace('await ', 'void ');
      if (isStatement(text, node)) {
        found.push({ name: 'await', file, from, to, offset: node.start });
      }
    },
  });
  visitor.visit(parseSync(file, text).program);
  return found;
}

function isStatement(text: string, node: Span): boolean {
  const before = text.slice(text.lastIndexOf('\n', node.start) + 1, node.start);
  return before.trim() === '' && /^;/.test(text.slice(node.end));
}

function swappedArguments(file: string, text: string): Candidate[] {
  const found: Candidate[] = [];
  const visitor = new Visitor({
    CallExpression: (node) => {
      for (let i = 0; i + 1 < node.arguments.length; i++) {
        const [first, second] = [node.arguments[i], node.arguments[i + 1]];
        if (first === undefined || second === undefined) continue;
        if (!isName(first as Expression) || !isName(second as Expression)) continue;
        const gap = text.slice(first.end, second.start);
        const [a, b] = [text.slice(first.start, first.end), text.slice(second.start, second.end)];
        const from = `${a}${gap}${b}`;
        found.push({ name: 'arguments', file, from, to: `${b}${gap}${a}`, offset: first.start });
      }
    },
  });
  visitor.visit(parseSync(file, text).program);
  return found;
}

/** True for names and member paths, which are easily swapped. */
function isName(node: Expression): boolean {
  return node.type === 'Identifier' || node.type === 'MemberExpression';
}

const LOCK = / for (?:update|share|no key update)(?: of \w+)?(?: skip locked)?/g;
// One condition term, up to the next one or the end of its line or statement.
const TERM = /\n?[ ]*\band [a-z_.]+ (?:=|<|<=|>|>=|is(?: not)?) (?:any\(\$\d+[^)]*\)|[^\s)`;]+)/g;

function inSql(text: string): { readonly start: number; readonly sql: string }[] {
  return [...text.matchAll(/`[^`]*`/g)]
    .filter(([sql]) => /\b(select|update|insert|delete)\b/.test(sql))
    .map((match) => ({ start: match.index, sql: match[0] }));
}

function dropped(
  file: string,
  text: string,
  { name, pattern }: { readonly name: Kind; readonly pattern: RegExp },
): Candidate[] {
  return inSql(text).flatMap(({ start, sql }) =>
    [...sql.matchAll(pattern)].map((match) => {
      return { name, file, from: match[0], to: '', offset: start + match.index };
    }),
  );
}

/** Returns every possible mutation of the file, in order. */
export function candidates(file: string, text: string): Candidate[] {
  return [
    ...comparisons(file, text),
    ...dropped(file, text, { name: 'where term', pattern: TERM }),
    ...dropped(file, text, { name: 'lock', pattern: LOCK }),
    ...swappedArguments(file, text),
    ...awaits(file, text),
  ].sort((a, b) => a.offset - b.offset);
}

/**
 * Returns a sort key that depends only on the candidate's own place, so that a change elsewhere
 * does not change the choice.
 */
function drawn(seed: number, text: string, one: Candidate): string {
  const nth = text.slice(0, one.offset).split(one.from).length;
  return digest([seed, one.file, one.name, one.from, one.to, nth].join('\n'));
}

/** The requested mutations: the files, and a seed that chooses among them. */
export interface Choice {
  readonly root: string;
  readonly files: readonly string[];
  readonly seed: number;
  readonly count: number;
}

/** Mutations of the server. */
export function generate(choice: Choice): Mutation[] {
  return choose(choice, { kinds: KINDS, candidates });
}

/**
 * Chooses `count` mutations of these files by the seed. Takes equal numbers of each kind while
 * available, so that the many comparisons do not crowd out the few locks.
 */
export function choose(
  choice: Choice,
  language: {
    readonly kinds: readonly string[];
    readonly candidates: (file: string, text: string) => Candidate[];
  },
): Mutation[] {
  const all = choice.files.flatMap((file) => {
    const text = readFileSync(path.join(choice.root, file), 'utf8');
    return language
      .candidates(file, text)
      .map((one) => ({ one, at: drawn(choice.seed, text, one) }));
  });
  const queues = language.kinds.map((kind) =>
    all
      .filter(({ one }) => one.name === kind)
      .sort((a, b) => a.at.localeCompare(b.at))
      .map(({ one }) => one),
  );
  const chosen: Mutation[] = [];
  while (chosen.length < choice.count && queues.some((queue) => queue.length > 0)) {
    for (const queue of queues) {
      const next = queue.shift();
      if (next !== undefined && chosen.length < choice.count) chosen.push(next);
    }
  }
  return chosen;
}
