import type { WriteStream } from 'node:tty';

/** ANSI codes from the terminal's own palette, so that the user's color scheme applies. */
const GREEN = 32;
const YELLOW = 33;
const RED = 31;
const DIM = 2;

/** Rules for coloring text. The first matching rule applies; other text stays plain. */
const RULES: readonly (readonly [number, RegExp])[] = [
  [DIM, /^\d{4}-\d\d-\d\dT[\d:.]+Z/gm],
  [
    RED,
    /(?<=\s)[45]\d\d(?=\s(?!ms)|$)|\b(?:[a-z_]+\.)?(?:payment_)?(?:failed|declined|disputed)\b/g,
  ],
  [GREEN, /(?<=\s)2\d\d(?=\s(?!ms)|$)|\b(?:[a-z_]+\.)?succeeded\b/g],
  [YELLOW, /\b(?:processing|pending|requires_[a-z_]+)\b/g],
];

function color(code: number, text: string): string {
  return `\u001b[${code}m${text}\u001b[0m`;
}

/** Adds colors to one line without changing its words. */
export function colored(words: string): string {
  return RULES.reduce((text, [code, rule]) => text.replace(rule, (it) => color(code, it)), words);
}

export function inRed(words: string): string {
  return color(RED, words);
}

/**
 * True if output is to be colored. NO_COLOR forbids it and FORCE_COLOR decides it; otherwise, the
 * output must be a terminal with colors.
 */
export function takesColors(stream: Pick<WriteStream, 'isTTY' | 'hasColors'>): boolean {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR !== undefined) return !['', '0', 'false'].includes(FORCE_COLOR);
  return stream.isTTY === true && stream.hasColors();
}
