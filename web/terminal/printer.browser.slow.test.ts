import assert from 'node:assert/strict';
import { test } from 'node:test';
import { present } from '#core/assert.ts';
import { KanjiPrinter } from '#testkit/network/kanji-printer.ts';
import { drawerBytes, ticketBytes } from '../../reader/src/index.ts';
import { cellsOf } from '../../reader/src/printing/escpos.ts';
import { addPrinter, type Printed, printedJobs } from '../testing/printer.ts';
import { sharedStage } from '../testing/stage.ts';
import { newTill, paymentsOf, postAsMerchant } from '../testing/till.ts';

const stage = sharedStage();

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

test('a USB printer prints receipts and opens the drawer, each only when asked', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage());
  await page.addInitScript(addPrinter);
  await page.reload();
  const jobs = () => printedJobs(page);
  const pay = async () => {
    await till.sell('2.50');
  };
  await pay();
  await till.newPayment.click();
  assert.deepEqual(await jobs(), [], 'both are off at first');

  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('button', { name: /^Connect a printer/ }).click();
  await page.getByText('58 mm').click();
  await page.getByText('Open the drawer after each payment').click();
  await till.checkAccessibility();
  await page.goto(`${sandbox.web_url}/terminal`);
  await pay();
  await page.waitForFunction(
    () => (globalThis as unknown as { printed: Printed }).printed.jobs.length === 1,
  );
  assert.deepEqual(await jobs(), [hex(drawerBytes())]);

  await page.getByRole('button', { name: /^Print/ }).click();
  await page.waitForFunction(
    () => (globalThis as unknown as { printed: Printed }).printed.jobs.length === 2,
  );
  const [payment] = await paymentsOf(sandbox, terminal);
  const address = String(present(payment, 'the payment').receipt_url);
  const text = await (await fetch(`${address}.txt?width=32`)).text();
  assert.equal((await jobs())[1], hex(ticketBytes({ text, address })));

  await page.evaluate(() => {
    (globalThis as unknown as { printed: Printed }).printed.paper = false;
  });
  await page.getByRole('button', { name: /^Print/ }).click();
  const alert = page.getByRole('alert');
  await alert.filter({ hasText: 'Not printed: the printer is not responding.' }).waitFor();
  await till.newPayment.click();
  await pay();
  await alert.filter({ hasText: 'The printer is not responding.' }).waitFor();
  till.checkClean();
  await till.close();
});

for (const alike of [false, true]) {
  const devices = alike ? 'two devices with the same adapter' : 'two different devices';
  test(`of ${devices}, the chosen printer prints, at its speed, also after a reload`, async () => {
    const { sandbox, till, page } = await newTill(stage());
    await page.addInitScript(addPrinter, alike);
    await page.reload();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('button', { name: /^Connect a printer/ }).click();
    await page.getByRole('combobox', { name: 'Printer speed' }).selectOption('115200');
    const openDrawer = page.getByRole('button', { name: 'Open the drawer', exact: true });
    const printed = () =>
      page.evaluate(() => (globalThis as unknown as { printed: Printed }).printed);
    for (const reloads of [false, true]) {
      if (reloads) await page.goto(`${sandbox.web_url}/terminal/settings`);
      await openDrawer.click();
      await page.waitForFunction(() => {
        const { jobs, lost } = (globalThis as unknown as { printed: Printed }).printed;
        return jobs.length + lost.length > 0;
      });
      const { jobs, speeds, lost } = await printed();
      assert.deepEqual([jobs, speeds, lost], [[hex(drawerBytes())], [115_200], []]);
    }
    await till.close();
  });
}

/** A line that was printed as dots. */
interface Image {
  readonly width: number;
  readonly rows: number;
  isBlack(x: number, y: number): boolean;
}

/** Returns the images (`GS v 0`) among the bytes of a job, in their order. */
function imagesOf(job: string): Image[] {
  const bytes = Buffer.from(job, 'hex');
  const images: Image[] = [];
  const begin = Buffer.from([0x1d, 0x76, 0x30, 0]);
  for (let at = bytes.indexOf(begin); at >= 0; at = bytes.indexOf(begin, at)) {
    const [perRow, rows] = [bytes.readUInt16LE(at + 4), bytes.readUInt16LE(at + 6)];
    const dots = bytes.subarray(at + 8, at + 8 + perRow * rows);
    assert.equal(dots.length, perRow * rows);
    const isBlack = (x: number, y: number) =>
      ((dots[y * perRow + (x >> 3)] ?? 0) & (0x80 >> (x & 7))) !== 0;
    images.push({ width: perRow * 8, rows, isBlack });
    at += 8 + dots.length;
  }
  return images;
}

/** Width in dots of a character cell in font A of receipt printers. */
const CELL = 12;

/** Checks that the image has dots in the cells of each word of its line, and nowhere else. */
function checkPlaces(line: string, image: Image): void {
  const hasInk = (from: number, to: number) => {
    for (let x = Math.max(0, from); x < Math.min(to, image.width); x++) {
      for (let y = 0; y < image.rows; y++) if (image.isBlack(x, y)) return true;
    }
    return false;
  };
  let clear = 0;
  for (const { 0: part, index } of line.matchAll(/\S+(?: \S+)*/g)) {
    const from = cellsOf(line.slice(0, index)) * CELL;
    const to = from + cellsOf(part) * CELL;
    assert.ok(hasInk(from, to), `no dots for ${part}`);
    // A letter may extend slightly beyond its cell.
    assert.ok(!hasInk(clear, from - 2), `dots before ${part}`);
    clear = to + 2;
  }
  assert.ok(!hasInk(clear, image.width), `dots behind ${line}`);
}

for (const width of [32, 48] as const) {
  test(`${width} columns: the code page's letters are text, Japanese and Arabic dots`, async () => {
    const { sandbox, till, page, terminal } = await newTill(stage());
    await page.addInitScript(addPrinter);
    await page.reload();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('button', { name: /^Connect a printer/ }).click();
    await page.getByText(width === 32 ? '58 mm' : '80 mm').click();
    await page.goto(`${sandbox.web_url}/terminal`);
    await till.amount.waitFor();
    const western = ['Crème brûlée 5 €', 'Ñ, ø, ß', 'Tea – hot'];
    const names = ['日替わり定食', 'قهوة عربية', ...western];
    const line_items = names.map((name) => {
      return { name, quantity: 1, unit_amount: 1_000_000, tax_rate: 700 };
    });
    const sale = { amount: 5_000_000, line_items, terminal: terminal.id };
    await postAsMerchant(sandbox, '/payment_intents', sale);
    await till.pay();
    await page.getByRole('button', { name: /^Print/ }).click();
    await page.waitForFunction(
      () => (globalThis as unknown as { printed: Printed }).printed.jobs.length === 1,
    );
    const [job = ''] = await page.evaluate(
      () => (globalThis as unknown as { printed: Printed }).printed.jobs,
    );
    const [payment] = await paymentsOf(sandbox, terminal);
    const text = await (await fetch(`${payment?.receipt_url}.txt?width=${width}`)).text();
    const drawn = text
      .split('\n')
      .filter((line) => /[\p{Script=Han}\p{Script=Arabic}]/u.test(line));
    const images = imagesOf(job);
    assert.deepEqual([drawn.length, images.length], [2, 2]);
    drawn.forEach((line, at) => {
      const image = present(images[at], 'an image');
      assert.deepEqual([image.width, image.rows], [width * CELL, 28]);
      checkPlaces(line, image);
    });
    const { lines } = new KanjiPrinter().print(Buffer.from(job, 'hex'));
    for (const name of western) {
      const shown = name.replace('–', '-');
      assert.ok(
        lines.some((line) => line.includes(shown)),
        `${shown} in ${lines.join('\n')}`,
      );
    }
    await till.close();
  });
}
