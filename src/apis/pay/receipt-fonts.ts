import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { inflateSync } from 'node:zlib';
import { create, type Font } from 'fontkit';

/** A font of PDF receipts, and the name under which documents embed it. */
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
const FILES = [
  'noto-sans-arabic/files/noto-sans-arabic-latin-400-normal.woff',
  'noto-sans-arabic/files/noto-sans-arabic-latin-ext-400-normal.woff',
  'noto-sans-arabic/files/noto-sans-arabic-arabic-400-normal.woff',
  'noto-sans-arabic/files/noto-sans-arabic-math-400-normal.woff',
  'noto-sans-arabic/files/noto-sans-arabic-symbols-400-normal.woff',
  'kosugi/files/kosugi-japanese-400-normal.woff',
  'kosugi/files/kosugi-cyrillic-400-normal.woff',
] as const;

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
  return FILES.map((file) => {
    const font = create(unpacked(readFileSync(resolve(`@fontsource/${file}`)))) as Font;
    const known = new Set(font.characterSet);
    return { name: file, font, has: (codePoint) => known.has(codePoint) };
  });
}

/**
 * Fonts are loaded with this module, when the first PDF receipt is requested. This takes about 100
 * ms.
 */
export const PDF_FONTS: readonly PdfFont[] = load();

/** A part of a text that is drawn in one font. */
export interface FontRun {
  readonly text: string;
  readonly font: PdfFont;
}

/** Splits text into letters as readers see them, each with all its marks. */
const LETTERS = new Intl.Segmenter('und', { granularity: 'grapheme' });
/** Characters that neither PDFs nor printers show: see `receipt-plain-text.ts`. */
const IGNORED = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Returns the text for a PDF, without invisible characters and those that change the direction. */
export function pdfText(text: string): string {
  return text.normalize('NFC').replaceAll(/\s+/g, ' ').replaceAll(IGNORED, '').trim();
}

function covers({ has }: PdfFont, letter: string): boolean {
  for (const character of letter) if (!has(character.codePointAt(0) ?? 0)) return false;
  return true;
}

/**
 * Returns the letter and a font that has it. If no font has it, tries its compatibility form (for
 * example of half-width katakana); otherwise returns null.
 */
function runOf(letter: string, before: PdfFont | undefined): FontRun | null {
  for (const text of [letter, letter.normalize('NFKC')]) {
    if (before !== undefined && covers(before, text)) return { text, font: before };
    const font = PDF_FONTS.find((one) => covers(one, text));
    if (font !== undefined) return { text, font };
  }
  return null;
}

/**
 * Splits a text into parts by font, and changes the font only if necessary. Returns null if no font
 * has one of the letters.
 */
export function fontRuns(text: string): FontRun[] | null {
  const runs: FontRun[] = [];
  for (const { segment } of LETTERS.segment(text)) {
    const last = runs.at(-1);
    const run = runOf(segment, last?.font);
    if (run === null) return null;
    if (last?.font === run.font) runs[runs.length - 1] = { ...last, text: last.text + run.text };
    else runs.push(run);
  }
  return runs;
}
