import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { DESKTOP, NARROW, PHONE } from './browser.ts';
import { signInAt } from './desk.ts';
import { loseRequests } from './network-faults.ts';
import { measureFirstLoad } from './payload.ts';
import { sharedStage } from './stage.ts';

const stage = sharedStage();

const BUDGET_BYTES = 12_000;
/** Set `DOCS_PICTURES=folder` to save a screenshot of each page. */
const PICTURES = process.env.DOCS_PICTURES;
const SIZES = { phone: PHONE, desktop: DESKTOP, narrow: NARROW };
const PAGES = ['', '/webhooks', '/declines', '/api/payment-intents', '/errors'];

for (const [size, options] of Object.entries(SIZES)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`pages are accessible and fit: ${size}, ${colorScheme}`, async () => {
      const window = await stage().browser.open({ ...options, colorScheme });
      for (const name of PAGES) {
        await window.page.goto(`${stage().sandbox.web_url}/docs${name}`);
        await window.page.getByRole('heading', { level: 1 }).waitFor();
        await window.checkAccessibility();
        const overflow = await window.page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        assert.equal(overflow, 0, `${name} scrolls sideways`);
        if (PICTURES === undefined) continue;
        mkdirSync(PICTURES, { recursive: true });
        const file = `${PICTURES}/docs${name.replaceAll('/', '-')}-${size}-${colorScheme}.png`;
        await window.page.screenshot({ path: file });
      }
      window.checkClean();
      await window.close();
    });
  }
}

test('arrow keys move through the results of a search, and Enter opens the first', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open();
  const { page } = window;
  await page.goto(`${sandbox.web_url}/docs`);
  await page.keyboard.press('/');
  const field = page.getByLabel('Search');
  assert.equal(await field.evaluate((element) => element === document.activeElement), true);
  await page.keyboard.type('signature');
  const first = page.locator('#results').getByRole('link').first();
  await first.waitFor();
  assert.match((await first.getAttribute('href')) ?? '', /^\/docs\/webhooks#/);
  await window.checkAccessibility();
  await page.keyboard.press('ArrowDown');
  assert.equal(await first.evaluate((element) => element === document.activeElement), true);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#results').isVisible(), false);
  await field.fill('order_id_in_use');
  await page.locator('#results').getByRole('link').first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/docs\/errors#order_id_in_use$/);
  window.checkClean();
  await window.close();
});

for (const file of ['search.js', 'search.json']) {
  test(`a search whose ${file} could not be loaded says so, and is tried again`, async () => {
    const { sandbox, browser } = stage();
    const window = await browser.open();
    const { page } = window;
    await page.goto(`${sandbox.web_url}/docs`);
    const fault = await loseRequests(page, new RegExp(`/docs/${file}($|\\?)`));
    const results = page.locator('#results');
    await page.getByLabel('Search').fill('signat');
    await results.getByText('The search could not be loaded.').waitFor();
    await fault.end();
    await page.getByLabel('Search').pressSequentially('ure');
    await results.getByRole('link').first().waitFor();
    await page.getByLabel('Search').fill('qqqq');
    await results.getByText('Nothing found.').waitFor();
    await window.close();
  });
}

test('code is copied verbatim', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open({
    ...DESKTOP,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const { page } = window;
  await page.goto(`${sandbox.web_url}/docs/quickstart`);
  const block = page.locator('figure.code').first();
  await block.getByRole('button', { name: 'Copy' }).click();
  await block.getByText('Copied').waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(copied, await block.locator('code').textContent());
  assert.match(copied, /^export TAPLINE_BASE_URL=/);
  window.checkClean();
  await window.close();
});

test('one language is shown, and the choice applies to other pages', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open(DESKTOP);
  const { page } = window;
  await page.goto(`${sandbox.web_url}/docs/webhooks`);
  const python = page.getByText('def verify_webhook');
  const tabs = page.getByRole('group', { name: 'Language' });
  const chosen = () => tabs.locator('[aria-pressed="true"]').allTextContents();
  assert.equal(await python.isVisible(), false);
  await tabs.getByRole('button', { name: 'Python' }).click();
  assert.equal(await python.isVisible(), true);
  assert.deepEqual(await chosen(), ['Python']);
  await window.checkAccessibility();
  await page.reload();
  assert.equal(await python.isVisible(), true);
  // A page that lacks the chosen language shows its first language until the user picks another.
  await tabs.getByRole('button', { name: 'Go', exact: true }).click();
  await page.goto(`${sandbox.web_url}/docs/api/refunds`);
  assert.deepEqual(new Set(await chosen()), new Set(['curl']));
  await tabs.first().getByRole('button', { name: 'TypeScript' }).click();
  assert.deepEqual(new Set(await chosen()), new Set(['TypeScript']));
  window.checkClean();
  await window.close();
});

test('a page can be read without scripts, and is small', async () => {
  const { sandbox, browser } = stage();
  const plain = await browser.open({ ...PHONE, javaScriptEnabled: false });
  await plain.page.goto(`${sandbox.web_url}/docs/webhooks`);
  assert.ok(await plain.page.getByText('def verify_webhook').isVisible());
  await plain.close();
  const window = await browser.open();
  const bytes = await measureFirstLoad(window, `${sandbox.web_url}/docs/webhooks`);
  assert.ok(bytes > 5_000 && bytes <= BUDGET_BYTES, `${bytes} bytes`);
  await window.close();
});

test('signed-in readers see examples with their own till, and never a secret', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open(PHONE);
  const { page } = window;
  await page.goto(`${sandbox.web_url}/docs/tips`);
  const code = page.locator('main pre code').first();
  assert.match(
    (await code.textContent()) ?? '',
    /\$TAPLINE_BASE_URL/,
    'a stranger reads placeholders',
  );
  await signInAt(window, { sandbox, path: 'dashboard' });
  await page.goto(`${sandbox.web_url}/docs/tips`);
  await page.getByText('The examples are filled in for').waitFor();
  const text = (await code.textContent()) ?? '';
  assert.ok(text.includes(`${sandbox.web_url}/api/v1/payment_intents`), text);
  assert.match(text, /"terminal": "tml_[0-9A-Za-z]{22}"/);
  assert.match(text, /Bearer \$TAPLINE_API_KEY/);
  const whole = await page.content();
  assert.ok(!whole.includes(sandbox.test.secret_key) && !/tlsk_(test|live)_\w{20}/.test(whole));
  await window.checkAccessibility();
  window.checkClean();
  await window.close();
});
