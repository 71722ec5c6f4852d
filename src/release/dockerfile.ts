import { cp, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { git } from '#release/git.ts';

/**
 * Parses `deploy/container/Dockerfile` into stages, and its ignore file into a filter of the files
 * that a build can read.
 */

interface Instruction {
  readonly name: string;
  readonly words: string;
}

export interface Stage {
  /** The stage's name; empty for the last stage, which is the image. */
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

/** Joins lines that end with a backslash, and drops comments between them. */
function instructionsOf(text: string): Instruction[] {
  const lines = text.split('\n').filter((line) => !/^\s*(#|$)/.test(line));
  const whole = lines.join('\n').replaceAll(/\s*\\\n\s*/g, ' ');
  return whole.split('\n').map((line) => {
    const [, name = '', words = ''] = /^(\w+) (.*)$/.exec(line) ?? [];
    return { name, words };
  });
}

/** Returns the stages in order, without `ARG`s that precede the first one. */
export function stagesOf(text: string): readonly Stage[] {
  const stages: { name: string; instructions: Instruction[] }[] = [];
  for (const instruction of instructionsOf(text)) {
    const [, name = ''] = / AS (\w+)$/.exec(instruction.words) ?? [];
    if (instruction.name === 'FROM') stages.push({ name, instructions: [] });
    else stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
}

function patternOf(glob: string): RegExp {
  const text = glob.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll(/\*\*\/?|\*/g, (stars) => {
    if (stars === '*') return '[^/]*';
    return stars.endsWith('/') ? '(?:.*/)?' : '.*';
  });
  // A rule that names a folder applies to everything in it.
  return new RegExp(`^${text}(?:/|$)`);
}

/**
 * Returns a predicate for the files that `.dockerignore` lets the build read. The last matching
 * rule wins.
 */
export function contextFilter(ignore: string): (file: string) => boolean {
  const rules = ignore
    .split('\n')
    .filter((line) => !/^(#|\s*$)/.test(line))
    .map((line) => ({ isKept: line.startsWith('!'), pattern: patternOf(line.replace('!', '')) }));
  return (file) => rules.findLast(({ pattern }) => pattern.test(file))?.isKept ?? true;
}

/** Copies the files that the build may read. */
export async function makeContext(folder: string, to: string): Promise<void> {
  const isSeen = contextFilter(await readFile(path.join(folder, '.dockerignore'), 'utf8'));
  const listed = await git(folder, ['ls-files', '-z']);
  for (const file of listed.split('\0').filter((name) => name !== '' && isSeen(name))) {
    await mkdir(path.dirname(path.join(to, file)), { recursive: true });
    await cp(path.join(folder, file), path.join(to, file));
  }
}
