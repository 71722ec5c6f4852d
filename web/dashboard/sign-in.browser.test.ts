import assert from 'node:assert/strict';
import { test } from 'node:test';
import { becomesTrue } from '../testing/becomes-true.ts';
import { DESKTOP, looksToRun, PHONE } from '../testing/browser.ts';
import { signInAt } from '../testing/desk.ts';
import { measureFirstLoad } from '../testing/payload.ts';
import { openSignedIn } from '../testing/signed-in.ts';
import { sharedStage } from '../testing/stage.ts';

/** The limit is 130 kB of 1,000 bytes each. */
const BUDGET_BYTES = 130_000;

const stage = sharedStage();

const LOOKS = [
  { name: 'desktop, dark', options: { ...DESKTOP, colorScheme: 'dark' as const } },
  { name: 'phone, light', options: { ...PHONE, colorScheme: 'light' as const } },
];

for (const { name, options } of looksToRun(LOOKS)) {
  test(`a person signs in, changes the mode, and signs out: ${name}`, async () => {
    const { sandbox, browser } = stage();
    const window = await browser.open(options);
    const { page } = window;
    await page.goto(`${sandbox.web_url}/dashboard`);
    await page.getByRole('button', { name: /^Sign in/ }).waitFor();
    await window.checkAccessibility();
    await signInAt(window, { sandbox, path: 'dashboard' });
    const testMode = page.getByRole('switch', { name: 'Test mode' });
    assert.equal(await testMode.getAttribute('aria-checked'), 'true');
    await window.checkAccessibility();
    await testMode.click();
    await page.reload();
    assert.equal(await testMode.getAttribute('aria-checked'), 'false');
    await window.checkAccessibility();
    await page.getByRole('button', { name: /^Sign out/ }).click();
    await page.getByRole('button', { name: /^Sign in/ }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: /^Sign in/ }).waitFor();
    await window.closeClean();
  });
}

test('a numeric URL offers no passkey, but links to the URL that does', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open();
  const { page } = window;
  await page.goto(`${sandbox.web_url}/dashboard`);
  const named = sandbox.web_url.replace('127.0.0.1', 'localhost');
  const link = page.getByRole('link', { name: `Open ${named}`, exact: true });
  await link.waitFor();
  assert.equal(await page.getByRole('button', { name: /^Use a passkey/ }).count(), 0);
  await link.click();
  await page.getByRole('button', { name: /^Use a passkey/ }).waitFor();
  assert.equal(page.url(), `${named}/dashboard`);
  assert.equal(await link.count(), 0);
  await window.closeClean();
});

test('a wrong password is reported, and the input is kept', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open();
  const { page } = window;
  await page.goto(`${sandbox.web_url}/dashboard/payments`);
  await page.locator(':focus').waitFor();
  await page.keyboard.type('nobody@demo.test');
  await page.keyboard.press('Tab');
  await page.keyboard.type('not the right one');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  assert.equal(await page.getByLabel('Email').inputValue(), 'nobody@demo.test');
  await window.checkAccessibility();
  await window.closeClean(/status of 401/);
});

test('the first load stays within its budget', async () => {
  const { sandbox } = stage();
  const window = await openSignedIn(stage(), 'dashboard');
  const size = await measureFirstLoad(window, `${sandbox.web_url}/dashboard`);
  assert.ok(size > 10_000, 'something was measured');
  assert.ok(size <= BUDGET_BYTES, `${size} bytes`);
  await window.close();
});

/**
 * A string, because server tests import code that opens windows, and their types have no
 * `document`.
 */
const FONTS = `[...document.fonts].map(({ family, status }) => family + ' ' + status)`;
/**
 * Resolves to true once the cache contains the font's file; the cache exists before the file is in
 * it.
 */
const IS_CACHED = `caches.open('font').then(async (kept) => (await kept.keys()).length > 0)`;

test('the font loads at the first click; later pages take it from the cache', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open();
  const { page } = window;
  const fonts: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('.woff2')) fonts.push(request.url());
  });
  const url = `${sandbox.web_url}/dashboard`;
  const weight = await measureFirstLoad(window, url);
  assert.ok(weight <= BUDGET_BYTES, `${weight} bytes`);
  assert.deepEqual(fonts, [], 'signing in shows without it');
  // Clicks as a person would before typing. Signing in takes longer than loading the font, except
  // on a busy machine, where the font would wait for the next page.
  await page.getByRole('textbox', { name: 'Email' }).click();
  await becomesTrue(page, IS_CACHED);
  assert.equal(fonts.length, 1);
  const { email, password } = sandbox.dashboard;
  await page.getByRole('textbox', { name: 'Email' }).fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: /^Sign in/ }).click();
  await page.getByRole('button', { name: /^Sign out/ }).waitFor();
  await page.waitForFunction(`${FONTS}.length > 0`);
  assert.deepEqual(await page.evaluate(FONTS), ['Inter loaded'], 'the screen behind has it');
  await page.goto(`${url}/team`);
  await page.getByRole('heading', { name: 'Team', level: 1 }).waitFor();
  assert.deepEqual(await page.evaluate(FONTS), ['Inter loaded'], 'so has the next page');
  assert.equal(fonts.length, 1, 'nothing asks again');
  await window.closeClean();
});
