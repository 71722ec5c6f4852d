import { test } from 'node:test';
import { NARROW, type TestWindow } from '../testing/browser.ts';
import { checkPseudoLanguage } from '../testing/pseudo-language.ts';
import { sharedStage } from '../testing/stage.ts';
import { TESTED_LANGUAGE } from '../testing/tested-language.ts';
import { addTestTerminal } from '../testing/till.ts';

/**
 * Tests the cashier screens in the pseudo-language, which is longer than English and runs right to
 * left.
 */

const stage = sharedStage();

const control = ({ page }: TestWindow, name: string) => page.locator(`[data-name="${name}"]`);
const result = ({ page }: TestWindow, name: string) => page.locator(`[data-result="${name}"]`);

async function openPseudoTill(path: string): Promise<TestWindow> {
  const { sandbox, browser } = stage();
  const window = await browser.open(NARROW);
  const url = sandbox.web_url;
  await window.context.addCookies([{ name: 'tapline_language', value: TESTED_LANGUAGE, url }]);
  await window.page.goto(`${url}${path}`);
  return window;
}

async function follow(window: TestWindow, route: string): Promise<void> {
  await window.page.locator(`nav a[href="terminal/${route}"]`).click();
  await window.idle();
  await checkPseudoLanguage(window);
}

test('the pairing screen is translated and fits', async () => {
  const window = await openPseudoTill('/terminal');
  await control(window, 'Pairing code').waitFor();
  await checkPseudoLanguage(window);
  await window.close();
});

test('the screens of a shift are translated and fit: sales, totals, history', async () => {
  const { sandbox } = stage();
  const terminal = await addTestTerminal(sandbox);
  const window = await openPseudoTill(`/terminal#key=${terminal.deviceKey}`);
  await control(window, 'Start shift').waitFor();
  await checkPseudoLanguage(window);
  await control(window, 'Start shift').click();
  await control(window, 'Amount').waitFor();
  await checkPseudoLanguage(window);
  await control(window, 'Amount').fill('1,500');
  await checkPseudoLanguage(window);
  await control(window, 'Amount').fill('2.50');
  await control(window, 'Charge').click();
  await control(window, 'Test pass').waitFor();
  await checkPseudoLanguage(window);
  await control(window, 'Test pass').selectOption('insufficient_funds');
  await result(window, 'Declined').waitFor();
  await checkPseudoLanguage(window);
  await control(window, 'Test pass').selectOption('ok');
  await result(window, 'Paid').waitFor();
  await window.idle();
  await checkPseudoLanguage(window);
  await follow(window, 'totals');
  await follow(window, 'history');
  await follow(window, 'settings');
  await follow(window, 'history');
  await window.page.locator('a.entry').first().click();
  await control(window, 'Refund').click();
  await checkPseudoLanguage(window);
  window.checkClean();
  await window.close();
});
