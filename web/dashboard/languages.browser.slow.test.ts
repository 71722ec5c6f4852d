import { test } from 'node:test';
import { NARROW } from '../testing/browser.ts';
import { payAt } from '../testing/desk.ts';
import { control, openPseudoDashboard } from '../testing/pseudo-dashboard.ts';
import { checkPseudoLanguage } from '../testing/pseudo-language.ts';
import { sharedStage } from '../testing/stage.ts';

/**
 * Tests merchant screens in the pseudo-language, which is longer than English and runs right to
 * left. The other pages are in `pages/languages.browser.slow.test.ts`.
 */

const stage = sharedStage();

test('an owner signs in and refunds a sale in the pseudo-language', async () => {
  const { sandbox, browser } = stage();
  const { payment } = await payAt(sandbox, {
    terminal: sandbox.test.terminal,
    amount: 2_500_000,
    tip: 250_000,
  });
  const window = await browser.open(NARROW);
  await openPseudoDashboard(window, sandbox, {
    onForm: () => checkPseudoLanguage(window),
  });
  await window.idle();
  await checkPseudoLanguage(window);
  await window.page.goto(`${sandbox.web_url}/dashboard/payments`);
  await window.idle();
  await checkPseudoLanguage(window);
  await window.page.goto(`${sandbox.web_url}/dashboard/payments/${payment}`);
  await control(window, 'Refund').waitFor();
  await window.idle();
  await checkPseudoLanguage(window);
  await control(window, 'Refund').click();
  await control(window, 'Amount').waitFor();
  await checkPseudoLanguage(window);
  await window.closeClean();
});
