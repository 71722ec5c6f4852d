import { baseLetter, cellsOf } from '../printing/escpos.ts';

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

/** Latin letters for Greek and Cyrillic ones, as on passports and road signs. */
const LATIN: ReadonlyMap<string, string> = new Map(
  (
    'α:a β:v γ:g δ:d ε:e ζ:z η:i θ:th ι:i κ:k λ:l μ:m ν:n ξ:x ο:o π:p ρ:r σ:s ς:s τ:t υ:y φ:f ' +
    'χ:ch ψ:ps ω:o а:a б:b в:v г:g д:d е:e ж:zh з:z и:i к:k л:l м:m н:n о:o п:p р:r с:s т:t у:u ' +
    'ф:f х:kh ц:ts ч:ch ш:sh щ:shch ъ: ы:y ь: э:e ю:yu я:ya є:ie і:i ґ:g ' +
    'ђ:dj ј:j љ:lj њ:nj ћ:c џ:dz'
  )
    .split(' ')
    .map((pair) => pair.split(':') as [string, string]),
);

/** True if the set has the letters of the text, with other marks or in Latin if need be. */
export function fitsCharset(text: string, charset: Charset): boolean {
  if (charset === 'utf8') return true;
  return [...spelled(text)].every((letter) => letter === '\n' || plainOf(letter) !== null);
}

/** Returns the letters of code page 437 for a letter; `null` if there are none. */
function plainOf(letter: string): string | null {
  const isPlain = (one: string) => (one >= ' ' && one < '\u007f') || CODES.has(one);
  const encodable = [letter, PLAIN[letter] ?? letter, baseLetter(letter)].find((text) => {
    return text !== '' && [...text].every(isPlain);
  });
  return encodable ?? null;
}

/** Spells Greek and Cyrillic words in Latin letters. The code page has a few Greek letters only. */
function spelled(text: string): string {
  return text.normalize('NFC').replaceAll(/[\p{sc=Grek}\p{sc=Cyrl}]+/gu, (word) => {
    if ([...word].every((letter) => CODES.has(letter))) return word;
    const letters = [...baseLetter(word)].map((letter) => {
      const latin = LATIN.get(letter.toLowerCase()) ?? letter;
      return letter === letter.toLowerCase()
        ? latin
        : latin.charAt(0).toUpperCase() + latin.slice(1);
    });
    return letters.join('').replaceAll(/oy/g, 'ou');
  });
}

/**
 * Returns the letters that the register prints for one of a line. Letters of other scripts become
 * blanks of the same width, so that the sums stay in their column.
 */
function printed(letter: string): string {
  const isUnclear = /[\p{Cc}\p{Sc}]/u.test(letter);
  return plainOf(letter) ?? (isUnclear ? '?' : ' '.repeat(cellsOf(letter)));
}

/** Takes blanks from a line's widest gap, so that `EUR` for `€` makes no line too wide. */
function narrowed(line: string, width: number): string {
  const gaps = [...line.matchAll(/ {2,}/g)].sort((one, other) => other[0].length - one[0].length);
  const [gap] = gaps;
  if (gap === undefined || line.length <= width) return line;
  const left = Math.max(1, gap[0].length - (line.length - width));
  return line.slice(0, gap.index) + ' '.repeat(left) + line.slice(gap.index + gap[0].length);
}

/**
 * Encodes a line, no wider than it was. Control characters and currency signs that the set lacks
 * become question marks.
 */
export function encodeText(text: string, charset: Charset): Uint8Array {
  if (charset === 'utf8') return Buffer.from(text.replaceAll(/\p{Cc}/gu, '?'), 'utf8');
  const line = narrowed([...spelled(text)].map(printed).join(''), cellsOf(text.normalize('NFC')));
  return Uint8Array.from([...line], (letter) => CODES.get(letter) ?? letter.codePointAt(0) ?? 0);
}
