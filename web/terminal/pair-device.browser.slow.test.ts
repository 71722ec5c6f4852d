import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownStage } from '../testing/stage.ts';
import { addTestTerminal, openTill, type TestTerminal, type TillWindow } from '../testing/till.ts';

/** A private sandbox, because the last test gives the demo owner a second factor. */
const stage = ownStage();

/** Returns the terminal's id in storage, which may differ from the one on screen. */
function keptTerminal({ page }: TillWindow): Promise<string> {
  return page.evaluate(
    () => JSON.parse(localStorage.getItem('tapline.terminal.pairing') ?? '{}').terminal,
  );
}

/** Opens a link as if the device had scanned it. */
async function openLink({ page }: TillWindow, part: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(`${stage().sandbox.web_url}/terminal#${part}`);
}

async function setPin(till: TillWindow, pin: string): Promise<void> {
  await till.page.getByRole('link', { name: 'Settings' }).click();
  await till.page.getByRole('textbox', { name: 'PIN' }).fill(pin);
  await till.page.getByRole('button', { name: 'Set PIN' }).click();
  await till.page.getByRole('button', { name: 'Lock' }).waitFor();
}

async function twoTerminals(): Promise<readonly [TillWindow, TestTerminal, TestTerminal]> {
  const { sandbox, browser } = stage();
  const own = await addTestTerminal(sandbox, 'Counter');
  const other = await addTestTerminal(sandbox, 'Elsewhere');
  return [await openTill(browser, sandbox, { terminal: own }), own, other];
}

const AGAIN = 'Switch this till to another terminal?';

test('a link alone never moves a paired till to another terminal', async () => {
  const [till, own, other] = await twoTerminals();
  const { page } = till;
  for (const part of [`key=${other.deviceKey}`, `pair=${await other.pairingCode()}`]) {
    await openLink(till, part);
    await page.getByRole('heading', { name: AGAIN }).waitFor();
    await page.getByText('Counter', { exact: true }).waitFor();
    await page.getByText('Elsewhere', { exact: true }).waitFor();
    assert.equal(await page.getByText('Test mode', { exact: true }).count(), 2);
    await till.checkAccessibility();
    assert.equal(await keptTerminal(till), own.id);
    await page.getByRole('button', { name: 'Keep the current terminal' }).click();
    await till.amount.waitFor();
    assert.equal(await keptTerminal(till), own.id);
  }
  await openLink(till, `key=${other.deviceKey}`);
  await page.getByRole('button', { name: /^Pair/ }).click();
  await till.amount.waitFor();
  assert.equal(await keptTerminal(till), other.id, 'with a click it does');
  await till.close();
});

test('a pairing link opened on a locked till asks for the PIN first', async () => {
  const [till, own, other] = await twoTerminals();
  const { page } = till;
  await setPin(till, '2468');
  await page.getByRole('button', { name: 'Lock' }).click();
  await openLink(till, `key=${other.deviceKey}`);
  await page.getByRole('button', { name: /^Pair/ }).click();
  await page.getByRole('textbox', { name: 'PIN' }).fill('1111');
  await page.getByRole('button', { name: 'Unlock' }).click();
  await page.getByText('Wrong PIN.').waitFor();
  assert.equal(await keptTerminal(till), own.id);
  await page.getByRole('textbox', { name: 'PIN' }).fill('2468');
  await page.getByRole('button', { name: 'Unlock' }).click();
  await page.getByRole('heading', { name: 'Locked' }).waitFor();
  await page.waitForFunction(
    (id) => localStorage.getItem('tapline.terminal.pairing')?.includes(id),
    other.id,
  );
  await till.close();
});

test('a till with an open payment is not paired again', async () => {
  const [till, own, other] = await twoTerminals();
  await till.ask('2.50');
  await openLink(till, `key=${other.deviceKey}`);
  await till.page.getByText('Finish it first.').waitFor();
  assert.equal(await till.page.getByRole('button', { name: /^Pair/ }).count(), 0);
  await till.page.getByRole('button', { name: 'Keep the current terminal' }).click();
  await till.testPass.waitFor();
  assert.equal(await keptTerminal(till), own.id);
  await till.close();
});

test('a live till cannot be paired again to test mode, or without a manager', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open();
  const { page } = window;
  await page.goto(`${sandbox.web_url}/terminal#key=${sandbox.live.device_key}`);
  await page.getByRole('button', { name: /^Start shift/ }).waitFor();
  const till = { ...window, page } as TillWindow;
  await openLink(till, `key=${sandbox.test.device_key}`);
  await page.getByText('A link cannot turn it into a test terminal.').waitFor();
  assert.equal(await page.getByRole('button', { name: /^Pair/ }).count(), 0);
  const other = await addTestTerminal(sandbox, 'Another shop', 'live');
  await openLink(till, `key=${other.deviceKey}`);
  await page.getByRole('textbox', { name: 'Unlock code' }).fill(await other.pairingCode());
  await page.getByRole('button', { name: 'Use the unlock code' }).click();
  await page.getByText('That is not an unlock code').waitFor();
  assert.equal(await keptTerminal(till), sandbox.live.terminal);
  await window.close();
});

test('only a code made with a fresh second factor unlocks a till and removes its PIN', async () => {
  const [till, own] = await twoTerminals();
  const { page } = till;
  await setPin(till, '2468');
  await page.getByRole('button', { name: 'Lock' }).click();
  await page.getByRole('button', { name: /^Forgot the PIN/ }).click();
  await page.getByRole('textbox', { name: 'Pairing code' }).fill(await own.pairingCode());
  await page.getByRole('button', { name: /^Pair/ }).click();
  await page.getByRole('button', { name: 'Pair with this till’s PIN' }).waitFor();
  const fresh = await own.openingCode();
  await page.reload();
  await page.getByRole('heading', { name: 'Locked' }).waitFor();
  await page.getByRole('button', { name: /^Forgot the PIN/ }).click();
  await page.getByRole('textbox', { name: 'Pairing code' }).fill(fresh);
  await page.getByRole('button', { name: /^Pair/ }).click();
  await page.getByRole('button', { name: 'Pair and remove the PIN' }).click();
  await page.getByRole('button', { name: 'Set PIN' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Lock' }).count(), 0);
  assert.equal(await keptTerminal(till), own.id);
  await till.close();
});
