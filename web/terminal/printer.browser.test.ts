import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { present } from '#core/assert.ts';
import { openSharedSandbox, type SharedSandbox } from '#testing/shared-sandbox.ts';
import { drawerBytes, ticketBytes } from '../../reader/src/index.ts';
import { openBrowser, type TestBrowser } from '../testing/browser.ts';
import { addTestTerminal, openTill, paymentsOf } from '../testing/till.ts';

let shared: SharedSandbox;
let browser: TestBrowser;

before(async () => {
  [shared, browser] = await Promise.all([openSharedSandbox(), openBrowser()]);
});

after(async () => {
  await browser.close();
  await shared.close();
});

interface Printed {
  readonly jobs: string[];
  paper: boolean;
}

/**
 * Fakes a Web Serial port. The user chooses it once, and it rejects a second open while it is open.
 */
function addPort(): void {
  const printed = { jobs: [] as string[], paper: true };
  let isOpen = false;
  const port = {
    open: async () => {
      if (isOpen) throw new Error('InvalidStateError');
      isOpen = true;
    },
    close: async () => {
      isOpen = false;
    },
    get writable() {
      return new WritableStream({
        write: (bytes: Uint8Array) => {
          if (!printed.paper) throw new Error('NetworkError');
          const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
          printed.jobs.push(digits.join(''));
        },
      });
    },
  };
  const serial = { requestPort: async () => port, getPorts: async () => [port] };
  Object.defineProperty(navigator, 'serial', { value: serial });
  Object.assign(globalThis, { printed });
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

test('a printer on a cable prints receipts and opens the drawer, both only on wish', async () => {
  const { sandbox } = shared;
  const terminal = await addTestTerminal(sandbox);
  const till = await openTill(browser, sandbox, { terminal });
  const { page } = till;
  await page.addInitScript(addPort);
  await page.reload();
  const jobs = () =>
    page.evaluate(() => (globalThis as unknown as { printed: Printed }).printed.jobs);
  const pay = async () => {
    await till.ask('2.50');
    await till.testPass.selectOption('ok');
    await till.result('Paid').waitFor();
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

  await page.getByRole('button', { name: /^Receipt/ }).click();
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
  await page.getByText('Not printed: the printer is not responding.').waitFor();
  till.checkClean();
  await till.close();
});
