import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE } from '../testing/browser.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal } from '../testing/till.ts';
import { createWallet, openWallet, readyWallet, tapPass } from '../testing/wallet.ts';

const stage = sharedStage();

const TOO_OLD = {
  error: {
    type: 'permission_error',
    code: 'second_factor_required',
    message: 'Sign with the wallet once more.',
    param: null,
    request_id: 'req_1',
    doc_url: null,
  },
};

test('a new pass asks for the wallet’s signature if the last one is too old', async () => {
  const { sandbox, browser } = stage();
  const wallet = await openWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  await createWallet(wallet);
  const requests: string[] = [];
  let isOld = true;
  await page.route('**/api/payer/v1/**', async (route) => {
    const path = new URL(route.request().url()).pathname.replace(/^.*\/v1/, '');
    if (route.request().method() === 'POST') requests.push(path);
    if (path === '/sign_in/again') isOld = false;
    const isMint = path === '/passes' && route.request().method() === 'POST';
    if (isMint && isOld) return route.fulfill({ status: 403, json: TOO_OLD });
    return route.fallback();
  });
  await wallet.goTo('Passes');
  await wallet.button(/^Add pass/).click();
  const add = wallet.inDialog(/^Add pass/);
  await add.click();
  const again = page.getByRole('dialog', { name: 'Sign again' });
  await again.getByRole('button', { name: 'Not now' }).click();
  await wallet.sees('Nothing was done because the wallet did not sign.');
  await add.click();
  await again.waitFor();
  await wallet.checkAccessibility();
  await again.getByRole('button', { name: /^Sign/ }).click();
  await wallet.field('Pass code').waitFor();
  assert.deepEqual(requests, ['/passes', '/passes', '/sign_in/nonce', '/sign_in/again', '/passes']);
  await wallet.close();
});

test('a rotating code pays once, and keeps rotating offline', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { wallet } = await readyWallet(browser, sandbox, PHONE);
  await wallet.button(/^Show code/).click();
  await wallet.button(/^Set up a rotating code/).click();
  const shown = wallet.field('Rotating code');
  await shown.waitFor();
  await wallet.context.setOffline(true);
  const value = await shown.inputValue();
  assert.match(value, /^pass_\w+\.\d{8}$/);
  const credential = { type: 'rotating_code', value };
  const paid = await tapPass(sandbox, { terminal, credential, amount: 1_000_000 });
  assert.equal(paid.status, 'succeeded', JSON.stringify(paid.last_payment_error));
  const again = await tapPass(sandbox, { terminal, credential, amount: 1_000_000 });
  assert.equal(again.status, 'requires_payment_method', 'each code pays once');
  await wallet.context.setOffline(false);
  await wallet.checkAccessibility();
  await wallet.close();
});

test('the owner is notified of a payment by a static pass, and sees it marked', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { wallet, pass } = await readyWallet(browser, sandbox);
  await wallet.page.waitForFunction(() => localStorage.getItem('tapline.wallet.heardUntil'));
  const paid = await tapPass(sandbox, { terminal, pass, amount: 2_500_000 });
  assert.equal(paid.status, 'succeeded', 'the sandbox asks for no consent');
  await wallet.sees(/charged 2\.51 USDC to a fixed-code pass/);
  await wallet.goTo('History');
  await wallet.page.getByText('With a fixed-code pass', { exact: true }).waitFor();
  await wallet.checkAccessibility();
  wallet.checkClean();
  await wallet.close();
});
