import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedStage } from '../testing/stage.ts';
import { newTill, paymentsOf } from '../testing/till.ts';

const stage = sharedStage();

/**
 * Maximum time until `Offline` disappears after the network is back, as promised to the cashier.
 */
const BACK_MS = 1_000;

test('the Offline notice ends within a second after the network returns', async () => {
  const { till, page } = await newTill(stage());
  const { context } = till;
  await context.setOffline(true);
  await page.getByText('Offline', { exact: true }).waitFor();
  // Measured in the page, so that the test driver's latency does not count.
  await page.evaluate(() => {
    const times = { back: 0, gone: 0 };
    Object.assign(window, { times });
    window.addEventListener('online', () => {
      times.back = performance.now();
    });
    const look = setInterval(() => {
      if (document.querySelector('header')?.textContent?.includes('Offline')) return;
      times.gone = performance.now();
      clearInterval(look);
    }, 10);
  });
  await context.setOffline(false);
  const took = await page
    .waitForFunction(() => {
      const { back, gone } = (window as unknown as { times: { back: number; gone: number } }).times;
      return back > 0 && gone > 0 ? { ms: gone - back } : null;
    })
    .then((handle) => handle.jsonValue())
    .then((times) => times?.ms ?? 0);
  assert.ok(took <= BACK_MS, `${Math.round(took)} ms`);
  await till.close();
});

test('a till sells if the browser wrongly reports offline; a 502 is not Offline', async () => {
  const { till, page } = await newTill(stage());
  // Simulates a virtual adapter, or a network without a route to the internet.
  await page.evaluate(() => {
    Object.defineProperty(navigator, 'onLine', { get: () => false });
    window.dispatchEvent(new Event('offline'));
  });
  await till.ask('2.50');
  assert.equal(await page.getByText('Offline', { exact: true }).count(), 0);
  await till.pay();
  await till.newPayment.click();
  const body = '<h1>502 Bad Gateway</h1>';
  await page.route('**/api/**', (route) => route.fulfill({ status: 502, body }));
  await page.evaluate(() => window.dispatchEvent(new Event('online')));
  await page.getByText('The service is not responding', { exact: true }).waitFor();
  assert.equal(await page.getByText('Offline', { exact: true }).count(), 0);
  await page.unroute('**/api/**');
  await page
    .getByText('The service is not responding', { exact: true })
    .waitFor({ state: 'hidden' });
  await till.close();
});

test('after a tap that was not sent, the test passes are offered again', async () => {
  const { sandbox, till, terminal } = await newTill(stage());
  await till.ask('2.50');
  await till.context.setOffline(true);
  await till.testPass.selectOption('ok');
  await till.page.getByText('Not sent', { exact: true }).waitFor();
  await till.context.setOffline(false);
  await till.testPass.waitFor({ timeout: 5_000 });
  await till.pay();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  await till.close();
});
