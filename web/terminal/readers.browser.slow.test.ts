import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { present } from '#core/assert.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { PHONE } from '../testing/browser.ts';
import { addCamera, type Camera, cameraOf, showCode } from '../testing/detecting-camera.ts';
import { addFilmingCamera, film } from '../testing/filming-camera.ts';
import { sharedStage } from '../testing/stage.ts';
import {
  addTestTerminal,
  intentsOf,
  newTill,
  paymentsOf,
  postAsMerchant,
  tillOf,
} from '../testing/till.ts';
import { readyWallet } from '../testing/wallet.ts';

const stage = sharedStage();

/** Adds a Web NFC reader to Chromium, which has none. Tests hold passes to it. */
async function addNfcReader(page: Page): Promise<void> {
  await page.addInitScript(() => {
    class NDEFReader extends EventTarget {
      async scan({ signal }: { signal: AbortSignal }): Promise<void> {
        const hold = (event: Event) => {
          const text = (event as CustomEvent<string>).detail;
          const data = new DataView(new TextEncoder().encode(text).buffer);
          const recordType = text.startsWith('https:') ? 'url' : 'text';
          const records = [{ recordType, encoding: 'utf-8', data }];
          this.dispatchEvent(Object.assign(new Event('reading'), { message: { records } }));
        };
        window.addEventListener('test-pass-held', hold, { signal });
      }
    }
    Object.assign(window, { NDEFReader });
  });
}

function passOf({ test: { passes } }: SandboxFile): string {
  return present(passes.ok, 'the pass ok');
}

/** URLs of a public service use https; the sandbox's do not. */
function secure(url: string): string {
  return url.replace(/^http:/, 'https:');
}

function holdPass(page: Page, text: string): Promise<void> {
  return page.evaluate((detail) => {
    window.dispatchEvent(new CustomEvent('test-pass-held', { detail }));
  }, text);
}

test('a pass that is held to the device is a tap; any other tag is not', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage(), PHONE, {
    prepare: addNfcReader,
  });
  // While no payment waits, a pass has no effect.
  await holdPass(page, passOf(sandbox));
  await till.ask('2.50');
  await page.getByText('Hold the pass against this device').waitFor();
  await holdPass(page, 'https://shop.example.com/menu');
  await page.getByText('That isn’t a pass. Nothing was charged.').waitFor();
  await holdPass(page, secure(terminal.tagUrl));
  await page.getByText('That is this till’s own tag,').waitFor();
  await holdPass(page, secure((await addTestTerminal(sandbox)).tagUrl));
  await page.getByText('That tag belongs to another till, or its address was replaced.').waitFor();
  const chip = await terminal.tagChip();
  await holdPass(page, secure(chip.tap()));
  await page.getByText('That is this till’s own tag,').waitFor();
  await holdPass(page, passOf(sandbox));
  await till.result('Paid').waitFor();
  // The pass is still in the field and must not pay again.
  await holdPass(page, passOf(sandbox));
  await page.getByText('Already paid', { exact: true }).waitFor();
  await till.newPayment.click();
  await till.amount.waitFor();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  till.checkClean();
  await till.close();
});

/** Longer than the gap that separates two runs of keys. */
const PAUSE_MS = 400;

/** Sends all keys without pauses, like a reader, however slow the test machine is. */
function typeAsReader({ keyboard }: Page, text: string): Promise<unknown> {
  return Promise.all([...text, 'Enter'].map((key) => keyboard.press(key)));
}

/**
 * Types like a reader with a US layout on a computer with a German one.
 * @param lacks True if the events have no `code`.
 */
function typeUnderGerman(page: Page, text: string, lacks = false): Promise<void> {
  const keys = [...text].map((letter) => {
    const key = { y: 'z', z: 'y', Y: 'Z', Z: 'Y', _: '?' }[letter] ?? letter;
    const shiftKey = /[A-Z_]/.test(letter);
    const position = /\d/.test(letter) ? `Digit${letter}` : `Key${letter.toUpperCase()}`;
    return { key, shiftKey, code: lacks ? '' : letter === '_' ? 'Minus' : position };
  });
  return page.evaluate((clicked) => {
    for (const key of [...clicked, { key: 'Enter', code: 'Enter', shiftKey: false }]) {
      const event = { ...key, bubbles: true, cancelable: true };
      document.body.dispatchEvent(new KeyboardEvent('keydown', event));
    }
  }, keys);
}

test('a reader that acts as a keyboard is recognized wherever the focus is', async () => {
  const { sandbox, till, terminal } = await newTill(stage());
  await till.ask('2.50');
  const read = (text: string) => typeAsReader(till.page, text);
  // The reader's Enter must not click the focused button.
  await till.cancel.focus();
  await read('4006381333931');
  await till.page.getByText('That isn’t a pass. Nothing was charged.').waitFor();
  await read('nfc_cut');
  await typeUnderGerman(till.page, passOf(sandbox), true);
  await till.page.getByText('This reader uses another keyboard layout').waitFor();
  assert.equal((await intentsOf(sandbox, terminal))[0]?.last_payment_error, null);
  await typeUnderGerman(till.page, passOf(sandbox));
  await till.result('Paid').waitFor();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  await till.close();
});

test('a repeated reading neither clears a result nor types into a field', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage());
  const read = () => typeAsReader(page, passOf(sandbox));
  await till.ask('2.50');
  await read();
  await till.result('Paid').waitFor();
  await till.newPayment.focus();
  await read();
  const toast = page.getByText('Already paid', { exact: true });
  await toast.waitFor();
  const [said, button] = [await toast.boundingBox(), await till.newPayment.boundingBox()];
  assert.ok(
    said !== null && button !== null && said.y + said.height < button.y,
    'covers no button',
  );
  await typeAsReader(page, 'nfc_cut');
  assert.equal(await till.result('Paid').count(), 1, 'the result stays');
  await till.newPayment.click();

  await till.amount.pressSequentially('1.2');
  // A person pauses between keys. A reader does not.
  await page.waitForTimeout(PAUSE_MS);
  await read();
  await page.getByText('No pass is needed now. Nothing was charged.').first().waitFor();
  assert.equal(await till.amount.inputValue(), '1.2', 'what was typed stays as it was');
  await page.reload();
  assert.equal(await till.amount.inputValue(), '1.2', 'after a reload too');
  await till.amount.press('Enter');
  await till.testPass.waitFor();
  await till.cancel.click();
  await till.result('Canceled').waitFor();

  await page.goto(`${sandbox.web_url}/terminal/history/last`);
  await page.getByRole('button', { name: 'Refund' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Amount' }).focus();
  await read();
  assert.equal(await dialog.getByRole('textbox', { name: 'Amount' }).inputValue(), '2.50');
  await dialog.waitFor();
  assert.equal((await paymentsOf(sandbox, terminal))[0]?.amount_refunded, 0);
  assert.equal((await intentsOf(sandbox, terminal)).length, 2);
  await till.close();
});

test('a terminal pairs by the QR code of its link', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const window = await browser.open(PHONE);
  const { page } = window;
  const link = `${sandbox.web_url}/terminal#pair=${await terminal.pairingCode()}`;
  await addCamera(page, link);
  await page.goto(`${sandbox.web_url}/terminal`);
  await page.getByRole('button', { name: 'Scan the code' }).click();
  await page.getByRole('button', { name: /^Start shift/ }).waitFor();
  await page.getByText('Counter of a test').waitFor();
  assert.equal(new URL(page.url()).hash, '', 'no code stays in the address');
  window.checkClean();
  await window.close();
});

test('a camera that stops says so and starts again', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open(PHONE);
  const { page } = window;
  const { pairingCode } = await addTestTerminal(sandbox);
  await addCamera(page);
  await page.goto(`${sandbox.web_url}/terminal`);
  await page.getByRole('button', { name: 'Scan the code' }).click();
  await page.waitForFunction(() => (window as unknown as { camera: Camera }).camera.running === 1);
  // Another app takes the camera.
  await page.evaluate(() => {
    const { srcObject } = document.querySelector('video') as HTMLVideoElement;
    for (const track of (srcObject as MediaStream).getTracks()) {
      track.dispatchEvent(new Event('ended'));
    }
  });
  const alert = page.getByRole('alert');
  await alert.getByText('The camera stopped.').waitFor();
  await alert.getByRole('button', { name: 'Try again' }).click();
  await page.locator('video').waitFor();
  await showCode(page, `${sandbox.web_url}/terminal#pair=${await pairingCode()}`);
  await page.getByRole('button', { name: /^Start shift/ }).waitFor();
  assert.ok((await cameraOf(page)).asked >= 2);
  window.checkClean();
  await window.close();
});

test('a decoder that does not load is not blamed on the camera', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open({ ...PHONE, serviceWorkers: 'block' });
  const { page } = window;
  await addFilmingCamera(page, 'any code');
  await page.route(/qr-decoder/, (route) => route.abort());
  await page.goto(`${sandbox.web_url}/terminal`);
  const scan = page.getByRole('button', { name: 'Scan the code' });
  // The first failure reloads the page, as after an update, and the file is then available.
  await Promise.all([page.waitForEvent('load'), scan.click()]);
  await scan.click();
  await page.getByRole('alert').getByText('The code reader could not be loaded.').waitFor();
  await window.close();
});

test('only a browser without a barcode detector loads our decoder', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const window = await browser.open(PHONE);
  const { page } = window;
  const decoders: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('qr-decoder')) decoders.push(request.url());
  });
  // Simulates a slow phone, on which one detection takes longer than the interval between two.
  await page.addInitScript(() => {
    const { getImageData } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.getImageData = function slow(...args) {
      const until = performance.now() + 500;
      while (performance.now() < until);
      return getImageData.apply(this, args as never);
    };
  });
  const link = `${sandbox.web_url}/terminal#pair=${await terminal.pairingCode()}`;
  await addFilmingCamera(page, link);
  await page.goto(`${sandbox.web_url}/terminal`);
  const scan = page.getByRole('button', { name: 'Scan the code' });
  await scan.waitFor();
  assert.equal(decoders.length, 0, 'no decoder before the first scan');
  await scan.click();
  await page.getByRole('button', { name: /^Start shift/ }).waitFor();
  assert.equal(decoders.length, 1);
  window.checkClean();
  await window.close();
});

test('our decoder reads the second of two codes if the first is foreign', async () => {
  const { sandbox, browser } = stage();
  const foreign = 'https://shop.example.com/menu?table=12&lang=en&code=0123456789abcdef01234567';
  for (const foreignAt of [0, 1]) {
    const terminal = await addTestTerminal(sandbox);
    const window = await browser.open(PHONE);
    const { page } = window;
    await addFilmingCamera(page);
    await page.goto(`${sandbox.web_url}/terminal`);
    const link = `${sandbox.web_url}/terminal#pair=${await terminal.pairingCode()}`;
    await film(page, ...[link].toSpliced(foreignAt, 0, foreign));
    await page.getByRole('button', { name: 'Scan the code' }).click();
    await page.getByRole('button', { name: /^Start shift/ }).waitFor();
    await window.closeClean();
  }
});

test("the camera is asked for at the start of the shift, and reads a wallet's code", async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { wallet } = await readyWallet(browser, sandbox, PHONE);
  await wallet.button(/^Show code/).click();
  await wallet.inDialog(/^New code$/).click();
  const code = await wallet.field('Code').inputValue();

  const window = await browser.open(PHONE);
  const { page } = window;
  await addCamera(page);
  await page.goto(`${sandbox.web_url}/terminal#key=${terminal.deviceKey}`);
  const start = page.getByRole('button', { name: /^Start shift/ });
  await start.waitFor();
  assert.equal((await cameraOf(page)).asked, 0, 'no camera before the shift starts');
  await start.click();
  const till = tillOf(window);
  await till.amount.waitFor();
  const { asked: input, running } = await cameraOf(page);
  assert.deepEqual(
    { asked: input, running },
    { asked: 1, running: 0 },
    'asked once, and off again',
  );
  await till.ask('2.50');
  await page.getByRole('button', { name: 'Scan a code' }).click();
  await page.getByRole('dialog').waitFor();
  await window.checkAccessibility();
  await showCode(page, code);
  await till.result('Paid').waitFor();
  assert.equal((await cameraOf(page)).running, 0, 'the camera is off');
  const [payment] = await paymentsOf(sandbox, terminal);
  assert.deepEqual(payment?.payment_method, { type: 'wallet_pass', credential: 'qr' });
  window.checkClean();
  await window.close();
  await wallet.close();
});

test('a card with a chip pays once per tap; its last address pays nothing more', async () => {
  const { sandbox, browser } = stage();
  const { wallet } = await readyWallet(browser, sandbox);
  await wallet.page.getByRole('link', { name: 'Cards with a chip' }).click();
  await wallet.button(/^Add card/).click();
  const made = wallet.page.waitForResponse((response) => response.url().endsWith('/v1/cards'));
  await wallet.inDialog(/^Add card/).click();
  const { id } = (await (await made).json()) as { id: string };
  await wallet.close();
  const { url } = await postAsMerchant(sandbox, `/test_helpers/cards/${id}/taps`);
  const given = secure(String(url));

  const { till, page, terminal } = await newTill(stage(), PHONE, { prepare: addNfcReader });
  await till.ask('2.50');
  await holdPass(page, given);
  await till.result('Paid').waitFor();
  await till.newPayment.click();
  await till.ask('1.00');
  await holdPass(page, given);
  await till.result('Declined').waitFor();
  const payments = await paymentsOf(sandbox, terminal);
  assert.equal(payments.length, 1);
  assert.deepEqual(payments[0]?.payment_method, { type: 'wallet_pass', credential: 'nfc_sun' });
  till.checkClean();
  await till.close();
});
