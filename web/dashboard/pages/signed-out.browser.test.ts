import { after, before, test } from 'node:test';
import { openSharedSandbox, type SharedSandbox } from '#testing/shared-sandbox.ts';
import { openBrowser, PHONE, type TestBrowser } from '../../testing/browser.ts';

let shared: SharedSandbox;
let browser: TestBrowser;

before(async () => {
  [shared, browser] = await Promise.all([openSharedSandbox(), openBrowser()]);
});

after(async () => {
  await browser.close();
  await shared.close();
});

test('a visitor requests a link to open an account, and an invalid link says so', async () => {
  const window = await browser.open(PHONE);
  const { page } = window;
  await page.goto(`${shared.sandbox.web_url}/dashboard`);
  await page.getByRole('link', { name: 'Open an account' }).click();
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByText('Enter your email address.').waitFor();
  await page.getByLabel('Email').fill('somebody@shop.test');
  await window.checkAccessibility();
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByText('Check your email').waitFor();
  await page.goto(`${shared.sandbox.web_url}/dashboard/invitation#token=nothing`);
  await page.getByRole('alert').waitFor();
  await window.checkAccessibility();
  window.checkClean(/status of 400/);
  await window.close();
});
