import { type ReceiptLine, type Slip, TEST_MODE } from '#apis/pay/receipt-lines.ts';
import { headlineUsdc } from '#core/money.ts';

/** Characters on a line of a roll of 58 mm, and of one of 80 mm. */
export const TEXT_WIDTHS = [32, 48] as const;
export type TextWidth = (typeof TEXT_WIDTHS)[number];

/** What of the chain's facts is worth its paper: the rest is behind the address. */
const ON_PAPER: readonly string[] = ['Chain', 'Transaction'];

/** A printer takes these for commands, and a name is written by a merchant. */
const NOT_PRINTED = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu;
/** Printers give these two columns. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/u;
const COMBINING = /\p{M}/u;

function printable(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(NOT_PRINTED, '').trim();
}

function columnsOf(text: string): number {
  let columns = 0;
  for (const letter of text) columns += WIDE.test(letter) ? 2 : COMBINING.test(letter) ? 0 : 1;
  return columns;
}

/** Cuts a word that has no line of its own to fit on. */
function piecesOf(word: string, width: number): string[] {
  const pieces = [''];
  for (const letter of word) {
    const last = pieces.at(-1) ?? '';
    if (columnsOf(last + letter) > width) pieces.push(letter);
    else pieces[pieces.length - 1] = last + letter;
  }
  return pieces;
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of printable(text).split(' ')) {
    for (const piece of piecesOf(word, width)) {
      const last = lines.at(-1);
      const joined = last === undefined ? piece : `${last} ${piece}`;
      if (last !== undefined && columnsOf(joined) <= width) lines[lines.length - 1] = joined;
      else lines.push(piece);
    }
  }
  return lines;
}

function centred(text: string, width: number): string[] {
  return wrapped(text, width).map((line) => {
    const before = Math.floor((width - columnsOf(line)) / 2);
    return ' '.repeat(before) + line;
  });
}

/** The name at the left, the value at the right; the value below it where both are long. */
function spread({ name, value, also }: ReceiptLine, width: number): string[] {
  const right = (text: string) => ' '.repeat(Math.max(0, width - columnsOf(text))) + text;
  const gap = width - columnsOf(name) - columnsOf(printable(value));
  const first =
    gap >= 1
      ? [name + ' '.repeat(gap) + printable(value)]
      : [name, ...wrapped(value, width).map(right)];
  return also === undefined ? first : [...first, right(printable(also))];
}

/** A receipt as lines of at most `width` columns, for a printer that knows nothing else. */
export function receiptText(slip: Slip, url: string, width: TextWidth): string {
  const rule = '-'.repeat(width);
  const all = (lines: readonly ReceiptLine[]) => lines.flatMap((line) => spread(line, width));
  const lines = [
    ...centred(slip.merchantName, width),
    ...centred(slip.kind, width),
    ...centred(`${headlineUsdc(BigInt(slip.headline))} USDC`, width),
    ...(slip.livemode ? [] : wrapped(TEST_MODE, width)),
    rule,
    ...slip.amounts.flatMap((line) => (line.isTotal === true ? [rule] : []).concat(all([line]))),
    rule,
    ...all(slip.facts),
    rule,
    ...all(slip.chain.filter(({ name }) => ON_PAPER.includes(name))),
    ...wrapped(url, width),
  ];
  return `${lines.join('\n')}\n`;
}

/** The words of a receipt that does not exist. */
export const NO_RECEIPT_TEXT = 'No such receipt. Is the address complete?\n';
