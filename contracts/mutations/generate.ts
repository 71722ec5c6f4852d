// Finds the places in Solidity code where a rule can insert a bug, as test/mutations/generate.ts
// does for TypeScript. It uses patterns instead of a parser, and the compiler rejects invalid
// results.

import { type Candidate, type Choice, choose } from '../../test/mutations/generate.ts';
import type { Mutation } from '../../test/mutations/mutation.ts';

/** The kinds of mutations. Each is applied wherever it can be. */
export const KINDS = [
  'comparison',
  'arithmetic',
  'check',
  'statement',
  'modifier',
  'number',
  'arguments',
] as const;
type Kind = (typeof KINDS)[number];

/** All source files of the Settlement contract. */
export const SOURCES: readonly string[] = [
  'BatchRange.sol',
  'Batches.sol',
  'Governance.sol',
  'Merchants.sol',
  'PackedCharges.sol',
  'PackedLedger.sol',
  'PackedOutflow.sol',
  'PackedPolicy.sol',
  'PaymentCodec.sol',
  'PaymentRules.sol',
  'PaymentTree.sol',
  'Payouts.sol',
  'Refunds.sol',
  'Settlement.sol',
  'SettlementLens.sol',
  'SpendingPolicies.sol',
  'Timelock.sol',
  'WalletChanges.sol',
];

const OPERATORS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '==': '!=',
  '!=': '==',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '<<': '>>',
  '>>': '<<',
  '+=': '-=',
  '-=': '+=',
};

interface Rule {
  readonly kind: Kind;
  /** Replaces the first group, or the whole match if there is no group. */
  readonly pattern: RegExp;
  readonly to: (from: string) => string;
}

const gone = () => '';

const RULES: readonly Rule[] = [
  { kind: 'comparison', pattern: /(?<= )(?:[<>]=?|[!=]=)(?= )/g, to: opposite },
  { kind: 'arithmetic', pattern: /(?<= )(?:<<|>>|[-+]=|[-+*/])(?= )/g, to: opposite },
  { kind: 'check', pattern: /(?<=\n *)if \([^;{}]*?\) (?:revert|return) [^;{}]*;/g, to: gone },
  { kind: 'statement', pattern: /(?<=[;{}]\n *)(?:delete |emit )[^;{}]*;/g, to: gone },
  { kind: 'statement', pattern: /(?<=[;{}]\n *)[\w.[\]()]+ (?:\|=|[-+]?=) [^;{}]*;/g, to: gone },
  { kind: 'modifier', pattern: /(?:\n *| )(?:onlyRole\(\w+\)|nonReentrant)/g, to: gone },
  { kind: 'number', pattern: /(?<=[ (])\d+(?=[ ;),])/g, to: (from) => String(Number(from) + 1) },
  { kind: 'number', pattern: /\b0x[0-9a-f]*f\b/g, to: (from) => from.replace(/f$/, '7') },
  { kind: 'arguments', pattern: /(?<=[\w}]\((?:[^()\n]*, )?)\w+, \w+(?=[,)])/g, to: swapped },
];

function opposite(operator: string): string {
  return OPERATORS[operator] ?? operator;
}

function swapped(pair: string): string {
  return pair.split(', ').reverse().join(', ');
}

/**
 * Returns the text with comments, imports and strings replaced by spaces, because no bugs are
 * inserted there. The length stays the same.
 */
function codeOf(text: string): string {
  const blank = (part: string) => part.replace(/[^\n]/g, ' ');
  return text
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, blank)
    .replace(/^(?:import|using|error|event|pragma)\b[^;]*;/gm, blank)
    .replace(/^ +(?:using|error|event)\b[^;]*;/gm, blank)
    .replace(/"[^"\n]*"/g, blank)
    .replace(/\bfunction \w+\([^)]*\)|\breturns \([^)]*\)/g, blank);
}

/** Returns all mutations that the generator can make in a file, in the file's order. */
export function candidates(file: string, text: string): Candidate[] {
  const code = codeOf(text);
  return RULES.flatMap(({ kind, pattern, to }) =>
    [...code.matchAll(pattern)].map(({ 0: from, index: offset }) => {
      return { name: kind, file, from, to: to(from), offset };
    }),
  )
    .filter(({ from, to }) => from !== to)
    .sort((a, b) => a.offset - b.offset);
}

/** Chooses `count` mutations by the seed, equally many of each kind. */
export function generate(choice: Omit<Choice, 'files'>): Mutation[] {
  return choose({ ...choice, files: SOURCES }, { kinds: KINDS, candidates });
}
