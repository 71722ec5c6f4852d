import type { WriteStream } from 'node:tty';

/** Codes of the terminal's own palette, so that its owner's choice of colours holds. */
const GREEN = 32;
const YELLOW = 33;
const RED = 31;
const DIM = 2;

/** The first that fits a piece of text colours it. What has no rule stays as it is. */
const RULES: readonly (readonly [number, RegExp])[] = [
  [DIM, /^\d{4}-\d\d-\d\dT[\d:.]+Z/gm],
  [
    RED,
    /(?<=\s)[45]\d\d(?=\s(?!ms)|$)|\b(?:[a-z_]+\.)?(?:payment_)?(?:failed|declined|disputed)\b/g,
  ],
  [GREEN, /(?<=\s)2\d\d(?=\s(?!ms)|$)|\b(?:[a-z_]+\.)?succeeded\b/g],
  [YELLOW, /\b(?:processing|pending|requires_[a-z_]+)\b/g],
];

function colour(code: number, text: string): string {
  return `\u001b[${code}m${text}\u001b[0m`;
}

/** Colours the words of one line. The words stay the same: who sees no colours misses nothing. */
export function coloured(words: string): string {
  return RULES.reduce((text, [code, rule]) => text.replace(rule, (it) => colour(code, it)), words);
}

export function inRed(words: string): string {
  return colour(RED, words);
}

/** Only when a person looks: not in pipes and files, nor where NO_COLOR or TERM=dumb says no. */
export function takesColours(stream: Pick<WriteStream, 'isTTY' | 'hasColors'>): boolean {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR !== undefined) return !['', '0', 'false'].includes(FORCE_COLOR);
  return stream.isTTY === true && stream.hasColors();
}
