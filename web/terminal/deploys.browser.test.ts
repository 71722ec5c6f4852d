import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { present } from '#core/assert.ts';
import { becomesTrue } from '../testing/becomes-true.ts';
import { addFilmingCamera, film } from '../testing/filming-camera.ts';
import { gatewayTo } from '../testing/gateway.ts';
import { hasLaterBuild } from '../testing/offline.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal, type Counter, newTill, openTill } from '../testing/till.ts';

const stage = sharedStage();

/** Lets the service answer as after an update. The browser's own worker stays the same. */
function deploy(page: Page, release: string): Promise<unknown> {
  return page.route('**/terminal/worker.js', async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    return route.fulfill({ response, body: text.replaceAll('.js"', `.${release}.js"`) });
  });
}

const offer = ({ page }: Counter) => page.getByText('There is a new version of the till.');

/** Counts the loads of the page. */
function countLoads(page: Page): () => number {
  let loads = 0;
  page.on('load', () => {
    loads += 1;
  });
  return () => loads;
}

test('a till that is open for 25 h through two updates offers the new version', async () => {
  const counter = await newTill(stage(), undefined, { prepare: (page) => page.clock.install() });
  const { till, page } = counter;
  const loads = countLoads(page);
  await page.clock.fastForward('01:00:00');
  await till.amount.waitFor();
  assert.equal(await offer(counter).count(), 0, 'there was no update yet');
  await deploy(page, 'two');
  await deploy(page, 'three');
  await page.clock.fastForward('24:00:00');
  await offer(counter).waitFor();
  // Not during a payment.
  await till.ask('2.50');
  await offer(counter).waitFor({ state: 'hidden' });
  await page.evaluate(() => window.dispatchEvent(new Event('vite:preloadError')));
  await till.pay();
  assert.equal(loads(), 0, 'the page was reloaded during a payment');
  await till.newPayment.click();
  await offer(counter).waitFor();
  await till.checkAccessibility();
  await till.close();
});

test('a till that becomes visible again offers the new version at once', async () => {
  const counter = await newTill(stage(), undefined, { prepare: (page) => page.clock.install() });
  const { till, page } = counter;
  await page.clock.fastForward('00:02:00');
  await deploy(page, 'two');
  await page.clock.fastForward('00:02:00');
  assert.equal(await offer(counter).count(), 0);
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await offer(counter).waitFor();
  await till.close();
});

test('parts of the two versions before an update load without a network', async () => {
  const { till, page } = await newTill(stage());
  const ready = () =>
    page.evaluate(async () => {
      await navigator.serviceWorker.ready;
      return (await caches.keys()).filter((name) => name.startsWith('terminal '));
    });
  const own = present((await ready())[0], 'cache of this version');
  await page.evaluate(async () => {
    for (const version of [1, 2, 3]) {
      const cache = await caches.open(`terminal ${version}`);
      await cache.put(`assets/decoder-${version}.js`, new Response(`version ${version}`));
      await cache.put('terminal', new Response(`page of version ${version}`));
    }
    const registration = await navigator.serviceWorker.ready;
    await registration.unregister();
  });
  await page.reload();
  await becomesTrue(page, async () => !(await caches.keys()).includes('terminal 1'));
  assert.deepEqual(await ready(), [own, 'terminal 2', 'terminal 3']);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await till.context.setOffline(true);
  for (const version of [2, 3]) {
    const file = `assets/decoder-${version}.js`;
    const text = await page.evaluate((path) => fetch(path).then((all) => all.text()), file);
    assert.equal(text, `version ${version}`);
  }
  await page.reload();
  await till.amount
    .or(page.getByText('Offline', { exact: true }))
    .first()
    .waitFor();
  await till.close();
});

test('right after an update without a network, an open till still loads its parts', async () => {
  const { sandbox, browser } = stage();
  const gateway = await gatewayTo(sandbox.web_url);
  const terminal = await addTestTerminal(sandbox);
  const prepare = async (page: Page) => addFilmingCamera(page);
  const behind = { ...sandbox, web_url: gateway.url };
  const { page, ...till } = await openTill(browser, behind, { terminal, prepare });
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  const parts = await page.evaluate(async () => {
    const [name = ''] = await caches.keys();
    const requests = await (await caches.open(name)).keys();
    return requests.map(({ url }) => url).filter((url) => url.endsWith('.js'));
  });
  for (const name of ['qr-decoder', 'sign-by-chip']) {
    assert.ok(
      parts.some((part) => part.includes(name)),
      name,
    );
  }
  gateway.deploy();
  await page.evaluate(async () => (await navigator.serviceWorker.ready).update());
  await becomesTrue(page, hasLaterBuild);
  gateway.cut();
  const missing = await page.evaluate(async (urls) => {
    // Asks the service worker's cache alone, because the browser's own may drop files at any time.
    const load = (url: string) => fetch(url, { cache: 'no-store' });
    const isMissing = (url: string) =>
      load(url).then(
        ({ ok }) => (ok ? [] : [url]),
        () => [url],
      );
    return (await Promise.all(urls.map(isMissing))).flat();
  }, parts);
  assert.deepEqual(missing, []);
  await page.getByRole('link', { name: 'Find a sale' }).click();
  await film(page, `${gateway.url}/receipts/0123456789abcdefghijkl`);
  await page.getByRole('button', { name: 'Scan' }).click();
  await page.waitForURL(/find\/0123456789abcdefghijkl$/);
  await till.close();
  await gateway.close();
});

test('a browser without module workers caches the app, too', async () => {
  const counter = await newTill(stage(), undefined, {
    prepare: (page) =>
      page.addInitScript(() => {
        const { register } = ServiceWorkerContainer.prototype;
        ServiceWorkerContainer.prototype.register = function (url, options) {
          if (options?.type === 'module') return Promise.reject(new TypeError('no modules'));
          return register.call(this, url, options);
        };
      }),
  });
  await counter.page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await counter.till.close();
});
