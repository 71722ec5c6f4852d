import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DESKTOP } from '../../testing/browser.ts';
import { freePort } from '../../testing/free-port.ts';
import { openSignedIn } from '../../testing/signed-in.ts';
import { ownStage } from '../../testing/stage.ts';

/** Tests the settings of books, in a private sandbox because they are the account's. */

/** Set `BOOKS_PICTURES=folder` to save screenshots of two widths. */
const PICTURES = process.env.BOOKS_PICTURES;

const stage = ownStage(undefined, async () => ({ PORT: await freePort() }));

test('a chart proposes its accounts, and each has a line that says what it means', async () => {
  const { page } = await openSignedIn(stage(), 'dashboard/settings', DESKTOP);
  const section = page.locator('section', { has: page.getByRole('heading', { name: 'Books' }) });
  const field = (name: string | RegExp) => section.getByLabel(name, { exact: true });
  await field('Days start at').fill('05:00');
  await field('Chart of accounts for DATEV').selectOption('SKR 03');
  assert.equal(await field(/^Revenue at 7(?!\d)/).inputValue(), '8300');
  assert.equal(await field('Bank').inputValue(), '1200');
  await field('Chart of accounts for DATEV').selectOption('SKR 04');
  assert.equal(await field(/^Revenue at 19/).inputValue(), '4400');
  assert.equal(await field('Money in transit').inputValue(), '1460');
  await field('Rounding').fill('68');
  await section.getByRole('button', { name: 'Save' }).click();
  await section.getByText(/4 to 8 digits/).waitFor();
  assert.equal(await field('Rounding').getAttribute('aria-invalid'), 'true');
  if (PICTURES !== undefined) {
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await section.screenshot({ path: `${PICTURES}/books-settings-${width}.png` });
    }
    await page.setViewportSize(DESKTOP.viewport);
  }
  await field('Rounding').fill('6855');
  await section.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  await page.reload();
  assert.equal(await field('Rounding').inputValue(), '6855');
  assert.equal(await field('Days start at').inputValue(), '05:00');
});
