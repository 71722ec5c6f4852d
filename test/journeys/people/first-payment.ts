import { startMailServer } from '#testkit/network/mail-server.ts';
import { startSharedSandbox } from '#testkit/network/shared-sandbox.ts';
import { DESKTOP, type TestWindow } from '../../../web/testing/browser.ts';
import { freePort } from '../../../web/testing/free-port.ts';
import { mailedLink } from '../../../web/testing/mail.ts';
import { tillOf } from '../../../web/testing/till.ts';
import type { Journey } from './journey.ts';

type Mail = Awaited<ReturnType<typeof startMailServer>>;

async function openAccount({ page }: TestWindow, { mail, url }: { mail: Mail; url: string }) {
  const email = 'first@shop.test';
  await page.goto(`${url}/dashboard`);
  await page.getByRole('link', { name: 'Open an account' }).click();
  await page.getByLabel('Email').fill(email);
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByText('Check your email').waitFor();
  await page.goto(await mailedLink(mail, email, 'dashboard/sign-up'));
  await page.getByLabel('Your name').fill('Nina New');
  await page.getByLabel('Business name').fill('New Café');
  await page.getByLabel('Password').fill('a long shop passphrase');
  await page.getByRole('button', { name: 'Open account' }).click();
  await page.getByRole('heading', { name: 'Your first payment, without code' }).waitFor();
}

/** Counts clicks from the account's first page, as the promise of six clicks does. */
export const FIRST_PAYMENT: Journey = {
  name: 'from a new account to the first test payment',
  width: 1280,
  run: async ({ browser }) => {
    const mail = await startMailServer();
    const own = await startSharedSandbox({ PORT: await freePort(), SMTP_URL: mail.url });
    const window = await browser.open(DESKTOP);
    const { page } = window;
    await openAccount(window, { mail, url: own.sandbox.web_url });
    browser.startOver();
    await page.getByRole('button', { name: 'Go live' }).click();
    const live = page.getByRole('listitem').filter({ hasText: 'Sales can settle in test mode' });
    await live.getByText('Done', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'New code' }).click();
    const opened = window.context.waitForEvent('page');
    await page.getByRole('link', { name: 'Open the till here' }).click();
    const till = tillOf({ ...window, page: await opened });
    await till.page.getByRole('button', { name: /^Start shift/ }).click();
    await till.ask('2.50');
    await till.testPass.selectOption('ok');
    await till.result('Paid').waitFor();
    await window.close();
    await own.close();
    await mail.stop();
  },
};
