import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE } from '../testing/browser.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal } from '../testing/till.ts';
import {
  addPass,
  askFirst,
  createWallet,
  openWallet,
  readyWallet,
  tapPass,
  walletOf,
} from '../testing/wallet.ts';

const stage = sharedStage();

test('offline, a change fails with a message, and the input is kept', async () => {
  const wallet = await openWallet(stage().browser, stage().sandbox, PHONE);
  const { context } = wallet;
  await createWallet(wallet);
  await wallet.goTo('Passes');
  await wallet.sees('No passes yet');
  await wallet.button(/^Add pass/).click();
  await wallet.field('Pass name').fill('Keyring');
  await context.setOffline(true);
  const add = wallet.inDialog(/^Add pass/);
  await add.click();
  await wallet.sees('Not sent: there is no connection. Nothing has changed.');
  await wallet.checkAccessibility();
  await context.setOffline(false);
  assert.equal(await wallet.field('Pass name').inputValue(), 'Keyring');
  await add.click();
  await wallet.field('Pass code').waitFor();
  await wallet.button(/^Done/).click();
  await wallet.button(/^Revoke Keyring/).waitFor();
  await wallet.close();
});

test('a double click makes one pass', async () => {
  const wallet = await openWallet(stage().browser, stage().sandbox);
  await createWallet(wallet);
  await wallet.goTo('Passes');
  await wallet.button(/^Add pass/).click();
  await wallet.inDialog(/^Add pass/).dblclick();
  await wallet.field('Pass code').waitFor();
  await wallet.button(/^Done/).click();
  await wallet
    .button(/^Revoke/)
    .first()
    .waitFor();
  assert.equal(await wallet.button(/^Revoke/).count(), 1);
  wallet.checkClean();
  await wallet.close();
});

test('the back button leads back, and a tab that was left open shows the changes', async () => {
  const { sandbox } = stage();
  const wallet = await openWallet(stage().browser, sandbox);
  const { page, context } = wallet;
  await createWallet(wallet);
  await addPass(wallet, 'Keyring');
  const stale = walletOf({ ...wallet, page: await context.newPage() });
  await stale.page.goto(`${sandbox.web_url}/wallet/passes`);
  await stale.button(/^Revoke Keyring/).waitFor();
  await wallet.button(/^Revoke Keyring/).click();
  await wallet.button(/^Revoke pass/).click();
  await page.getByText('Revoked', { exact: true }).waitFor();
  await stale.page.getByText('Revoked', { exact: true }).waitFor();
  await wallet.goTo('History');
  await wallet.sees('No payments yet');
  await page.goBack();
  await page.getByText('Revoked', { exact: true }).waitFor();
  wallet.checkClean();
  await wallet.close();
});

test('nothing moves if the system asks for reduced motion', async () => {
  const { sandbox } = stage();
  const terminal = await addTestTerminal(sandbox);
  const options = { ...PHONE, reducedMotion: 'reduce' as const };
  const { wallet, pass } = await readyWallet(stage().browser, sandbox, options);
  const { page } = wallet;
  await askFirst(wallet);
  await tapPass(sandbox, { terminal, pass, amount: 2_500_000 });
  await wallet.button(/^Approve/).waitFor();
  await page.waitForTimeout(300);
  const moving = await page.evaluate(
    () => document.getAnimations().filter(({ playState }) => playState === 'running').length,
  );
  assert.equal(moving, 0);
  await wallet.button(/^Reject/).click();
  await wallet.close();
});
