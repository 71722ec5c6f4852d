import assert from 'node:assert/strict';
import { test } from 'node:test';
import { payAt } from '../../testing/desk.ts';
import { measureFirstLoad } from '../../testing/payload.ts';
import { openSignedIn } from '../../testing/signed-in.ts';
import { ownStage } from '../../testing/stage.ts';
import { postAsMerchant, setShop } from '../../testing/till.ts';

/** The limit is 130 kB of 1,000 bytes each, in every account (`sign-in.browser.test.ts`). */
const BUDGET_BYTES = 130_000;

const stage = ownStage(({ sandbox }) => setShop(sandbox, { currency: 'eur' }));

test('the first load with prices, sales and declines stays within its budget', async () => {
  const { sandbox } = stage();
  const { terminal } = sandbox.test;
  const presentment = { currency: 'eur', amount: 350 };
  for (const pass of ['ok', 'ok', 'insufficient_funds'] as const) {
    const { intent, payment } = await payAt(sandbox, { terminal, presentment, pass });
    if (payment === '') await postAsMerchant(sandbox, `/payment_intents/${intent}/cancel`);
  }
  const window = await openSignedIn(stage(), 'dashboard');
  const size = await measureFirstLoad(window, `${sandbox.web_url}/dashboard`);
  assert.ok(size <= BUDGET_BYTES, `${size} bytes`);
  const { page } = window;
  await page.getByRole('link', { name: /Not enough money/ }).waitFor();
  await page.getByText('At €1 = ').waitFor();
  await window.closeClean();
});
