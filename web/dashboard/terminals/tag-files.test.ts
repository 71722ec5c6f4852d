import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inflateSync } from 'node:zlib';
import { encode } from 'uqr';
import { qrPng, tableCardPdf } from './tag-files.ts';

const URL = 'https://pay.example.com/t/3nF8qTz0LwKc5YbRm1XaVe';

test('the PNG contains the QR code of the address with whole modules', async () => {
  const png = Buffer.from(await qrPng(URL));
  assert.equal(png.subarray(0, 8).toString('latin1'), '\x89PNG\r\n\x1a\n');
  const side = png.readUInt32BE(16);
  const { data, size } = encode(URL, { ecc: 'M', border: 4 });
  assert.equal(side % size, 0);
  const start = png.indexOf('IDAT');
  const packed = png.subarray(start + 4, start + 4 + png.readUInt32BE(start - 4));
  const lines = inflateSync(packed);
  const lineLength = Math.ceil(side / 8) + 1;
  assert.equal(lines.length, lineLength * side);
  const isDark = (x: number, y: number) =>
    ((lines[y * lineLength + 1 + (x >> 3)] ?? 0) & (0x80 >> (x & 7))) === 0;
  const perModule = side / size;
  for (const [y, row] of data.entries()) {
    for (const [x, dark] of row.entries()) {
      for (const inside of [0, perModule - 1]) {
        const [atX, atY] = [x * perModule + inside, y * perModule + inside];
        assert.equal(isDark(atX, atY), dark, `${x} ${y}`);
      }
    }
  }
});

test('the card is a valid PDF with a clickable address', async () => {
  const words = { width: 2, height: 2, gray: Uint8Array.from([0, 255, 255, 0]) };
  const bytes = await tableCardPdf({ url: URL, title: 'Café 日本 · Counter', words });
  const pdf = Buffer.from(bytes).toString('latin1');
  const [, table = '0'] = /startxref\n(\d+)\n%%EOF\n$/.exec(pdf) ?? [];
  const rows = pdf.slice(Number(table)).match(/^\d{10} 00000 n $/gm) ?? [];
  assert.equal(rows.length, 7);
  for (const [index, row] of rows.entries()) {
    assert.ok(pdf.startsWith(`${index + 1} 0 obj\n`, Number.parseInt(row, 10)), row);
  }
  assert.ok(pdf.includes(`/URI (${URL})`));
  const title = Buffer.from('Café 日本 · Counter', 'utf16le').swap16().toString('hex');
  assert.ok(pdf.includes(`<feff${title}>`));
  const start = pdf.indexOf('stream\n') + 'stream\n'.length;
  const drawn = inflateSync(bytes.subarray(start, pdf.indexOf('\nendstream'))).toString();
  const dark = encode(URL, { ecc: 'M', border: 4 }).data.flat().filter(Boolean).length;
  assert.equal(drawn.match(/ re$/gm)?.length, dark);
});
