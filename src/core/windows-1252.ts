/**
 * Encodes text as Windows-1252, which programs on a German Windows expect in files without a byte
 * order mark.
 */

const decoder = new TextDecoder('windows-1252');
const BYTES = new Map(
  Array.from({ length: 256 }, (_, byte) => [decoder.decode(Uint8Array.of(byte)), byte]),
);
const QUESTION_MARK = 0x3f;
const LETTER = /[\p{L}\p{N}]/u;

function byteOf(character: string): number {
  const known = BYTES.get(character);
  if (known !== undefined) return known;
  // If the code page has the letter only without its mark, drop the mark. Any other character
  // becomes a question mark, because a full-width quotation mark must not end a quoted text.
  const letter = character.normalize('NFKD').slice(0, 1);
  return (LETTER.test(letter) ? BYTES.get(letter) : undefined) ?? QUESTION_MARK;
}

/** Matches characters with other bytes than in Latin-1, which Node encodes much faster. */
const NOT_LATIN = /[^\n\r\t\u0020-\u007e\u00a0-\u00ff]/gu;

export function encodeWindows1252(text: string): Buffer {
  const bytes = text
    .normalize('NFC')
    .replaceAll(NOT_LATIN, (character) => String.fromCharCode(byteOf(character)));
  return Buffer.from(bytes, 'latin1');
}
