import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE } from '../testing/browser.ts';
import { addFilmingCamera, film, filmScreen } from '../testing/filming-camera.ts';
import { openOfflineTill } from '../testing/offline.ts';
import { ownStage } from '../testing/stage.ts';
import { paymentsOf } from '../testing/till.ts';
import { createWallet, fundWallet, WALLET_PASSWORD, walletOf } from '../testing/wallet.ts';

const stage = ownStage();

test('till and wallet, both offline, read each other’s codes by their cameras', async () => {
  const { sandbox, browser } = stage();
  // A screen of 720 px.
  const phone = { ...PHONE, viewport: { width: 360, height: 780 }, deviceScaleFactor: 2 };
  const wallet = walletOf(await browser.open(phone));
  await addFilmingCamera(wallet.page);
  await wallet.page.goto(`${sandbox.web_url}/wallet`);
  await createWallet(wallet);
  await fundWallet(wallet);
  await wallet.page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await wallet.page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await wallet.context.setOffline(true);
  const till = await openOfflineTill(stage(), {
    // The smallest pictures that cameras deliver.
    prepare: ({ page }) => addFilmingCamera(page, null, [640, 480]),
  });
  await till.cut();
  const request = await till.request('2.50');

  await wallet.page.reload();
  await wallet.button(/^Pay/).click();
  await wallet.inDialog(/^Pay offline/).click();
  await wallet.button(/^Scan/).click();
  await film(wallet.page, request);
  // The camera's dialog opens and closes automatically.
  await wallet.page.locator(`input[data-name="Request"][value="${request}"]`).waitFor();
  await wallet.dialog().waitFor({ state: 'hidden' });
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await wallet.button(/^Sign 2\.51/).click();
  const code = wallet.page.getByRole('img', { name: 'The answer for the till' });
  await code.scrollIntoViewIfNeeded();

  await till.page.getByRole('button', { name: 'Scan the answer' }).click();
  await filmScreen(till.page, await wallet.page.screenshot());
  await till.result('Accepted offline').waitFor();
  await till.forward();
  const [paid] = await paymentsOf(sandbox, till.terminal);
  assert.equal(paid?.amount, 2_500_000);
  await wallet.close();
  await till.close();
});
