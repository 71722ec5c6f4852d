import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { slipOf } from '../../src/apis/pay/receipt-contents.ts';
import type { ShownReceipt } from '../../src/apis/pay/receipt-data-route.ts';
import { receiptDrawing } from '../../src/apis/pay/receipt-drawing.ts';
import { receiptText } from '../../src/apis/pay/receipt-plain-text.ts';
import { RECEIPT_EXAMPLE } from '../../src/apis/pay/receipt-schema.ts';
import type { TextLanguage } from '../../src/i18n/languages.ts';
import { writerFor } from '../../src/i18n/text.ts';
import { testFolder } from '../../testkit/fixtures/core/test-folder.ts';
import { KanjiPrinter } from '../../testkit/network/kanji-printer.ts';
import { listen } from '../../testkit/network/listen.ts';
import { drawerBytes, ticketBytes } from '../src/printing/escpos.ts';
import { printerAt, printReceipt, receiptThatFits } from '../src/printing/printer.ts';
import { SettingError } from '../src/till-settings.ts';
import { encodeText, fitsCharset } from '../src/zvt/charset.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytesOf = (text: string) => Buffer.from(text, 'latin1').toString('hex');
/** Reset, end of Kanji mode, and selection of the Western European code page. */
const HEAD = '1b40' + '1c2e' + '1b7413';
/** Three line feeds, and the cut. */
const TAIL = '1b6403' + '1d5601';

test('a printed receipt is a reset, the text and a cut, byte by byte', () => {
  const ticket = ticketBytes({ text: 'Corner Café\n2,50 €\n', address: null });
  assert.equal(
    hex(ticket),
    `${HEAD}${bytesOf('Corner Caf')}82${'0a'}${bytesOf('2,50 ')}d50a0a${TAIL}`,
  );
});

test('a line in a script that the code page lacks is printed as dots, the others as text', () => {
  const drawn: string[] = [];
  const draw = (line: string) => {
    drawn.push(line);
    return { bytesPerRow: 2, rows: 1, dots: Uint8Array.of(0xf0, 0x0f) };
  };
  const text = 'Café – 2,50 €\n日替わり  1\nقهوة\nq\u0323\nEnd\n';
  const ticket = ticketBytes({ text, address: null, draw });
  assert.deepEqual(drawn, ['日替わり  1', 'قهوة', 'q\u0323']);
  const image = '1d763000' + '0200' + '0100' + 'f00f';
  const cafe = `${bytesOf('Caf')}82${bytesOf(' - 2,50 ')}d50a`;
  assert.equal(hex(ticket), `${HEAD}${cafe}${image.repeat(3)}${bytesOf('End')}0a0a${TAIL}`);
});

test('a URL is below the text as a QR code, centered', () => {
  const ticket = ticketBytes({ text: 'a', address: 'https://p.example/r' });
  const code = [
    '1d286b0400' + '31413200',
    '1d286b0300' + '314306',
    '1d286b0300' + '314531',
    `1d286b1600315030${bytesOf('https://p.example/r')}`,
    '1d286b0300' + '315130',
  ].join('');
  assert.equal(hex(ticket), `${HEAD}610a1b6101${code}0a1b6100${TAIL}`);
});

test('the pulse that opens a drawer', () => {
  assert.equal(hex(drawerBytes()), '1b40' + '1c2e' + '1b700019fa');
});

test('no typed text reaches the printer as a command', () => {
  const typed = 'Shop\u001b@\u001dV\u0000\u0010\u0014\u007f 日本 “x”…\u0085\r\n';
  const ticket = Buffer.from(ticketBytes({ text: typed, address: null }));
  const text = ticket.subarray(HEAD.length / 2, -TAIL.length / 2).toString('latin1');
  assert.equal(text, 'Shop@V ???? "x".\n\n');
});

for (const width of [32, 48] as const) {
  test(`a printer that starts in Kanji mode prints ${width} columns as they are`, async () => {
    const { place: position, received, close } = await networkPrinter();
    const names = ['Crème brûlée 5 €', 'Ñandú, ø, ß', 'Tea – hot'];
    const text = names.map((name) => `${name.padEnd(width - 4)}2,50`).join('\n');
    const receipts = await listen(createServer((_, response) => response.end(`${text}\n`)));
    const printing = { printer: printerAt(position), width, drawer: true };
    await printReceipt(printing, `${receipts.url}/receipts/x`);
    const paper = new KanjiPrinter().print(Buffer.concat(received));
    const read = text.replace('–', '-').split('\n');
    assert.deepEqual(paper.lines.slice(0, 3), read);
    assert.equal(paper.pulses, 1);
    await close();
    await receipts.close();
  });
}

test('a drawer pulse leaves no printer in Kanji mode', () => {
  const printer = new KanjiPrinter();
  printer.print(drawerBytes());
  printer.print(Uint8Array.of(0x1b, 0x74, 19));
  assert.deepEqual(printer.print(Uint8Array.of(0x82, 0xd5)).lines, ['é€']);
});

/** Starts a network printer that records what it receives. */
async function networkPrinter() {
  const received: Buffer[] = [];
  const server = createSocketServer((socket) => {
    socket.on('data', (chunk) => received.push(chunk));
    socket.on('end', () => socket.end());
  });
  const { port, close } = await listen(server);
  return { place: `tcp://127.0.0.1:${port}`, received, close };
}

test('the drawer opens first, then the receipt is printed at the width of the paper', async () => {
  const { place: position, received, close } = await networkPrinter();
  const receipts = await listen(
    createServer((request, response) => response.end(`at ${request.url}\n`)),
  );
  const url = `${receipts.url}/receipts/x`;
  await printReceipt({ printer: printerAt(position), width: 32, drawer: true }, url);
  const ticket = ticketBytes({ text: 'at /receipts/x.txt?width=32\n', address: url });
  assert.equal(hex(Buffer.concat(received)), `${hex(drawerBytes())}${hex(ticket)}`);
  await printReceipt({ printer: printerAt(position), width: 48, drawer: false }, null);
  assert.equal(Buffer.concat(received).length, drawerBytes().length + ticket.length);
  await close();
  await receipts.close();
});

/** Serves a receipt in all forms, as the service does; an earlier one has no drawings. */
async function receiptServer(names: readonly string[], isEarlier = false) {
  const [line] = RECEIPT_EXAMPLE.line_items;
  const line_items = names.map((name) => ({ ...line, name }));
  const receipt = { ...RECEIPT_EXAMPLE, line_items } as unknown as ShownReceipt;
  const textIn = (language: TextLanguage, width: 32 | 48) =>
    receiptText(slipOf(receipt, writerFor(language)), 'https://p.example/r', width);
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const width = searchParams.get('width') === '32' ? 32 : 48;
    const text = textIn(searchParams.get('lang') === 'en' ? 'en' : 'ja', width);
    if (pathname.endsWith('.txt')) return response.end(text);
    if (isEarlier) return response.writeHead(404).end();
    response.end(receiptDrawing(text, width));
  });
  return { ...(await listen(server)), textIn };
}

const NAMES = ['日替わり定食', 'قهوة عربية', 'Ελληνικός καφές', 'Crème brûlée 5 €'];

for (const width of [32, 48] as const) {
  test(`the reader draws the letters that a printer of ${width} columns lacks`, async (t) => {
    const { place: position, received, close } = await networkPrinter();
    const receipts = await receiptServer(NAMES);
    t.after(() => Promise.all([close(), receipts.close()]));
    const printing = { printer: printerAt(position), width, drawer: false };
    await printReceipt(printing, `${receipts.url}/receipts/x`);
    const job = Buffer.concat(received);
    const { lines, images } = new KanjiPrinter().print(job);
    const text = receipts.textIn('ja', width).trimEnd().split('\n');
    const isDrawn = (line: string) =>
      /[\p{sc=Han}\p{sc=Kana}\p{sc=Hira}\p{sc=Grek}\p{sc=Arab}]/u.test(line);
    assert.equal(images, text.filter(isDrawn).length);
    for (const line of text.filter((line) => !isDrawn(line))) {
      assert.ok(lines.includes(line.replaceAll('−', '-').replaceAll('…', '.')), line);
    }
    assert.ok(!lines.some((line) => line.includes('?')), lines.join('\n'));
    const begin = Buffer.from([0x1d, 0x76, 0x30, 0, (width * 12) / 8, 0, 28, 0]);
    const at = job.indexOf(begin) + begin.length;
    const dots = job.subarray(at, at + ((width * 12) / 8) * 28);
    const black = dots.reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
    assert.ok(black > 100 && black < dots.length * 4, `${black} dots`);
  });
}

test('without drawings the receipt is in English, with the same amounts', async (t) => {
  const { place: position, received, close } = await networkPrinter();
  const receipts = await receiptServer(['Žluťou kůň'], true);
  t.after(() => Promise.all([close(), receipts.close()]));
  const printing = { printer: printerAt(position), width: 48, drawer: false } as const;
  await printReceipt(printing, `${receipts.url}/receipts/x`);
  const { lines } = new KanjiPrinter().print(Buffer.concat(received));
  const paper = lines.join('\n');
  assert.match(paper, /^Zlutou kun +/m);
  assert.match(paper, /^Total +2\.76 USDC$/m);
  assert.doesNotMatch(paper, /\?/);
});

test('a register with one code page gets text that fits it, no wider than before', async (t) => {
  const receipts = await receiptServer(['Pão de Açúcar']);
  t.after(() => receipts.close());
  for (const [charset, language] of [
    ['cp437', 'en'],
    ['utf8', 'ja'],
  ] as const) {
    const fits = (text: string) => fitsCharset(text, charset);
    const paper = { width: 48, ms: 5_000, fits } as const;
    const text = await receiptThatFits(`${receipts.url}/receipts/x`, paper);
    assert.equal(text, receipts.textIn(language, 48));
  }
  const line = `Pão À Ł ø${' '.repeat(15)}−2,50 €`;
  const bytes = encodeText(line, 'cp437');
  assert.equal(Buffer.from(bytes).toString('latin1'), `Pao A L o${' '.repeat(13)}-2,50 EUR`);
  assert.equal(bytes.length, line.length);
});

test('names of other scripts become Latin letters or blanks, and sums stay', () => {
  const wide = ' '.repeat(12);
  const printed: readonly (readonly [string, string])[] = [
    ['Ελληνικός καφές × 2        3,20', 'Ellinikos kafes x 2        3,20'],
    ['Χωριάτικη ψωμί   1,10', 'Choriatiki psomi 1,10'],
    ['Σούπα      4,00', 'Soupa      4,00'],
    ['Борщ     4,00', 'Borshch  4,00'],
    ['日替わり定食   ¥980', `${wide}   \u009d980`],
    ['寿司 A 🍣  ₩9,000', '     A     ?9,000'],
    ['قهوة عربية  2.50', `${' '.repeat(12)}2.50`],
  ];
  for (const [line, expected] of printed) {
    assert.equal(Buffer.from(encodeText(line, 'cp437')).toString('latin1'), expected);
  }
  assert.equal(fitsCharset('Ελληνικός καφές\nБорщ', 'cp437'), true);
  assert.equal(fitsCharset('日替わり定食', 'cp437'), false);
});

test('a device file gets the bytes unchanged; other targets are refused', async (t) => {
  const device = path.join(testFolder(t), 'lp0');
  await writeFile(device, '');
  await printerAt(device)(drawerBytes());
  assert.equal(hex(await readFile(device)), hex(drawerBytes()));
  for (const position of ['lp0', 'http://printer', 'tcp://']) {
    assert.throws(() => printerAt(position), SettingError);
  }
});

test('a missing printer fails at once', async () => {
  await assert.rejects(printerAt('tcp://127.0.0.1:1')(drawerBytes()));
});
