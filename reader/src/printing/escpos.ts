/**
 * ESC/POS, the command language of receipt printers. Runs in the till's page and in Node. It uses
 * only what printers of all brands support: text, a QR code, a cut, and the drawer pulse.
 */
/** A line of text as a bitmap. */
export interface Raster {
  readonly bytesPerRow: number;
  readonly rows: number;
  /** Row by row. The highest bit of a byte is its leftmost dot; 1 is black. */
  readonly dots: Uint8Array;
}

export interface Ticket {
  /** Lines laid out for the paper: 48 characters on 80 mm, 32 on 58 mm. */
  readonly text: string;
  /** URL printed as a QR code below the text, or `null`. */
  readonly address: string | null;
  /**
   * Draws a line whose script the code page lacks. If absent, such letters print as question marks.
   */
  readonly draw?: (line: string) => Raster;
}

const ESC = 0x1b;
const GS = 0x1d;
const FS = 0x1c;
/**
 * Resets the printer, then ends Kanji mode, which cheap printers start in: there, `é` and the next
 * letter would print as one Chinese character.
 */
const RESET = [ESC, 0x40, FS, 0x2e];
/** Selects the printer's character table 19 (code page 858). */
const WESTERN = [ESC, 0x74, 19];
const CENTRED = [ESC, 0x61, 1];
const LEFT = [ESC, 0x61, 0];
/** Feeds three lines, so that the text is past the knife, then cuts partially. */
const CUT = [ESC, 0x64, 3, GS, 0x56, 1];
/** Opens the drawer at connector 1: 50 ms on, 500 ms off. */
const PULSE = [ESC, 0x70, 0, 25, 250];
const NEW_LINE = 0x0a;
const UNKNOWN = 0x3f;
/** Code pages have soft hyphens, but on paper they are visible only at the end of a line. */
const SOFT_HYPHEN = '\u00ad';
/** Maximum number of characters in the QR code. A receipt URL has about 60. */
const LONGEST_ADDRESS = 300;
const DOT_SIZE = 6;
const CORRECTION_M = 49;

/** Code page 858 from 0x80 on: Western European characters and the euro sign. */
const CODE_PAGE =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐' +
  '└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈ€ÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0';
/**
 * Replacements for characters that the code page lacks. Each has the same width, because lines are
 * already laid out.
 */
const PLAIN: Readonly<Record<string, string>> = {
  '–': '-',
  '—': '-',
  '−': '-',
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '…': '.',
  '\u202f': ' ',
};

/** Ranges of characters that are two cells wide: East Asian Width W or F (Unicode 16). */
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
/**
 * Matches pictographs, which also take two cells. Below U+2600 are one-cell symbols such as ™ and
 * arrows.
 */
const PICTURE = /\p{Emoji_Presentation}|(?=[\u2600-\u{1faff}])\p{Extended_Pictographic}/u;
/** Matches combining marks and non-printing characters, which take no cell. */
const NO_CELL =
  /[\p{Mn}\p{Me}\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Emoji_Modifier}]/u;

const MARK = /\p{M}/u;

/** Returns the bytes that print the whole ticket and cut the paper. */
export function ticketBytes({ text, address, draw }: Ticket): Uint8Array<ArrayBuffer> {
  const code = address === null ? [] : [...CENTRED, ...qrBytes(address), NEW_LINE, ...LEFT];
  const lines = text.normalize('NFC').split('\n');
  const bytes = lines.flatMap((line, at) => {
    if (draw !== undefined && !isInCodePage(line)) return rasterBytes(draw(line));
    return at === lines.length - 1 ? textBytes(line) : [...textBytes(line), NEW_LINE];
  });
  return Uint8Array.from([...RESET, ...WESTERN, ...bytes, NEW_LINE, ...code, ...CUT]);
}

/** Returns the command for an image (`GS v 0`); printing continues below it. */
function rasterBytes({ bytesPerRow, rows, dots }: Raster): number[] {
  const size = [bytesPerRow & 0xff, bytesPerRow >> 8, rows & 0xff, rows >> 8];
  return [GS, 0x76, 0x30, 0, ...size, ...dots];
}

/** True if each character has a byte or is not printed. Combining marks have no byte. */
export function isInCodePage(text: string): boolean {
  return [...text.normalize('NFC')].every((character) => {
    const shown = PLAIN[character] ?? character;
    const code = shown.codePointAt(0) ?? UNKNOWN;
    if (code < 0x80 || CODE_PAGE.includes(shown)) return true;
    return NO_CELL.test(shown) && !MARK.test(shown);
  });
}

/** Returns the number of cells that a text takes on paper. */
export function cellsOf(text: string): number {
  return [...text].reduce((sum, letter) => {
    if (NO_CELL.test(letter)) return sum;
    return sum + (isWide(letter) ? 2 : 1);
  }, 0);
}

/** Returns the bytes that open the drawer connected to the printer. */
export function drawerBytes(): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([...RESET, ...PULSE]);
}

/**
 * Encodes text without control characters, because users choose names, which must not reach the
 * printer as commands.
 */
function textBytes(line: string): number[] {
  return [...line].flatMap((character) => bytesOf(PLAIN[character] ?? character));
}

function isWide(letter: string): boolean {
  const code = letter.codePointAt(0) ?? 0;
  return PICTURE.test(letter) || WIDE.some(([first, last]) => first <= code && code <= last);
}

/** Returns as many bytes as the character has cells, so that the line keeps its width. */
function bytesOf(character: string): number[] {
  const code = character.codePointAt(0) ?? UNKNOWN;
  if (code === NEW_LINE || (code >= 0x20 && code < 0x7f)) return [code];
  const index = CODE_PAGE.indexOf(character);
  if (index !== -1 && character !== SOFT_HYPHEN) return [0x80 + index];
  if (NO_CELL.test(character)) return [];
  const base = baseLetter(character);
  if (base !== character && cellsOf(base) === cellsOf(character)) return textBytes(base);
  return isWide(character) ? [UNKNOWN, UNKNOWN] : [UNKNOWN];
}

/** Letters with a stroke, which Unicode does not decompose. */
const STROKED: Readonly<Record<string, string>> = {
  Ł: 'L',
  ł: 'l',
  Đ: 'D',
  đ: 'd',
  Ø: 'O',
  ø: 'o',
};

/** Returns a letter without its marks, for a code page that lacks it: `ő` becomes `o`. */
export function baseLetter(letter: string): string {
  return STROKED[letter] ?? letter.normalize('NFKD').replaceAll(/\p{M}/gu, '');
}

function qrBytes(address: string): number[] {
  const data = [...new TextEncoder().encode(address)];
  if (data.length > LONGEST_ADDRESS) throw new RangeError('the URL is too long to print');
  const command = (...parameters: readonly number[]) => [
    ...[GS, 0x28, 0x6b, parameters.length & 0xff, parameters.length >> 8],
    ...parameters,
  ];
  return [
    ...command(49, 65, 50, 0),
    ...command(49, 67, DOT_SIZE),
    ...command(49, 69, CORRECTION_M),
    ...command(49, 80, 48, ...data),
    ...command(49, 81, 48),
  ];
}
