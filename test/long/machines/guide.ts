import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

export const DOCS = path.join(import.meta.dirname, '../../../docs');

export type Steps = ReadonlyMap<number, readonly string[]>;

/** Returns the blocks of commands or settings in this text. */
function blocksOf(text: string): readonly string[] {
  return [...text.matchAll(/^```(?:sh|ini)\n([\s\S]*?)^```$/gm)].map(([, block]) => block ?? '');
}

/** Returns the command blocks below each numbered step (`**4. etcd.**`) of a guide, by number. */
export async function stepsOf(guide: string): Promise<Steps> {
  const text = await readFile(path.join(DOCS, guide), 'utf8');
  const [, ...steps] = text.split(/^(?=\*\*\d+\. )/m);
  return new Map(steps.map((step) => [Number(/^\*\*(\d+)/.exec(step)?.[1]), blocksOf(step)]));
}

/** Returns the command blocks below a heading of a guide, up to the next heading. */
export async function blocksUnder(guide: string, heading: string): Promise<readonly string[]> {
  const text = await readFile(path.join(DOCS, guide), 'utf8');
  const [, ...parts] = text.split(/^##+ /m);
  const part = parts.find((one) => one.startsWith(`${heading}\n`));
  assert(part !== undefined, `${guide} has no heading ${heading}`);
  return blocksOf(part);
}

/** Returns the nth block of a step. Fails if the guide no longer has it. */
export function blockOf(steps: Steps, step: number, nth = 0): string {
  const block = steps.get(step)?.[nth];
  assert(block !== undefined, `step ${step} has no block ${nth + 1}`);
  return block;
}

/** Returns the matching lines of a block, as commands. */
export function linesOf(block: string, pattern: RegExp): string {
  const results = block.split('\n').filter((line) => pattern.test(line));
  assert(results.length > 0, `no line of the block is like ${pattern}`);
  return results.join('\n');
}
