import PDFDocument from 'pdfkit';
import { encode } from 'uqr';
import { type DocumentFont, documentFont } from '#apis/pay/document-font.ts';
import { copiedText, isCovered, PDF_FONTS, pdfText } from '#apis/pay/receipt-fonts.ts';
import { wrapLines } from '#apis/pay/receipt-plain-text.ts';
import type { ReceiptLine, Slip } from '#apis/pay/receipt-slip.ts';
import { type Direction, visualRuns, withMarks } from '#apis/pay/visual-runs.ts';
import { directionOf, languageTag } from '#i18n/languages.ts';

/** The size of an A5 page, in points. */
const PAGE = { width: 420, height: 595 };
const MARGIN = 36;
const WIDTH = PAGE.width - 2 * MARGIN;
const LEADING = 1.45;
const SIZES = { small: 8, body: 9.5, name: 15, headline: 20 } as const;
/** Distance of the first line's letters from its top, in font sizes, as in Noto Sans. */
const ASCENT = 1.069;
/** The letters of all fonts stand on one line. */
const ON_BASELINE: PDFKit.Mixins.TextOptions = {
  lineBreak: false,
  features: [],
  baseline: 'alphabetic',
};
const SOFT = '#555555';
const DARK = '#111111';
const QR_SIZE = 90;
/** Space between the name and the value of a line, in points. */
const GAP = 12;

type Size = keyof typeof SIZES;
/** Returns every text that the receipt's PDF would contain. */
function textsOf(slip: Slip): string[] {
  const lines = [slip.items, slip.amounts, slip.taxes, slip.facts, slip.fiscal, slip.chain].flat();
  return [
    ...[slip.kind, slip.merchantName, ...slip.seller, slip.state ?? '', slip.headline],
    slip.livemode ? '' : slip.writer.text('receipt.test_mode'),
    ...lines.flatMap(({ name, value, also = '' }) => [name, value, also]),
  ];
}

export function hasPdf(slip: Slip): boolean {
  return textsOf(slip).every((text) => isCovered(pdfText(text)));
}

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/gu;
const LEFT_TO_RIGHT = /(?![\p{Script=Arabic}\p{Script=Hebrew}])\p{L}/gu;
/** By how many letters a direction surely prevails: programs count symbols differently. */
const SURELY = 20;

function count(text: string, letters: RegExp): number {
  return text.match(letters)?.length ?? 0;
}

/** A line, or a text that becomes lines. */
interface Words {
  readonly text: string;
  readonly size: Size;
  readonly direction: Direction;
}

/**
 * Draws a receipt's lines from top to bottom, on as many pages as they need. Each is a paragraph in
 * the document's structure, which screen readers follow.
 */
class Sheet {
  readonly #doc: PDFKit.PDFDocument;
  readonly #root: PDFKit.PDFStructureElement;
  readonly #direction: 'ltr' | 'rtl';
  readonly #fonts = new Map<string, DocumentFont>();
  readonly #widths = new Map<string, number>();
  #y = MARGIN;
  /** How many more letters of the page run from right to left than from left to right. */
  #balance = 0;

  constructor(doc: PDFKit.PDFDocument, direction: 'ltr' | 'rtl') {
    for (const { name, font } of PDF_FONTS) {
      const own = documentFont(font);
      this.#fonts.set(name, own);
      // The library accepts an open font as well as bytes, so that not every document parses the
      // fonts again.
      doc.registerFont(name, own.font as unknown as Buffer);
    }
    this.#doc = doc;
    this.#direction = direction;
    this.#root = doc.struct('Document');
    doc.addStructure(this.#root);
  }

  #tagged(type: 'H1' | 'P', text: string, drawn: () => void): void {
    this.#root.add(this.#doc.struct(type, { actual: copiedText(pdfText(text)) }, [drawn]));
  }

  #widthOf({ text, size, direction }: Words): number {
    const key = `${size} ${text}`;
    const width = this.#widths.get(key) ?? this.#measure({ text, size, direction });
    this.#widths.set(key, width);
    return width;
  }

  /** Measures whole runs, because letters of a word may be joined and so be narrower. */
  #measure({ text, size, direction }: Words): number {
    const doc = this.#doc.fontSize(SIZES[size]);
    return visualRuns(text, direction).reduce((sum, run) => {
      return sum + doc.font(run.name).widthOfString(run.text, { features: [] });
    }, 0);
  }

  /**
   * The text that programs read is the line's own: glyphs are in another order, and letters with
   * dots are made of several.
   */
  #draw({ text, size, direction }: Words, x: number): void {
    let at = x;
    const doc = this.#doc.fontSize(SIZES[size]);
    const y = this.#y + SIZES[size] * ASCENT;
    const runs = visualRuns(text, direction);
    for (const { name, text: drawn, copied } of this.#isMixed(text) ? withMarks(runs) : runs) {
      const font = this.#fonts.get(name);
      font?.setCopied(copied);
      doc.font(name).text(drawn, at, y, ON_BASELINE);
      font?.setCopied(null);
      at += doc.widthOfString(drawn, { features: [] });
    }
    this.#balance += count(text, RIGHT_TO_LEFT) - count(text, LEFT_TO_RIGHT);
  }

  #isMixed(text: string): boolean {
    return this.#direction === 'rtl' || count(text, RIGHT_TO_LEFT) > 0;
  }

  /**
   * Ends a page. Programs such as pdftotext read a page in the direction of most of its letters,
   * and hashes are Latin, so a page of an Arabic receipt gets invisible marks for its direction.
   */
  end(): void {
    const missing = this.#direction === 'rtl' ? SURELY - this.#balance : 0;
    this.#balance = 0;
    if (missing <= 0) return;
    const { height } = this.#doc.page;
    const [[name, font] = []] = this.#fonts;
    font?.setCopied('\u200f'.repeat(missing));
    this.#doc.font(name ?? '').fontSize(1);
    this.#doc.text(' ', MARGIN, height - MARGIN / 2, ON_BASELINE);
    font?.setCopied(null);
  }

  #room(height: number): void {
    if (this.#y + height <= PAGE.height - MARGIN) return;
    this.end();
    this.#doc.continueOnNewPage();
    this.#y = MARGIN;
  }

  #linesOf({ text, ...how }: Words): Words[] {
    const measure = (part: string) => this.#widthOf({ ...how, text: part });
    return wrapLines(pdfText(text), WIDTH, measure).map((line) => ({ ...how, text: line }));
  }

  #next(size: Size): void {
    this.#y += SIZES[size] * LEADING;
  }

  /**
   * In a receipt from right to left, a text that a person chose or that is the same in every
   * language has its own direction. In others it has the receipt's: programs would otherwise read
   * the parts of `مطعم Café` in the wrong order.
   */
  #words(text: string, size: Size, isGiven = false): Words {
    return {
      text,
      size,
      direction: isGiven && this.#direction === 'rtl' ? 'auto' : this.#direction,
    };
  }

  #centeredLines(words: Words, color: string): void {
    this.#doc.fillColor(color);
    for (const line of this.#linesOf(words)) {
      this.#room(SIZES[line.size] * LEADING);
      this.#draw(line, MARGIN + (WIDTH - this.#widthOf(line)) / 2);
      this.#next(line.size);
    }
  }

  title(text: string): void {
    this.#tagged('H1', text, () => this.#centeredLines(this.#words(text, 'name', true), DARK));
  }

  centered(text: string, size: Size, color = DARK): void {
    this.#tagged('P', text, () => this.#centeredLines(this.#words(text, size), color));
  }

  /** Like `centered`, for a sum or an address. */
  centeredGiven(text: string, size: Size, color = DARK): void {
    this.#tagged('P', text, () => this.#centeredLines(this.#words(text, size, true), color));
  }

  /** Draws a line at the side where reading starts or, if `isEnd`, at the other side. */
  #aside(line: Words, isEnd: boolean): void {
    const isLeft = isEnd === (this.#direction === 'rtl');
    this.#draw(line, isLeft ? MARGIN : MARGIN + WIDTH - this.#widthOf(line));
  }

  #side(words: Words, isEnd: boolean): void {
    for (const line of this.#linesOf(words)) {
      this.#room(SIZES[line.size] * LEADING);
      this.#aside(line, isEnd);
      this.#next(line.size);
    }
  }

  #pair({ name, value, also, isNamed = false, isWords = false }: ReceiptLine): void {
    const [title, result] = [
      this.#words(name, 'body', isNamed),
      this.#words(value, 'body', !isWords),
    ];
    const [left, ...more] = this.#linesOf(title);
    const [right, ...rest] = this.#linesOf(result);
    const isShort = left !== undefined && right !== undefined && more.length + rest.length === 0;
    this.#doc.fillColor(DARK);
    if (isShort && this.#widthOf(left) + GAP + this.#widthOf(right) <= WIDTH) {
      this.#room(SIZES.body * LEADING);
      this.#aside(left, false);
      this.#aside(right, true);
      this.#next('body');
    } else {
      this.#side(title, false);
      this.#side(result, true);
    }
    if (also === undefined) return;
    this.#doc.fillColor(SOFT);
    this.#side(this.#words(also, 'small'), true);
  }

  #rule(): void {
    this.#room(SIZES.body);
    this.#y += 4;
    this.#doc.markContent('Artifact', { type: 'Layout' });
    this.#doc.lineWidth(0.5).strokeColor('#999999');
    this.#doc
      .moveTo(MARGIN, this.#y)
      .lineTo(MARGIN + WIDTH, this.#y)
      .stroke();
    this.#doc.endMarkedContent();
    this.#y += 6;
  }

  block(lines: readonly ReceiptLine[]): void {
    if (lines.length === 0) return;
    this.#rule();
    for (const line of lines) {
      const { name, value, also = '' } = line;
      this.#tagged('P', `${name} ${value} ${also}`, () => this.#pair(line));
    }
  }

  qr(url: string): void {
    const { data, size } = encode(url, { ecc: 'M', border: 1 });
    const dot = QR_SIZE / size;
    this.#room(QR_SIZE + GAP);
    this.#y += GAP / 2;
    const left = MARGIN + (WIDTH - QR_SIZE) / 2;
    const drawDots = () => {
      data.forEach((row, y) => {
        row.forEach((isDark, x) => {
          if (isDark) this.#doc.rect(left + x * dot, this.#y + y * dot, dot, dot);
        });
      });
      this.#doc.fillColor('#000000').fill();
    };
    this.#root.add(this.#doc.struct('Figure', { alt: url }, [drawDots]));
    this.#y += QR_SIZE;
  }
}

function draw(sheet: Sheet, slip: Slip, url: string): void {
  sheet.title(slip.merchantName);
  for (const line of slip.seller) sheet.centered(line, 'small', SOFT);
  sheet.centered(slip.kind, 'body', SOFT);
  sheet.centeredGiven(slip.headline, 'headline');
  if (slip.state !== null) sheet.centered(slip.state, 'body');
  if (!slip.livemode) sheet.centered(slip.writer.text('receipt.test_mode'), 'small', SOFT);
  for (const lines of [slip.items, slip.amounts, slip.taxes, slip.facts, slip.fiscal, slip.chain]) {
    sheet.block(lines);
  }
  sheet.qr(url);
  sheet.centeredGiven(url, 'small', SOFT);
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
    pdfVersion: '1.7',
    tagged: true,
    displayTitle: true,
    lang: languageTag(language),
    info: { Title: `${slip.kind} · ${slip.merchantName}` },
  });
  const chunks: Buffer[] = [];
  doc.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    doc.on('end', () => resolve(Buffer.concat(chunks)));
    doc.on('error', reject);
    const sheet = new Sheet(doc, directionOf(language));
    draw(sheet, slip, url);
    sheet.end();
    doc.end();
  });
}
