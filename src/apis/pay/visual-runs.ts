import bidiFactory from 'bidi-js';
import { drawnLetter, LETTERS } from '#apis/pay/receipt-fonts.ts';

/** `auto`: the direction of the first letter that has one. */
export type Direction = 'ltr' | 'rtl' | 'auto';

/** The package's types describe an ES module, but its code is CommonJS. */
interface Bidi {
  getEmbeddingLevels(text: string, direction: Direction): { readonly levels: Uint8Array };
  getMirroredCharactersMap(text: string, levels: Uint8Array): ReadonlyMap<number, string>;
}

const bidi = (bidiFactory as unknown as () => Bidi)();

/** A part of a line that has one font and one direction. */
export interface VisualRun {
  readonly text: string;
  readonly name: string;
  readonly level: number;
  /** The text that programs read, if it differs from the text that is drawn. */
  readonly copied: string | null;
}

/** Text without letters. Font shaping does not reverse it within right-to-left text. */
const NO_SCRIPT = /^[^\p{L}]+$/u;

/**
 * Returns a line's runs in the order from left to right (Unicode Bidirectional Algorithm, rule L2).
 */
export function visualRuns(text: string, direction: Direction): VisualRun[] {
  const { levels } = bidi.getEmbeddingLevels(text, direction);
  const mirrored = bidi.getMirroredCharactersMap(text, levels);
  const runs: VisualRun[] = [];
  let font: NonNullable<ReturnType<typeof drawnLetter>>['font'] | undefined;
  for (const { segment, index } of LETTERS.segment(text)) {
    const letter = drawnLetter(mirrored.get(index) ?? segment, font);
    if (letter === null || letter.text === '') continue;
    font = letter.font;
    const level = levels[index] ?? 0;
    const copied = letter.text === segment ? null : segment;
    const last = runs.at(-1);
    const isSame = last?.name === font.name && last.level === level && last.copied === copied;
    if (isSame && copied === null) {
      runs[runs.length - 1] = { ...last, text: last.text + letter.text };
    } else {
      runs.push({ text: letter.text, name: font.name, level, copied });
    }
  }
  const highest = Math.max(0, ...runs.map(({ level }) => level));
  for (let level = highest; level > 0; level--) reverseFrom(runs, level);
  return runs.map((run) =>
    run.level % 2 === 1 && NO_SCRIPT.test(run.text) ? { ...run, text: reversed(run.text) } : run,
  );
}

/** Characters that show a program in which direction a text runs. */
const HAS_DIRECTION = /[\p{L}\p{Nd}]/u;
const MARKS = ['\u200e', '\u200f'] as const;

/**
 * Adds invisible marks to the text that programs read of a character at the edge of a part with
 * one direction, such as the percent sign in `13%`. Programs otherwise count it to the part beside.
 */
export function withMarks(runs: readonly VisualRun[]): VisualRun[] {
  const side = ({ level }: VisualRun) => level % 2;
  return runs.flatMap((run, at) => {
    const [before, after] = [runs[at - 1], runs[at + 1]];
    const isFirst = before === undefined || side(before) !== side(run);
    const isLast = after === undefined || side(after) !== side(run);
    const letters = Array.from(LETTERS.segment(run.text), ({ segment }) => segment);
    if (run.copied !== null || NO_SCRIPT.test(run.text) || letters.length < 2) {
      return [marked(run, isFirst || isLast)];
    }
    // In a run with letters of a right-to-left script, the last letter is on the left.
    const [start, end] = side(run) === 0 ? [isFirst, isLast] : [isLast, isFirst];
    const firstAt = start && !HAS_DIRECTION.test(letters[0] ?? '') ? 1 : 0;
    const lastAt = letters.length - (end && !HAS_DIRECTION.test(letters.at(-1) ?? '') ? 1 : 0);
    const part = (from: number, to: number) => ({ ...run, text: letters.slice(from, to).join('') });
    const parts = [part(0, firstAt), part(firstAt, lastAt), part(lastAt, letters.length)];
    const shown = side(run) === 0 ? parts : parts.reverse();
    return shown.filter(({ text }) => text !== '').map((one) => marked(one, true));
  });
}

function marked(run: VisualRun, isEdge: boolean): VisualRun {
  const text = run.copied ?? run.text;
  if (!isEdge || HAS_DIRECTION.test(text)) return run;
  const mark = MARKS[run.level % 2];
  return { ...run, copied: `${mark}${text}${mark}` };
}

function reversed(text: string): string {
  return Array.from(LETTERS.segment(text), ({ segment }) => segment)
    .reverse()
    .join('');
}

/** Reverses the order of runs in each sequence whose levels are `level` or higher. */
function reverseFrom(runs: VisualRun[], level: number): void {
  let start = 0;
  while (start < runs.length) {
    if ((runs[start]?.level ?? 0) < level) {
      start++;
      continue;
    }
    let end = start;
    while (end < runs.length && (runs[end]?.level ?? 0) >= level) end++;
    runs.splice(start, end - start, ...runs.slice(start, end).reverse());
    start = end;
  }
}
