import { test } from 'node:test';
import { PHONE } from '../../testing/browser.ts';
import { sharedStage } from '../../testing/stage.ts';

const stage = sharedStage();

test('a visitor requests a link to open an account, and an invalid link says so', async () => {
  const window = await stage().browser.open(PHONE);
  const { page } = window;
  await page.goto(`${stage().sandbox.web_url}/dashboard`);
  await page.getByRole('link', { name: 'Open an account' }).click();
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByText('Enter your email address.').waitFor();
  await page.getByLabel('Email').fill('somebody@shop.test');
  await window.checkAccessibility();
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByText('Check your email').waitFor();
  await page.goto(`${stage().sandbox.web_url}/dashboard/invitation#token=nothing`);
  await page.getByRole('alert').waitFor();
  await window.checkAccessibility();
  await window.closeClean(/status of 400/);
});
