import assert from 'node:assert/strict';
import { PHONE } from '../../../web/testing/browser.ts';
import { fundedAccount, injectWallet } from '../../../web/testing/payer.ts';
import {
  addTestTerminal,
  openDisplay,
  openTill,
  paymentsOf,
  type TestTerminal,
  type TillWindow,
} from '../../../web/testing/till.ts';
import type { Journey, JourneyScene } from './journey.ts';

/** Journeys that start at the till. */

async function pay(till: TillWindow, amount: string): Promise<void> {
  await till.ask(amount);
  await till.testPass.selectOption('ok');
  await till.result('Paid').waitFor();
}

async function tillAt({ sandbox, browser }: JourneyScene, terminal: TestTerminal, width: number) {
  const options = { viewport: { width, height: width === 390 ? 844 : 820 } };
  const till = await openTill(browser, sandbox, { terminal, options });
  browser.startOver();
  return till;
}

/** Returns the pay link of the terminal's open payment, as in its QR code. */
async function linkOfOpen({ sandbox }: JourneyScene, { deviceKey }: TestTerminal): Promise<string> {
  const response = await fetch(`${sandbox.base_url}/device/v1/payment_intents/next?wait=5`, {
    headers: { Authorization: `Bearer ${deviceKey}` },
  });
  const { payment_url: url } = (await response.json()) as { payment_url: string };
  return url;
}

const stranger: Journey = {
  name: 'a stranger pays by QR code and gets the receipt',
  width: 390,
  run: async (scene) => {
    const { sandbox, browser } = scene;
    const terminal = await addTestTerminal(sandbox);
    const till = await tillAt(scene, terminal, 1180);
    await till.amount.fill('2.50');
    await till.charge.click();
    await till.page.getByRole('img', { name: 'Pay with any wallet' }).waitFor();
    const phone = await browser.open(PHONE);
    await injectWallet(phone, sandbox, await fundedAccount(sandbox, 3_000_000n));
    await phone.page.goto(await linkOfOpen(scene, terminal));
    await phone.page.getByRole('button', { name: /^Pay / }).click();
    await phone.page.getByText('Paid', { exact: true }).first().waitFor();
    await till.result('Paid').waitFor();
    await till.page.getByRole('button', { name: 'Code' }).click();
    await till.page.getByRole('dialog').getByRole('img', { name: 'The receipt' }).waitFor();
    // The address that the phone's camera reads.
    const [payment] = await paymentsOf(sandbox, terminal);
    await phone.page.goto(String(payment?.receipt_url));
    await phone.page.getByText('2.50').first().waitFor();
    assert.match(phone.page.url(), /\/receipts\//);
    await phone.close();
    await till.close();
  },
};

const refund: Journey = {
  name: 'a refund next week, at another till',
  width: 390,
  run: async (scene) => {
    const { sandbox } = scene;
    const terminal = await addTestTerminal(sandbox);
    const first = await tillAt(scene, terminal, 390);
    await pay(first, '2.50');
    await first.close();
    const [payment] = await paymentsOf(sandbox, terminal);
    const other = await addTestTerminal(sandbox);
    const { page, close } = await tillAt(scene, other, 390);
    await page.getByRole('link', { name: 'Find a sale' }).click();
    const field = page.getByRole('textbox', { name: 'Receipt or order' });
    await field.fill(String(payment?.receipt_number));
    await page.getByRole('textbox', { name: 'Amount' }).fill('2.50');
    await page.getByRole('button', { name: 'Look it up' }).click();
    await page.getByRole('button', { name: 'Refund' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Manager code' }).fill(await other.managerCode());
    await dialog.getByRole('button', { name: 'Refund' }).click();
    await page.getByText('Refunded', { exact: true }).first().waitFor();
    assert.equal((await paymentsOf(sandbox, terminal))[0]?.status, 'refunded');
    await close();
  },
};

const twice: Journey = {
  name: 'a reader that reads twice',
  width: 1180,
  quick: true,
  run: async (scene) => {
    const { sandbox } = scene;
    const terminal = await addTestTerminal(sandbox);
    const till = await tillAt(scene, terminal, 1180);
    const read = () =>
      Promise.all(
        [...String(sandbox.test.passes.ok), 'Enter'].map((key) => till.page.keyboard.press(key)),
      );
    await till.ask('2.50');
    await read();
    await till.result('Paid').waitFor();
    await read();
    await till.page.getByText('Already paid', { exact: true }).waitFor();
    await till.newPayment.click();
    assert.equal(await till.amount.inputValue(), '');
    assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
    await till.close();
  },
};

/** Must run last, because afterwards its owner has a second factor. */
export const FORGOTTEN_PIN: Journey = {
  name: 'a forgotten PIN',
  width: 390,
  run: async (scene) => {
    const terminal = await addTestTerminal(scene.sandbox);
    const { page, close } = await tillAt(scene, terminal, 390);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('textbox', { name: 'PIN' }).fill('2468');
    await page.getByRole('button', { name: 'Set PIN' }).click();
    await page.getByRole('button', { name: 'Lock' }).click();
    scene.browser.startOver();
    await page.getByRole('button', { name: /^Forgot the PIN/ }).click();
    const code = await terminal.openingCode();
    await page.getByRole('textbox', { name: 'Pairing code' }).fill(code);
    await page.getByRole('button', { name: /^Pair/ }).click();
    await page.getByRole('button', { name: 'Pair and remove the PIN' }).click();
    await page.getByRole('button', { name: 'Set PIN' }).waitFor();
    await close();
  },
};

const shift: Journey = {
  name: 'a shift with two cashiers',
  width: 820,
  run: async (scene) => {
    const terminal = await addTestTerminal(scene.sandbox);
    const till = await tillAt(scene, terminal, 820);
    const { page } = till;
    for (const cashier of ['Ada', 'Ben']) {
      await page.getByRole('link', { name: 'Settings' }).click();
      await page.getByRole('textbox', { name: 'Cashier' }).fill(cashier);
      await page.getByRole('link', { name: 'Keypad' }).click();
      await pay(till, '2.10');
      await till.newPayment.click();
    }
    await page.getByRole('link', { name: 'Totals' }).click();
    for (const cashier of ['Ada', 'Ben']) {
      const own = page.getByRole('heading', { name: cashier, exact: true });
      await page.locator('section').filter({ has: own }).getByText('2.10').first().waitFor();
    }
    await page.getByText('4.20 USDC').first().waitFor();
    await page.getByRole('button', { name: 'End shift' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End shift' }).click();
    await page.getByRole('button', { name: /^Start shift/ }).waitFor();
    await till.close();
  },
};

const tablet: Journey = {
  name: 'a sale on a tablet',
  width: 1180,
  run: async (scene) => {
    const terminal = await addTestTerminal(scene.sandbox);
    const till = await tillAt(scene, terminal, 1180);
    for (const key of ['1', '2', '.', '5']) {
      await till.page.getByRole('button', { name: key, exact: true }).click();
    }
    await till.charge.click();
    await till.testPass.selectOption('ok');
    await till.result('Paid').waitFor();
    await till.newPayment.click();
    assert.equal((await paymentsOf(scene.sandbox, terminal))[0]?.amount, 12_500_000);
    await till.close();
  },
};

const display: Journey = {
  name: 'a customer display',
  width: 1180,
  quick: true,
  run: async (scene) => {
    const terminal = await addTestTerminal(scene.sandbox);
    const till = await tillAt(scene, terminal, 1180);
    const { page } = till;
    const shown = await openDisplay(till);
    await shown.getByText('Welcome').waitFor();
    await page.getByRole('link', { name: 'Keypad' }).click();
    await till.ask('2.50');
    await shown.getByRole('img', { name: 'Pay with any wallet' }).waitFor();
    await till.testPass.selectOption('ok');
    await shown.getByRole('status').getByText('Paid').waitFor();
    await till.close();
  },
};

const offline: Journey = {
  name: 'offline in the middle of a sale, and back',
  width: 390,
  run: async (scene) => {
    const terminal = await addTestTerminal(scene.sandbox);
    const till = await tillAt(scene, terminal, 390);
    await till.ask('2.50');
    await till.context.setOffline(true);
    await till.testPass.selectOption('ok');
    await till.page.getByText('Not sent', { exact: true }).waitFor();
    await till.context.setOffline(false);
    await till.testPass.waitFor();
    await till.testPass.selectOption('ok');
    await till.result('Paid').waitFor();
    assert.equal((await paymentsOf(scene.sandbox, terminal)).length, 1);
    await till.close();
  },
};

export const AT_THE_COUNTER: readonly Journey[] = [
  stranger,
  refund,
  twice,
  shift,
  tablet,
  display,
  offline,
];
