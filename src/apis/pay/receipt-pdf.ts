import bidiFactory from 'bidi-js';
import PDFDocument from 'pdfkit';
import { encode } from 'uqr';
import { fontRuns, PDF_FONTS, pdfText } from '#apis/pay/receipt-fonts.ts';
import { wrapped } from '#apis/pay/receipt-plain-text.ts';
import type { ReceiptLine, Slip } from '#apis/pay/receipt-slip.ts';
import { withoutIsolates } from '#core/bidi-isolates.ts';
import { directionOf, languageTag } from '#core/languages.ts';

/** The package's types describe an ES module, but its code is CommonJS. */
interface Bidi {
  getEmbeddingLevels(text: string, direction: Direction): { readonly levels: Uint8Array };
  getMirroredCharactersMap(text: string, levels: Uint8Array): ReadonlyMap<number, string>;
}

const bidi = (bidiFactory as unknown as () => Bidi)();

/** The size of an A5 page, in points. */
const PAGE = { width: 420, height: 595 };
const MARGIN = 36;
const WIDTH = PAGE.width - 2 * MARGIN;
const LEADING = 1.45;
const SIZES = { small: 8, body: 9.5, name: 15, headline: 20 } as const;
const SOFT = '#555555';
const DARK = '#111111';
const QR_SIZE = 90;
/** Space between the name and the value of a line, in points. */
const GAP = 12;

type Size = keyof typeof SIZES;
type Direction = 'ltr' | 'rtl';

/** A part of a line that has one font and one direction. */
interface DrawnRun {
  readonly text: string;
  readonly name: string;
  readonly level: number;
}

/** Text without letters. Font shaping does not reverse it within right-to-left text. */
const NO_SCRIPT = /^[^\p{L}]+$/u;

/**
 * Returns a line's runs in the order from left to right (Unicode Bidirectional Algorithm, rule L2).
 */
function visualRuns(text: string, direction: Direction): DrawnRun[] {
  const parts = fontRuns(text) ?? [];
  const written = parts.map((part) => part.text).join('');
  const { levels } = bidi.getEmbeddingLevels(written, direction);
  const mirrored = bidi.getMirroredCharactersMap(written, levels);
  const runs: DrawnRun[] = [];
  let at = 0;
  for (const { text: part, font } of parts) {
    for (const character of part) {
      const level = levels[at] ?? 0;
      const shown = mirrored.get(at) ?? character;
      const last = runs.at(-1);
      if (last?.name === font.name && last.level === level) {
        runs[runs.length - 1] = { ...last, text: last.text + shown };
      } else {
        runs.push({ text: shown, name: font.name, level });
      }
      at += character.length;
    }
  }
  const highest = Math.max(0, ...runs.map(({ level }) => level));
  for (let level = highest; level > 0; level--) reverseFrom(runs, level);
  return runs.map((run) =>
    run.level % 2 === 1 && NO_SCRIPT.test(run.text)
      ? { ...run, text: [...run.text].reverse().join('') }
      : run,
  );
}

/** Reverses the order of runs in each sequence whose levels are `level` or higher. */
function reverseFrom(runs: DrawnRun[], level: number): void {
  let start = 0;
  while (start < runs.length) {
    if ((runs[start]?.level ?? 0) < level) {
      start++;
      continue;
    }
    let end = start;
    while (end < runs.length && (runs[end]?.level ?? 0) >= level) end++;
    runs.splice(start, end - start, ...runs.slice(start, end).reverse());
    start = end;
  }
}

/** Returns every text that the receipt's PDF would contain. */
function textsOf(slip: Slip): string[] {
  const lines = [slip.items, slip.amounts, slip.taxes, slip.facts, slip.fiscal, slip.chain].flat();
  return [
    ...[slip.kind, slip.merchantName, ...slip.seller, slip.state ?? '', slip.headline],
    ...[slip.headlineAlso ?? '', slip.livemode ? '' : slip.writer.text('receipt.test_mode')],
    ...lines.flatMap(({ name, value, also = '' }) => [name, value, also]),
  ];
}

/** True if the fonts have every letter of the receipt. */
export function hasPdf(slip: Slip): boolean {
  return textsOf(slip).every((text) => fontRuns(pdfText(withoutIsolates(text))) !== null);
}

/** Draws a receipt's lines from top to bottom, on as many pages as they need. */
class Sheet {
  readonly #doc: PDFKit.PDFDocument;
  readonly #direction: Direction;
  readonly #widths = new Map<string, number>();
  #y = MARGIN;

  constructor(doc: PDFKit.PDFDocument, direction: Direction) {
    this.#doc = doc;
    this.#direction = direction;
  }

  #widthOf(text: string, size: Size): number {
    const key = `${size} ${text}`;
    const width = this.#widths.get(key) ?? this.#measure(text, size);
    this.#widths.set(key, width);
    return width;
  }

  /** Measures whole runs, because letters of a word may be joined and so be narrower. */
  #measure(text: string, size: Size): number {
    const doc = this.#doc.fontSize(SIZES[size]);
    return visualRuns(text, this.#direction).reduce((sum, run) => {
      return sum + doc.font(run.name).widthOfString(run.text, { features: [] });
    }, 0);
  }

  #draw(text: string, x: number, size: Size): void {
    let at = x;
    const doc = this.#doc.fontSize(SIZES[size]);
    for (const run of visualRuns(text, this.#direction)) {
      doc.font(run.name).text(run.text, at, this.#y, { lineBreak: false, features: [] });
      at += doc.widthOfString(run.text, { features: [] });
    }
  }

  #room(height: number): void {
    if (this.#y + height <= PAGE.height - MARGIN) return;
    this.#doc.addPage();
    this.#y = MARGIN;
  }

  #linesOf(text: string, size: Size, width = WIDTH): string[] {
    return wrapped(pdfText(withoutIsolates(text)), width, (part) => this.#widthOf(part, size));
  }

  #next(size: Size): void {
    this.#y += SIZES[size] * LEADING;
  }

  centered(text: string, size: Size, color = DARK): void {
    this.#doc.fillColor(color);
    for (const line of this.#linesOf(text, size)) {
      this.#room(SIZES[size] * LEADING);
      this.#draw(line, MARGIN + (WIDTH - this.#widthOf(line, size)) / 2, size);
      this.#next(size);
    }
  }

  /** Draws a line at the side where reading starts or, if `isEnd`, at the other side. */
  #aside(line: string, size: Size, isEnd: boolean): void {
    const isLeft = isEnd === (this.#direction === 'rtl');
    this.#draw(line, isLeft ? MARGIN : MARGIN + WIDTH - this.#widthOf(line, size), size);
  }

  #side(text: string, size: Size, isEnd: boolean): void {
    for (const line of this.#linesOf(text, size)) {
      this.#room(SIZES[size] * LEADING);
      this.#aside(line, size, isEnd);
      this.#next(size);
    }
  }

  pair({ name, value, also }: ReceiptLine): void {
    const [left = '', ...more] = this.#linesOf(name, 'body', WIDTH);
    const [right = '', ...rest] = this.#linesOf(value, 'body', WIDTH);
    const width = this.#widthOf(left, 'body') + GAP + this.#widthOf(right, 'body');
    this.#doc.fillColor(DARK);
    if (more.length === 0 && rest.length === 0 && width <= WIDTH) {
      this.#room(SIZES.body * LEADING);
      this.#aside(left, 'body', false);
      this.#aside(right, 'body', true);
      this.#next('body');
    } else {
      this.#side(name, 'body', false);
      this.#side(value, 'body', true);
    }
    if (also === undefined) return;
    this.#doc.fillColor(SOFT);
    this.#side(also, 'small', true);
  }

  rule(): void {
    this.#room(SIZES.body);
    this.#y += 4;
    this.#doc.lineWidth(0.5).strokeColor('#999999');
    this.#doc
      .moveTo(MARGIN, this.#y)
      .lineTo(MARGIN + WIDTH, this.#y)
      .stroke();
    this.#y += 6;
  }

  block(lines: readonly ReceiptLine[]): void {
    if (lines.length === 0) return;
    this.rule();
    for (const line of lines) this.pair(line);
  }

  qr(url: string): void {
    const { data, size } = encode(url, { ecc: 'M', border: 1 });
    const dot = QR_SIZE / size;
    this.#room(QR_SIZE + GAP);
    this.#y += GAP / 2;
    const left = MARGIN + (WIDTH - QR_SIZE) / 2;
    data.forEach((row, y) => {
      row.forEach((isDark, x) => {
        if (isDark) this.#doc.rect(left + x * dot, this.#y + y * dot, dot, dot);
      });
    });
    this.#doc.fillColor('#000000').fill();
    this.#y += QR_SIZE;
  }
}

function draw(sheet: Sheet, slip: Slip, url: string): void {
  sheet.centered(slip.merchantName, 'name');
  for (const line of slip.seller) sheet.centered(line, 'small', SOFT);
  sheet.centered(slip.kind, 'body', SOFT);
  sheet.centered(slip.headline, 'headline');
  if (slip.headlineAlso !== null) sheet.centered(slip.headlineAlso, 'body', SOFT);
  if (slip.state !== null) sheet.centered(slip.state, 'body');
  if (!slip.livemode) sheet.centered(slip.writer.text('receipt.test_mode'), 'small', SOFT);
  for (const lines of [slip.items, slip.amounts, slip.taxes, slip.facts, slip.fiscal, slip.chain]) {
    sheet.block(lines);
  }
  sheet.qr(url);
  sheet.centered(url, 'small', SOFT);
}

/**
 * Renders the receipt as a PDF with only those letters of each font that it uses. Call it only if
 * `hasPdf` is true.
 */
export function receiptPdf(slip: Slip, url: string): Promise<Buffer> {
  const { language } = slip.writer;
  const doc = new PDFDocument({
    size: [PAGE.width, PAGE.height],
    margin: 0,
    lang: languageTag(language),
    info: { Title: `${slip.kind} · ${slip.merchantName}` },
  });
  for (const { name, font } of PDF_FONTS) {
    // The library accepts an open font as well as bytes, so that not every document parses the
    // fonts again.
    doc.registerFont(name, font as unknown as Buffer);
  }
  const chunks: Buffer[] = [];
  doc.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    doc.on('end', () => resolve(Buffer.concat(chunks)));
    doc.on('error', reject);
    draw(new Sheet(doc, directionOf(language)), slip, url);
    doc.end();
  });
}
