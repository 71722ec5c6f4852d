import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { inflateSync } from 'node:zlib';
import { create, type Font } from 'fontkit';

export interface PdfFont {
  readonly name: string;
  readonly font: Font;
  readonly has: (codePoint: number) => boolean;
}

/**
 * Latin, Arabic, Japanese and Cyrillic fonts, in order of preference. The packages take 9 MB when
 * installed, of which these files are 1.5 MB; Noto Sans JP would take 80 MB. Each document embeds
 * only the letters that it uses.
 */
const PACKAGED = [
  'noto-sans-arabic/files/noto-sans-arabic-latin-400-normal.woff',
  'noto-sans-arabic/files/noto-sans-arabic-latin-ext-400-normal.woff',
  'noto-sans-arabic/files/noto-sans-arabic-arabic-400-normal.woff',
  'noto-sans-arabic/files/noto-sans-arabic-math-400-normal.woff',
  'noto-sans-arabic/files/noto-sans-arabic-symbols-400-normal.woff',
  'kosugi/files/kosugi-japanese-400-normal.woff',
  'kosugi/files/kosugi-cyrillic-400-normal.woff',
] as const;
/** Files of fonts whose packages would take 17 MB. These files take 0.6 MB. */
const OWN = ['noto-sans-greek', 'noto-sans-hebrew', 'noto-sans-thai', 'noto-emoji'] as const;
/** The emoji font has digits for keycaps, which other texts must not use. */
const FIRST_EMOJI = 0x203c;

const WOFF_HEADER = 44;
const WOFF_ENTRY = 20;
const SFNT_HEADER = 12;
const SFNT_ENTRY = 16;

/**
 * Unpacks a WOFF file into the font inside it. From a packed font, the library would unpack a table
 * for each letter again, and a receipt would take 3 s.
 */
function unpacked(woff: Buffer): Buffer {
  const count = woff.readUInt16BE(12);
  const head = Buffer.alloc(SFNT_HEADER + count * SFNT_ENTRY);
  woff.copy(head, 0, 4, 8);
  head.writeUInt16BE(count, 4);
  const parts: Buffer[] = [head];
  let offset = head.length;
  for (let at = 0; at < count; at++) {
    const entry = WOFF_HEADER + at * WOFF_ENTRY;
    const [start, packed, length] = [4, 8, 12].map((field) => woff.readUInt32BE(entry + field));
    const bytes = woff.subarray(start, (start ?? 0) + (packed ?? 0));
    const table = packed === length ? bytes : inflateSync(bytes);
    const row = SFNT_HEADER + at * SFNT_ENTRY;
    woff.copy(head, row, entry, entry + 4);
    woff.copy(head, row + 4, entry + 16, entry + 20);
    head.writeUInt32BE(offset, row + 8);
    head.writeUInt32BE(table.length, row + 12);
    const padding = Buffer.alloc(-table.length & 3);
    parts.push(table, padding);
    offset += table.length + padding.length;
  }
  return Buffer.concat(parts);
}

function load(): PdfFont[] {
  const { resolve } = createRequire(import.meta.url);
  const packaged = PACKAGED.map((file) => [file, resolve(`@fontsource/${file}`)] as const);
  const own = OWN.map((name) => {
    return [name, path.join(import.meta.dirname, `fonts/${name}.woff`)] as const;
  });
  return [...packaged, ...own].map(([name, file]) => {
    const font = create(unpacked(readFileSync(file))) as Font;
    const known = new Set(font.characterSet);
    const first = name === 'noto-emoji' ? FIRST_EMOJI : 0;
    return { name, font, has: (codePoint) => codePoint >= first && known.has(codePoint) };
  });
}

/**
 * Fonts are loaded with this module, when the first PDF receipt is requested. This takes about 100
 * ms.
 */
export const PDF_FONTS: readonly PdfFont[] = load();

/** A letter as it is drawn, and its font. `text` is empty if the letter is invisible. */
export interface DrawnLetter {
  readonly text: string;
  readonly font: PdfFont;
}

/** Splits text into letters as readers see them, each with all its marks. */
export const LETTERS = new Intl.Segmenter('und', { granularity: 'grapheme' });
/** Control characters, and those that force a direction: see `receipt-plain-text.ts`. */
const NEVER_SHOWN = /[\p{Cc}\u202a-\u202e]/gu;
/** Characters without a shape of their own, such as joiners and marks of direction. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Joiners, isolates and marks of direction stay, because they decide how the text looks. */
export function pdfText(text: string): string {
  return text.normalize('NFC').replaceAll(/\s+/g, ' ').replaceAll(NEVER_SHOWN, '').trim();
}

/** Returns the text that readers and programs copy from a PDF: its visible characters. */
export function copiedText(text: string): string {
  return text.replaceAll(/[\u061c\u200e\u200f\u2066-\u2069]/g, '');
}

function covers({ has }: PdfFont, letter: string): boolean {
  for (const character of letter) if (!has(character.codePointAt(0) ?? 0)) return false;
  return true;
}

/**
 * Returns the letter and a font that has it, preferably the one of the letter before. If no font
 * has it, tries it without invisible characters, then its compatibility form (for example of
 * half-width katakana); otherwise returns null.
 */
export function drawnLetter(letter: string, before?: PdfFont): DrawnLetter | null {
  const visible = letter.replaceAll(INVISIBLE, '');
  const [first] = PDF_FONTS;
  if (visible === '' && first !== undefined) return { text: '', font: before ?? first };
  for (const text of [letter, visible, visible.normalize('NFKC')]) {
    if (before !== undefined && covers(before, text)) return { text, font: before };
    const font = PDF_FONTS.find((one) => covers(one, text));
    if (font !== undefined) return { text, font };
  }
  return null;
}

/** True if the fonts have every letter of the text. */
export function isCovered(text: string): boolean {
  return [...LETTERS.segment(text)].every(({ segment }) => drawnLetter(segment) !== null);
}
