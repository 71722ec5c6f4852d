import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openSharedSandbox, type SharedSandbox } from '#testkit/network/shared-sandbox.ts';
import { alterHoldings } from '../testing/altered-holdings.ts';
import { DESKTOP, NARROW, openBrowser, PHONE, type TestBrowser } from '../testing/browser.ts';
import { checkStill, measureFirstLoad } from '../testing/payload.ts';
import { postAsMerchant } from '../testing/till.ts';

/**
 * Maximum size: the script needs only a hash function and a few calls. The number of responses of
 * the chain varies.
 */
const BUDGET_BYTES = 13_500;

let shared: SharedSandbox;
let browser: TestBrowser;
let url = '';

before(async () => {
  [shared, browser] = await Promise.all([openSharedSandbox(), openBrowser()]);
  const { sandbox } = shared;
  const { agent_terminal: terminal } = sandbox.test;
  const intent = await postAsMerchant(sandbox, '/payment_intents', { amount: 2_500_000, terminal });
  const tap = { payment_intent: intent.id };
  const paid = await postAsMerchant(sandbox, `/test_helpers/terminals/${terminal}/tap`, tap);
  assert.equal(paid.status, 'succeeded');
  url = `${sandbox.web_url}/solvency`;
});

after(async () => {
  await browser.close();
  await shared.close();
});

interface Told {
  readonly object: string;
  readonly networks: readonly Readonly<Record<string, number | string>>[];
}

test('the browser adds up what each contract owes, and the contract holds it all', async () => {
  for (const options of [DESKTOP, PHONE, NARROW]) {
    const window = await browser.open(options);
    const { page } = window;
    await page.goto(url);
    const verdicts = page.getByRole('status').filter({ hasText: /^✓ Added up by your browser/ });
    await verdicts.nth(1).waitFor();
    const test = page.getByRole('region', { name: 'Test money' });
    const sum = (name: string) => test.locator(`[data-sum="${name}"]`).textContent();
    const [held, owed, fees] = await Promise.all(['held', 'owed', 'fees'].map(sum));
    for (const one of [held, owed, fees]) assert.match(one ?? '', /^[\d,]+\.\d{2,6} USDC$/);
    assert.notEqual(owed, '0.00 USDC');
    assert.equal(await sum('surplus'), '0.00 USDC');
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    await window.checkAccessibility();
    window.checkClean();
    await window.close();
  }
});

test('any program can read the same figures', async () => {
  const response = await fetch(`${url}.json`);
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  const { object, networks } = (await response.json()) as Told;
  assert.equal(object, 'solvency');
  assert.deepEqual(
    networks.map(({ network }) => network),
    ['testnet', 'mainnet'],
  );
  for (const one of networks) {
    const owed = Number(one.owed_to_merchants) + Number(one.fees) + Number(one.surplus);
    assert.equal(one.held, owed);
    assert.ok(Number(one.surplus) >= 0);
  }
});

test('a contract that holds too little is distinguished from a wrong node', async () => {
  const said = [
    ['short', /✗ .*money is missing/],
    ['other chain', /✗ The node does not know this contract/],
    ['no contract', /✗ The node does not know this contract/],
    ['silent', /^Reported by this server. The chain could not be reached to check it/],
  ] as const;
  for (const [change, words] of said) {
    const window = await browser.open(DESKTOP);
    await alterHoldings(window, change);
    await window.page.goto(url);
    const region = window.page.getByRole('region', { name: 'Test money' });
    await region.getByRole('status').filter({ hasText: words }).waitFor();
    const surplus = await region.locator('[data-sum="surplus"]').textContent();
    assert.equal(surplus?.startsWith('−'), change === 'short', `${change}: ${surplus}`);
    await window.close();
  }
});

test('without scripts the page is complete, and the first load is small', async () => {
  const bare = await browser.open({ ...DESKTOP, javaScriptEnabled: false } as typeof DESKTOP);
  await bare.page.goto(url);
  await bare.page.getByText('Reported by this server').first().waitFor();
  assert.match((await bare.page.locator('[data-sum="held"]').first().textContent()) ?? '', /USDC$/);
  await bare.close();
  const window = await browser.open();
  const bytes = await measureFirstLoad(window, url);
  assert.ok(bytes > 2_000 && bytes <= BUDGET_BYTES, `${bytes} bytes`);
  await checkStill(window);
  await window.close();
});
