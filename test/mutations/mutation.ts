import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';

/** One bug in one file of the copied tree. */
export interface Mutation {
  /** The consequence of the bug, or the kind of a generated change. */
  readonly name: string;
  /** Relative to the root, for example src/payments/apply-settlements.ts. */
  readonly file: string;
  /** The replaced text. In manual mutations it occurs exactly once in the file. */
  readonly from: string;
  readonly to: string;
  /** The test file that must detect it. The file's other tests run after it. */
  readonly by?: string;
  /** Position of `from` in generated mutations, because the text may occur more than once. */
  readonly offset?: number;
}

export type Verdict = 'caught' | 'caught by types' | 'survived' | 'equivalent';

export interface Result {
  readonly id: string;
  readonly origin: 'hand' | 'generated';
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly from: string;
  readonly to: string;
  readonly verdict: Verdict;
  /** The test that failed, or the proof that none can. */
  readonly by: string;
  readonly seconds: number;
  /**
   * Hash of the mutated file; for the server's files, computed without comments. If it changes, the
   * mutation is judged again.
   */
  readonly fileHash: string;
}

export function readResults(file: string): Map<string, Result> {
  const results = JSON.parse(readFileSync(file, 'utf8')) as Result[];
  return new Map(results.map((result) => [result.id, result]));
}

export function writeResults(file: string, results: readonly Result[]): void {
  const lines = results.map((result) => JSON.stringify(result));
  writeFileSync(file, `[\n${lines.join(',\n')}\n]\n`);
}

/** @throws if its place is missing or ambiguous. */
export function mutate(source: string, mutation: Mutation): string {
  const { from, to, name, file } = mutation;
  if (mutation.offset === undefined) {
    const places = source.split(from).length - 1;
    if (places !== 1) throw new Error(`${file}: "${name}" needs its text once, found ${places}`);
    return source.replace(from, () => to);
  }
  const end = mutation.offset + from.length;
  if (source.slice(mutation.offset, end) !== from) throw new Error(`${file}: "${name}" has moved`);
  return source.slice(0, mutation.offset) + to + source.slice(end);
}

/** Returns the line of the mutation, counted from one. */
export function lineOf(source: string, mutation: Mutation): number {
  const offset = mutation.offset ?? source.indexOf(mutation.from);
  return source.slice(0, offset).split('\n').length;
}

/** Returns an id that stays the same while the file does, so that earlier results can be found. */
export function mutationId(mutation: Mutation, fileHash: string): string {
  const text = [mutation.file, mutation.offset ?? '', mutation.from, mutation.to, fileHash];
  return digest(text.join('\n'));
}

/** Returns the source up to `end`, without comments and with collapsed white space. */
export function codeOf(source: string, end = source.length): string {
  const comments = parseSync('source.ts', source).comments.filter((one) => one.end <= end);
  const starts = [0, ...comments.map((comment) => comment.end)];
  const ends = [...comments.map((comment) => comment.start), end];
  const parts = starts.map((start, i) => source.slice(start, ends[i]));
  return parts.join(' ').replaceAll(/\s+/g, ' ');
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
