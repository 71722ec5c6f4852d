import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { DESKTOP, NARROW, PHONE, type TestWindow } from './browser.ts';
import { loseRequests } from './network-faults.ts';
import { ownStage } from './stage.ts';

// Uses a private sandbox, because the examples create payments at the demo terminal.
const stage = ownStage();

/** Set `DOCS_PICTURES=folder` to save a screenshot of each form. */
const PICTURES = process.env.DOCS_PICTURES;
if (PICTURES !== undefined) mkdirSync(PICTURES, { recursive: true });

interface Tried {
  readonly status: string;
  readonly text: string;
}

async function formBelow({ page }: TestWindow, address: string, heading: string) {
  await page.goto(`${stage().sandbox.web_url}/docs/${address}`);
  const button = page.locator(
    `xpath=//*[@id="${heading}"]/following::button[contains(@class, "try-it")][1]`,
  );
  await button.click();
  const form = page.getByRole('form', { name: 'Try it' });
  await form.waitFor();
  const send = async (): Promise<Tried> => {
    await form.getByRole('button', { name: 'Send' }).click();
    await form.locator('figure:not([hidden])').waitFor();
    await form.getByRole('button', { name: 'Send', disabled: false }).waitFor();
    const status = (await form.getByRole('status').textContent()) ?? '';
    return { status, text: (await form.locator('pre code').textContent()) ?? '' };
  };
  const field = form.getByRole('textbox').first();
  return { form, address: field, send };
}

/** Waits until the sale is on the chain, because it cannot be refunded earlier. */
async function untilPaid(): Promise<void> {
  const { base_url: base, test: mode } = stage().sandbox;
  for (;;) {
    const headers = { Authorization: `Bearer ${mode.secret_key}` };
    const answer = await fetch(`${base}/v1/payments?limit=1`, { headers });
    const { data } = (await answer.json()) as { data: { status: string }[] };
    if (data[0]?.status === 'succeeded') return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

for (const [size, options] of Object.entries({ phone: PHONE, desktop: DESKTOP, narrow: NARROW })) {
  test(`a sale is made and refunded by clicking the buttons of the docs: ${size}`, async () => {
    const window = await stage().browser.open(options);
    const { page } = window;
    const create = await formBelow(
      window,
      'api/payment-intents',
      'create-a-payment-intent-for-a-terminal',
    );
    const reply = await create.send();
    assert.match(reply.status, /^201 after \d+ ms$/, reply.text);
    assert.equal(JSON.parse(reply.text).status, 'requires_payment_method');
    await window.checkAccessibility();
    const wide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    assert.equal(await page.evaluate(wide), 0, 'the page scrolls sideways');
    assert.ok(!(await page.content()).includes(stage().sandbox.test.secret_key));
    if (PICTURES !== undefined) {
      await create.form.scrollIntoViewIfNeeded();
      await page.screenshot({ path: `${PICTURES}/try-${size}.png` });
    }
    const tap = await formBelow(
      window,
      'api/test-helpers',
      'simulate-a-customer-who-taps-a-pass-on-the-terminal',
    );
    const tapped = await tap.send();
    assert.match(tapped.status, /^20\d after/, tapped.text);
    await untilPaid();
    const refund = await formBelow(window, 'refunds', 'refunds');
    const given = await refund.send();
    assert.match(given.status, /^201 after/, given.text);
    assert.equal(JSON.parse(given.text).amount, 1_000_000);
    window.checkClean();
    await window.close();
  });
}

test('nothing loads before a click, and the key goes to the merchant API alone', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open();
  const { page } = window;
  const requests: string[] = [];
  const sent: string[] = [];
  page.on('request', (request) => {
    requests.push(new URL(request.url()).pathname);
    if (request.headers().authorization !== undefined) sent.push(request.url());
  });
  await page.goto(`${sandbox.web_url}/docs/api/payments`);
  await page.getByRole('button', { name: 'Try it' }).first().waitFor();
  if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/try-button.png` });
  assert.deepEqual(
    requests.filter((path) => /sandbox-links|try\.js/.test(path)),
    [],
  );
  const { address, send } = await formBelow(window, 'api/payments', 'list-payments-newest-first');
  const { origin } = new URL(sandbox.web_url);
  for (const typed of [
    ...['', '/v2/payments', 'https://shop.example/v1/payments', '//shop.example/v1/payments'],
    ...['/v1/../dashboard/v1/session', '/v1/../../v1/payments', '/v1/..%2f../payments'],
    '/v1/payments/$ID',
  ]) {
    await address.fill(typed);
    const { status, text } = await send();
    const isRefused = status === 'Not sent' || status.startsWith('404');
    assert.ok(isRefused, `${typed}: ${status} ${text}`);
  }
  await address.fill('/v1/payments?limit=1');
  assert.match((await send()).status, /^200 after/);
  await address.fill('/v1/events/stream?after=start');
  const { text } = await send();
  assert.match(text, /^data: .*"type":"payment_intent.created"/m, 'the beginning of a stream');
  assert.ok(sent.length > 0 && sent.every((url) => url.startsWith(`${origin}/api/v1/`)), `${sent}`);
  window.checkClean(/status of 404/);
  await window.close();
});

test('a request that could not be sent is sent by the next click', async () => {
  const window = await stage().browser.open();
  const fault = await loseRequests(window.page, /sandbox-links/);
  const { send } = await formBelow(window, 'api/payments', 'list-payments-newest-first');
  assert.equal((await send()).status, 'Not sent');
  await fault.end();
  assert.match((await send()).status, /^200 after/);
  await window.close();
});

test('a live key is never sent, whatever the network says; strangers see no button', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open();
  const { page } = window;
  const { web_url: at, live } = sandbox;
  await page.route('**/sandbox-links', async (route) => {
    const told = await (await route.fetch()).json();
    const test = { ...told.test, secret_key: live.secret_key };
    await route.fulfill({ json: { ...told, test } });
  });
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.headers().authorization !== undefined) sent.push(request.url());
  });
  const { send } = await formBelow(window, 'api/balance', 'retrieve-the-balance');
  const { status, text } = await send();
  assert.equal(status, 'Not sent');
  assert.equal(text, 'This page can send requests only to a sandbox on the same computer.');
  assert.deepEqual(sent, []);
  // Uses another host name of this machine, which counts as a different machine.
  await page.goto(`${at.replace('127.0.0.1', 'localhost.')}/docs/api/balance`);
  await page.getByRole('button', { name: /^Copy/ }).first().waitFor();
  assert.equal(await page.getByRole('button', { name: 'Try it' }).count(), 0);
  window.checkClean();
  await window.close();
});
