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
const UNKNOWN = 0x3f;

const CODES: ReadonlyMap<string, number> = new Map(
  [...UPPER].map((letter, index) => [letter, 0x80 + index]),
);

function codesOf(letter: string): readonly number[] {
  const code = letter.codePointAt(0) ?? UNKNOWN;
  if (code >= 0x20 && code < 0x7f) return [code];
  const upper = CODES.get(letter);
  if (upper !== undefined) return [upper];
  const plain = PLAIN[letter];
  return plain === undefined ? [UNKNOWN] : [...plain].flatMap((one) => codesOf(one));
}

/** Encodes a line. Control characters and letters that the set lacks become question marks. */
export function encodeText(text: string, charset: Charset): Uint8Array {
  if (charset === 'utf8') return Buffer.from(text.replaceAll(/\p{Cc}/gu, '?'), 'utf8');
  return Uint8Array.from([...text.normalize('NFC')].flatMap((letter) => codesOf(letter)));
}
