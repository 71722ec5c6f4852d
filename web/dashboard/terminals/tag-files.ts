import { encode } from 'uqr';

/**
 * Creates the files of a terminal's tag in the browser, so that the server never renders a shop's
 * name.
 */

/** Makes the picture about 1,000 pixels wide, which is sharp at any size that fits a counter. */
const PIXELS_PER_MODULE = 24;
/** The same QR settings as on every screen (`ui/qr.tsx`). */
const CODE = { ecc: 'M', border: 4 } as const;

type Bytes = Uint8Array<ArrayBuffer>;

async function deflate(bytes: Bytes): Promise<Bytes> {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

function join(parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const textBytes = (text: string): Bytes => new TextEncoder().encode(text);

function crc32(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function chunk(type: string, data: Uint8Array): Bytes {
  const named = join([textBytes(type), data]);
  const whole = new Uint8Array(named.length + 8);
  const view = new DataView(whole.buffer);
  view.setUint32(0, data.length);
  whole.set(named, 4);
  view.setUint32(named.length + 4, crc32(named));
  return whole;
}

/** Returns the bitmap with one bit per pixel. Each line starts with the PNG filter byte 0. */
function bitmapOf(code: ReturnType<typeof encode>, side: number): Bytes {
  const lineLength = Math.ceil(side / 8) + 1;
  const lines = new Uint8Array(lineLength * side);
  for (let y = 0; y < side; y++) {
    const row = code.data[Math.floor(y / PIXELS_PER_MODULE)];
    for (let x = 0; x < side; x++) {
      if (row?.[Math.floor(x / PIXELS_PER_MODULE)]) continue;
      const at = y * lineLength + 1 + (x >> 3);
      lines[at] = (lines[at] ?? 0) | (0x80 >> (x & 7));
    }
  }
  return lines;
}

/** Returns the QR code of a URL as a PNG, black on white, with its quiet zone. */
export async function qrPng(url: string): Promise<Bytes> {
  const code = encode(url, CODE);
  const side = code.size * PIXELS_PER_MODULE;
  const head = new Uint8Array(13);
  new DataView(head.buffer).setUint32(0, side);
  new DataView(head.buffer).setUint32(4, side);
  // Bit depth 1, grayscale, no other PNG options.
  head[8] = 1;
  const signature = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return join([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', await deflate(bitmapOf(code, side))),
    chunk('IEND', new Uint8Array()),
  ]);
}

/**
 * Text rendered as a picture, one gray byte per pixel, because only the browser has fonts for every
 * language.
 */
export interface Words {
  readonly width: number;
  readonly height: number;
  readonly gray: Bytes;
}

export interface TableCard {
  readonly url: string;
  readonly title: string;
  /** Everything on the card except the code, as a picture with the card's proportions. */
  readonly words: Words;
}

/** In points (1/72 inch). The size is A6, a common format for printers and table frames. */
export const CARD = { width: 297.64, height: 419.53, code: 204, codeTop: 108 } as const;

/**
 * Draws the text as a picture and, on top of it, the QR code as vector squares, which print
 * sharply.
 */
function drawing(url: string): string {
  const { data, size } = encode(url, CODE);
  const module = CARD.code / size;
  const left = (CARD.width - CARD.code) / 2;
  const top = CARD.height - CARD.codeTop;
  const squares = data.flatMap((row, y) =>
    row.map((dark, x) => {
      const [atX, atY] = [left + x * module, top - (y + 1) * module];
      return dark ? `${atX.toFixed(3)} ${atY.toFixed(3)} ${module} ${module} re` : '';
    }),
  );
  const sheet = `q ${CARD.width} 0 0 ${CARD.height} 0 0 cm /Words Do Q`;
  return [sheet, '0 g', ...squares.filter(Boolean), 'f'].join('\n');
}

/** Returns a PDF string in any language: UTF-16 with a byte order mark, in hex. */
function pdfText(text: string): string {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return `<feff${units.map((unit) => unit.toString(16).padStart(4, '0')).join('')}>`;
}

function stream(dictionary: string, body: Uint8Array): Bytes {
  const head = `<<${dictionary} /Filter /FlateDecode /Length ${body.length}>>\nstream\n`;
  return join([textBytes(head), body, textBytes('\nendstream')]);
}

/**
 * Assembles a PDF without a library: a library would add fonts for one page, and few fonts cover
 * every shop's name.
 */
function pdfFile(objects: readonly Uint8Array[]): Bytes {
  const parts: Uint8Array[] = [textBytes('%PDF-1.7\n')];
  const places: number[] = [];
  let at = parts[0]?.length ?? 0;
  for (const [index, body] of objects.entries()) {
    const object = join([textBytes(`${index + 1} 0 obj\n`), body, textBytes('\nendobj\n')]);
    places.push(at);
    at += object.length;
    parts.push(object);
  }
  const count = objects.length + 1;
  const rows = places.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`);
  const table = `xref\n0 ${count}\n0000000000 65535 f \n${rows.join('')}`;
  const end = `trailer\n<</Size ${count} /Root 1 0 R /Info 7 0 R>>\nstartxref\n${at}\n%%EOF\n`;
  return join([...parts, textBytes(table + end)]);
}

/** Clicking the code in the PDF opens the URL. */
export async function tableCardPdf({ url, title, words }: TableCard): Promise<Bytes> {
  const box = `[0 0 ${CARD.width} ${CARD.height}]`;
  const left = (CARD.width - CARD.code) / 2;
  const top = CARD.height - CARD.codeTop;
  const link = `[${left} ${top - CARD.code} ${left + CARD.code} ${top}]`;
  const address = url.replace(/[\\()]/g, String.raw`\$&`);
  const picture =
    `/Type /XObject /Subtype /Image /Width ${words.width} /Height ${words.height} ` +
    '/ColorSpace /DeviceGray /BitsPerComponent 8';
  return pdfFile([
    textBytes(
      '<</Type /Catalog /Pages 2 0 R /Lang (en) /ViewerPreferences <</DisplayDocTitle true>>>>',
    ),
    textBytes('<</Type /Pages /Kids [3 0 R] /Count 1>>'),
    textBytes(
      `<</Type /Page /Parent 2 0 R /MediaBox ${box} /Contents 4 0 R /Annots [6 0 R] ` +
        '/Resources <</XObject <</Words 5 0 R>>>>>>',
    ),
    stream('', await deflate(textBytes(drawing(url)))),
    stream(picture, await deflate(words.gray)),
    textBytes(
      `<</Type /Annot /Subtype /Link /Rect ${link} /Border [0 0 0] ` +
        `/A <</S /URI /URI (${address})>>>>`,
    ),
    textBytes(`<</Title ${pdfText(title)}>>`),
  ]);
}
