import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DESKTOP, PHONE } from '../../testing/browser.ts';
import { signInAt } from '../../testing/desk.ts';
import { checkFits } from '../../testing/page-width.ts';
import { ownStage } from '../../testing/stage.ts';

const stage = ownStage();

test('an admin adds a person with a name, a PIN and a role, changes and removes them', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open(DESKTOP);
  const { page } = window;
  await signInAt(window, { sandbox, path: 'dashboard/staff' });
  await page.getByRole('heading', { name: 'Staff', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Add person' }).click();
  const dialog = page.getByRole('dialog');
  const [name, pin] = [dialog.getByLabel('Name'), dialog.getByLabel('PIN')];
  await name.fill('Ada');
  await pin.fill('1234');
  await dialog.getByLabel('Role').selectOption('Cashier');
  await page.keyboard.press('Tab');
  await dialog.getByRole('button', { name: 'Add person' }).click();
  await dialog.getByText('This PIN is too easy to guess.').waitFor();
  await window.checkAccessibility();
  await pin.fill('4927');
  await dialog.getByRole('button', { name: 'Add person' }).click();
  await dialog.waitFor({ state: 'hidden' });
  const row = page.getByRole('row', { name: /^Ada Cashier/ });
  await row.waitFor();

  await row.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByLabel('PIN').fill('830517');
  await dialog.getByLabel('Role').selectOption('Manager');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('row', { name: /^Ada Manager No limit Yes/ }).waitFor();
  await page.setViewportSize({ ...PHONE.viewport, width: 320 });
  await checkFits(page);
  await page.setViewportSize(DESKTOP.viewport);
  await page.getByRole('button', { name: 'Remove' }).click();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByText('No one yet.').waitFor();
  window.checkClean(/status of 400/);
  await window.close();
});

test('an owner’s refund limit shows 0, and none if it is left empty', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open(DESKTOP);
  const { page } = window;
  await signInAt(window, { sandbox, path: 'dashboard/team' });
  await page.getByRole('button', { name: 'Till access' }).first().click();
  const dialog = page.getByRole('dialog');
  const limit = dialog.getByLabel('Refund limit');
  const save = async (typed: string) => {
    await limit.fill(typed);
    const answer = page.waitForResponse((one) => one.request().method() === 'PATCH');
    await dialog.getByRole('button', { name: 'Save permissions' }).click();
    return ((await (await answer).json()) as { refund_limit: number | null }).refund_limit;
  };
  await dialog.getByText('Leave empty for no limit').waitFor();
  assert.equal(await save('0'), 0);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Till access' }).first().click();
  assert.equal(await limit.inputValue(), '0.00');
  assert.equal(await save(''), null);
  await window.closeClean();
});

test('the first location makes an organization, and a new terminal asks for one', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open(DESKTOP);
  const { page } = window;
  await signInAt(window, { sandbox, path: 'dashboard/locations' });
  await page.getByRole('heading', { name: 'Locations', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Add location' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Harbor');
  await dialog.getByLabel('Currency').selectOption('eur');
  await dialog.getByLabel('Tax rates').fill('Standard 19 %; Reduced 7 %');
  await dialog.getByRole('button', { name: 'Add location' }).click();
  await dialog.waitFor({ state: 'hidden' });
  const row = page.getByRole('row', { name: /^Harbor/ });
  await row.waitFor();
  const cells = await row.getByRole('cell').allTextContents();
  assert.ok(cells.includes('EUR'), cells.join(' | '));
  assert.match(cells.join(' | '), /Standard 19.%; Reduced 7.%/);
  await page.setViewportSize({ ...PHONE.viewport, width: 320 });
  await checkFits(page);
  await page.setViewportSize(DESKTOP.viewport);
  await window.checkAccessibility();

  await page.goto(`${sandbox.web_url}/dashboard/terminals`);
  await page.getByRole('button', { name: 'Add terminal' }).click();
  await dialog.getByLabel('Label').fill('Quay till');
  await dialog.getByLabel('Location').selectOption('Harbor');
  await dialog.getByRole('button', { name: 'Add terminal' }).click();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.goto(`${sandbox.web_url}/dashboard/locations`);
  await page.getByRole('cell', { name: 'Quay till' }).waitFor();
  await page.goto(`${sandbox.web_url}/dashboard/team`);
  await page.getByRole('cell', { name: /owner/ }).first().waitFor();
  assert.equal(await page.getByRole('row').filter({ hasText: 'owner' }).count(), 1);
  await window.closeClean();
});
