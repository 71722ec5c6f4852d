import { inflateSync } from 'node:zlib';

/**
 * Reads the text of our own PDFs, as programs do that follow the glyphs: the text of each glyph
 * from its font's table, glyphs in their order from left to right, lines from top to bottom.
 */

interface Glyph {
  readonly x: number;
  readonly text: string;
}

const HEX = /<([0-9a-f\s]*)>/gi;

/** Returns the table from glyphs to texts of each font, by the number of the font's object. */
function tablesOf(pdf: string, bytes: Buffer): Map<string, string[]> {
  const tables = new Map<string, string[]>();
  for (const [, number = '', cmap = ''] of pdf.matchAll(
    /(\d+) 0 obj\n<<\n\/Type \/Font\n\/Subtype \/Type0[\s\S]*?\/ToUnicode (\d+) 0 R/g,
  )) {
    const text = streamOf(pdf, bytes, cmap);
    const entries = text.match(/beginbfrange\n([\s\S]*?)endbfrange/)?.[1] ?? '';
    const rows = [...entries.matchAll(/\[([^\]]*)\]/g)].flatMap(([, row = '']) =>
      [...row.matchAll(HEX)].map(([, hex = '']) => {
        return Buffer.from(hex.replaceAll(/\s/g, ''), 'hex').swap16().toString('utf16le');
      }),
    );
    tables.set(number, rows);
  }
  return tables;
}

function streamOf(pdf: string, bytes: Buffer, number: string): string {
  const at = pdf.indexOf(`\n${number} 0 obj\n`);
  const start = pdf.indexOf('stream\n', at) + 'stream\n'.length;
  const end = pdf.indexOf('\nendstream', start);
  return inflateSync(bytes.subarray(start, end)).toString('latin1');
}

/** Returns the lines of a PDF as they look, from left to right, with their invisible marks. */
export function visualLines(bytes: Buffer): string[] {
  const pdf = bytes.toString('latin1');
  const tables = tablesOf(pdf, bytes);
  const fonts = new Map(
    [...pdf.matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name = '', number = '']) => {
      return [name, tables.get(number) ?? []];
    }),
  );
  const lines: string[] = [];
  for (const [, number = ''] of pdf.matchAll(/\/Contents (\d+) 0 R/g)) {
    const rows = new Map<number, Glyph[]>();
    let font: string[] = [];
    let [x, y] = [0, 0];
    const operators = /\/(F\d+) [\d.]+ Tf|1 0 0 1 ([-\d.]+) ([-\d.]+) Tm|\[([^\]]*)\] TJ/g;
    for (const [, name, left, top, shown] of streamOf(pdf, bytes, number).matchAll(operators)) {
      if (name !== undefined) font = fonts.get(name) ?? [];
      if (left !== undefined) [x, y] = [Number(left), Math.round(Number(top))];
      for (const [, hex = ''] of shown?.matchAll(HEX) ?? []) {
        for (const id of hex.match(/.{4}/g) ?? []) {
          rows.set(y, [...(rows.get(y) ?? []), { x, text: font[Number.parseInt(id, 16)] ?? '' }]);
          // Keeps the order of glyphs that are drawn together.
          x += 1e-6;
        }
      }
    }
    const inOrder = [...rows].sort(([one], [other]) => other - one);
    for (const [, glyphs] of inOrder) {
      lines.push(
        glyphs
          .sort((a, b) => a.x - b.x)
          .map(({ text }) => text)
          .join(''),
      );
    }
  }
  return lines;
}
