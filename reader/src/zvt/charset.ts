import { baseLetter } from '../printing/escpos.ts';

/**
 * The character sets of ZVT: code page 437 unless the register names UTF-8 (tag 14, value FE).
 */
export type Charset = 'cp437' | 'utf8';

/** The value of tag 14 for UTF-8. */
export const UTF8_TAG_VALUE = 0xfe;

const UPPER =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐' +
  '└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0';

/** Replacements for characters that the code page lacks. */
const PLAIN: Readonly<Record<string, string>> = {
  ...{ '€': 'EUR', '–': '-', '—': '-', '−': '-', '×': 'x', '…': '...' },
  ...{ '‘': "'", '’': "'", '“': '"', '”': '"', '\u202f': ' ', ẞ: 'SS' },
};

const CODES: ReadonlyMap<string, number> = new Map(
  [...UPPER].map((letter, index) => [letter, 0x80 + index]),
);

/** True if the set has every letter of the text, or a letter with another mark for it. */
export function fitsCharset(text: string, charset: Charset): boolean {
  if (charset === 'utf8') return true;
  return [...text.normalize('NFC')].every((letter) => letter === '\n' || plainOf(letter) !== '?');
}

/** Returns the letters of code page 437 for a letter; `?` if there are none. */
function plainOf(letter: string): string {
  const isPlain = (one: string) => (one >= ' ' && one < '\u007f') || CODES.has(one);
  const found = [letter, PLAIN[letter] ?? letter, baseLetter(letter)].find((text) => {
    return text !== '' && [...text].every(isPlain);
  });
  return found ?? '?';
}

/** Takes blanks from a line's widest gap, so that `EUR` for `€` makes no line too wide. */
function narrowed(line: string, width: number): string {
  const gaps = [...line.matchAll(/ {2,}/g)].sort((one, other) => other[0].length - one[0].length);
  const [gap] = gaps;
  if (gap === undefined || line.length <= width) return line;
  const left = Math.max(1, gap[0].length - (line.length - width));
  return line.slice(0, gap.index) + ' '.repeat(left) + line.slice(gap.index + gap[0].length);
}

/** Encodes a line. Control characters and letters that the set lacks become question marks. */
export function encodeText(text: string, charset: Charset): Uint8Array {
  if (charset === 'utf8') return Buffer.from(text.replaceAll(/\p{Cc}/gu, '?'), 'utf8');
  const letters = [...text.normalize('NFC')];
  const line = narrowed(letters.map(plainOf).join(''), letters.length);
  return Uint8Array.from([...line], (letter) => CODES.get(letter) ?? letter.codePointAt(0) ?? 0);
}
