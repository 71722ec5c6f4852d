import type { ReceiptLine, Slip } from '#apis/pay/receipt-slip.ts';
import type { Writer } from '#i18n/text.ts';

/** Characters per line on paper of 58 mm and of 80 mm. */
export const TEXT_WIDTHS = [32, 48] as const;
export type TextWidth = (typeof TEXT_WIDTHS)[number];

/**
 * Control characters, which a printer could execute (merchants choose the names), and zero-width
 * characters. Without zero-width joiners, each emoji has a known width.
 */
const NOT_PRINTED =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Emoji_Modifier}]/gu;
/**
 * Characters that take two cells: East Asian Width W or F (Unicode 16). `escpos.ts` has the same
 * table.
 */
const WIDE: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x3247],
  [0x3250, 0xa4c6],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6b],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18df2],
  [0x1aff0, 0x1b2fb],
  [0x1d300, 0x1d376],
  [0x1f200, 0x1f265],
  [0x20000, 0x3fffd],
];
/** Emoji also take two cells. Symbols below U+2600, such as ™ and arrows, take one. */
const PICTURE = /\p{Emoji_Presentation}|(?=[\u2600-\u{1faff}])\p{Extended_Pictographic}/u;
/** Combining marks, which take no cell. */
const COMBINING = /[\p{Mn}\p{Me}]/u;

/** Splits text into graphemes: each is a letter with all its marks. */
const LETTERS = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Printers lack `…`, so three periods replace it. */
function printable(text: string): string {
  const composed = text.normalize('NFC').replaceAll('…', '...');
  return composed.replaceAll(/\s+/g, ' ').replaceAll(NOT_PRINTED, '').trim();
}

function isWide(letter: string): boolean {
  const code = letter.codePointAt(0) ?? 0;
  return PICTURE.test(letter) || WIDE.some(([first, last]) => first <= code && code <= last);
}

export function cellsOf(text: string): number {
  let cells = 0;
  for (const letter of text) cells += COMBINING.test(letter) ? 0 : isWide(letter) ? 2 : 1;
  return cells;
}

type Measure = (text: string) => number;

/** Splits a word that is too long for a line. */
function piecesOf(word: string, width: number, measure: Measure): string[] {
  if (measure(word) <= width) return [word];
  const pieces = [''];
  for (const { segment: letter } of LETTERS.segment(word)) {
    const last = pieces.at(-1) ?? '';
    if (measure(last + letter) > width) pieces.push(letter);
    else pieces[pieces.length - 1] = last + letter;
  }
  return pieces;
}

/**
 * Wraps text into lines of at most `width`, which `measure` counts in printed cells or in points.
 */
export function wrapLines(text: string, width: number, measure: Measure): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    for (const piece of piecesOf(word, width, measure)) {
      const last = lines.at(-1);
      const joined = last === undefined ? piece : `${last} ${piece}`;
      if (last !== undefined && measure(joined) <= width) lines[lines.length - 1] = joined;
      else lines.push(piece);
    }
  }
  return lines;
}

function wrapped(text: string, width: number): string[] {
  return wrapLines(printable(text), width, cellsOf);
}

function centered(text: string, width: number): string[] {
  return wrapped(text, width).map((line) => {
    const before = Math.floor((width - cellsOf(line)) / 2);
    return ' '.repeat(before) + line;
  });
}

/**
 * Puts the name on the left and the value on the right. If they do not fit on one line, puts the
 * value below the name.
 */
function spread({ name, value, also }: ReceiptLine, width: number): string[] {
  const right = (text: string) =>
    wrapped(text, width).map((line) => ' '.repeat(width - cellsOf(line)) + line);
  const [left, beside] = [printable(name), printable(value)];
  const gap = width - cellsOf(left) - cellsOf(beside);
  const first =
    gap >= 1 ? [left + ' '.repeat(gap) + beside] : [...wrapped(name, width), ...right(value)];
  return also === undefined ? first : [...first, ...right(also)];
}

function ruledBlock(lines: readonly ReceiptLine[], width: number): string[] {
  if (lines.length === 0) return [];
  return ['-'.repeat(width), ...lines.flatMap((line) => spread(line, width))];
}

/** A paper that is not a receipt: centered lines, blocks of lines, and text at the end. */
export interface Paper {
  readonly head: readonly string[];
  readonly blocks: readonly (readonly ReceiptLine[])[];
  readonly end: readonly string[];
}

/** Renders a paper as lines of at most `width` cells. */
export function paperText({ head, blocks, end }: Paper, width: TextWidth): string {
  const lines = [
    ...head.flatMap((line) => centered(line, width)),
    ...blocks.flatMap((block) => ruledBlock(block, width)),
    '-'.repeat(width),
    ...end.flatMap((line) => wrapped(line, width)),
  ];
  return `${lines.join('\n')}\n`;
}

/**
 * Renders the receipt as lines of at most `width` cells, for printers that print only plain text.
 */
export function receiptText(slip: Slip, url: string, width: TextWidth): string {
  const rule = '-'.repeat(width);
  const all = (lines: readonly ReceiptLine[]) => lines.flatMap((line) => spread(line, width));
  const block = (lines: readonly ReceiptLine[]) => ruledBlock(lines, width);
  const lines = [
    ...[slip.merchantName, ...slip.seller, slip.kind].flatMap((line) => centered(line, width)),
    ...centered(slip.headline, width),
    ...(slip.state === null ? [] : centered(slip.state, width)),
    ...(slip.livemode ? [] : wrapped(slip.writer.text('receipt.test_mode'), width)),
    ...block(slip.items),
    ...(slip.amounts[0]?.isTotal === true ? [] : [rule]),
    ...slip.amounts.flatMap((line) => (line.isTotal === true ? [rule] : []).concat(all([line]))),
    ...block(slip.taxes),
    ...block(slip.facts),
    ...block(slip.fiscal),
    ...block(slip.chain.filter(({ isPrinted }) => isPrinted === true)),
    ...wrapped(url, width),
  ];
  return `${lines.join('\n')}\n`;
}

/** Returns the text for a receipt that does not exist. */
export function noReceiptText(width: TextWidth, { text }: Writer): string {
  return `${wrapped(text('receipt.missing.short'), width).join('\n')}\n`;
}
