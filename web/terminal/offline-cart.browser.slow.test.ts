import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openOfflineTill, signRequest } from '../testing/offline.ts';
import { fundedAccount } from '../testing/payer.ts';
import { openSignedIn } from '../testing/signed-in.ts';
import { ownStage } from '../testing/stage.ts';
import { addCatalogueItem, intentsOf, paymentsOf, setShop } from '../testing/till.ts';

const stage = ownStage();

test('a cart with discounts is booked with its lines, its sum and its taxes', async () => {
  const { sandbox } = stage();
  const wallet = await fundedAccount(sandbox, 100_000_000n);
  const tax = { tax_rate: 700, tax_inclusive: true };
  await addCatalogueItem(sandbox, { name: 'Flat white', unit_amount: 3_500_000, ...tax });
  await addCatalogueItem(sandbox, { name: 'Cheesecake', unit_amount: 4_200_000, ...tax });
  const till = await openOfflineTill(stage());
  const { page, terminal } = till;
  await page.getByRole('link', { name: /^Catalogue/ }).click();
  await page.getByRole('button', { name: /^Flat white/ }).click();
  await page.getByRole('button', { name: /^Flat white/ }).click();
  await page.getByRole('button', { name: /^Cheesecake/ }).click();
  const cart = page.getByRole('region', { name: 'Cart' });
  const dialog = page.getByRole('dialog');
  await cart.getByRole('button', { name: 'Edit: Cheesecake' }).click();
  await dialog.getByRole('textbox', { name: 'Discount' }).fill('0.20');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await cart.getByRole('button', { name: 'Discount' }).click();
  await dialog.getByRole('button', { name: '10 %' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await till.cut();
  await page.getByRole('button', { name: 'Charge 9.90 USDC', exact: true }).click();
  const request = await page.getByRole('textbox', { name: 'Request' }).inputValue();
  await till.answer(await signRequest(wallet, request));
  await till.result('Accepted offline').waitFor();
  await till.forward();
  const [intent] = await intentsOf(sandbox, terminal);
  const lines = intent?.line_items as readonly Record<string, unknown>[];
  assert.deepEqual(
    lines.map(({ name, quantity, unit_amount, discount }) => [
      name,
      Number(quantity),
      unit_amount,
      discount,
    ]),
    [
      ['Flat white', 2, 3_500_000, 0],
      ['Cheesecake', 1, 4_200_000, 200_000],
    ],
  );
  // 10 % of 11.00 is 1.10.
  assert.deepEqual(
    [intent?.amount, intent?.status, intent?.discount, intent?.discount_rate],
    [9_900_000, 'succeeded', 1_100_000, 1_000],
  );
  const [paid] = await paymentsOf(sandbox, terminal);
  assert.equal(paid?.amount, 9_900_000);
  const receipt = await (await fetch(`${paid?.receipt_url}.json`)).json();
  assert.deepEqual((receipt as { taxes: unknown }).taxes, [
    { rate: 700, net: 9_252_336, tax: 647_664, gross: 9_900_000 },
  ]);
  await till.close();
});

test('a euro shop sells in euros while the line is down, and every screen follows', async () => {
  const { sandbox } = stage();
  const wallet = await fundedAccount(sandbox, 100_000_000n);
  const tax_rates = [{ name: 'Food', rate: 700 }];
  await setShop(sandbox, { currency: 'eur', tax_rates, default_tax_rate: 'Food' });
  try {
    const till = await openOfflineTill(stage());
    const { page, terminal } = till;
    // 101.000001 USDC at 1.096276999892, which count 100.000000 without the margin of 1 %.
    const most = 'You can keep selling, up to €92.13 per sale.';
    await page.getByText(`If the connection is lost: ${most}`).waitFor();
    await till.cut();
    await till.result('Offline').filter({ hasText: most }).waitFor();
    // Starting without a connection, it still knows the rate, which may even be removed.
    await page.reload();
    await setShop(sandbox, { tax_rates: [], default_tax_rate: null });
    const request = await till.request('9.90');
    assert.match(request, /^TLREQ2/);
    await till.answer(await signRequest(wallet, request));
    await till.result('Accepted offline').filter({ hasText: '€9.94' }).waitFor();
    await till.forward();
    await till.result('Paid').filter({ hasText: '€9.94' }).waitFor();
    await page.getByRole('button', { name: 'New payment' }).click();
    await page.getByRole('link', { name: /^History/ }).click();
    await page.getByRole('listitem').filter({ hasText: '€9.9' }).waitFor();
    assert.equal(await page.getByRole('listitem').count(), 1, 'History lists the sale once');
    const [paid] = await paymentsOf(sandbox, terminal);
    const price = paid?.presentment as Readonly<Record<string, unknown>> | undefined;
    assert.deepEqual(
      [price?.currency, price?.amount, price?.rate, paid?.amount],
      ['eur', 990, '1.096276999892', 10_853_143],
    );
    const receipt = await (await fetch(`${paid?.receipt_url}.json`)).json();
    assert.deepEqual((receipt as { taxes: unknown }).taxes, [
      { rate: 700, net: 925, tax: 65, gross: 990 },
    ]);
    const desk = await openSignedIn(stage(), 'dashboard/payments');
    const row = desk.page.getByRole('row').filter({ hasText: String(paid?.id) });
    await row.filter({ hasText: '€9.94' }).waitFor();
    await desk.page.getByRole('link', { name: 'Offline sales' }).first().click();
    await row.filter({ hasText: '€9.90' }).waitFor();
    await desk.closeClean();
    await till.close();
  } finally {
    await setShop(sandbox, { currency: null, tax_rates: [], default_tax_rate: null });
  }
});

test('a wallet that cannot read prices pays the same sum in USDC', async () => {
  const { sandbox } = stage();
  const wallet = await fundedAccount(sandbox, 100_000_000n);
  await setShop(sandbox, { currency: 'eur' });
  try {
    const till = await openOfflineTill(stage());
    const { page, terminal } = till;
    await till.cut();
    await till.request('9.90');
    await page.getByRole('button', { name: 'Ask for USDC' }).click();
    const field = page.getByRole('textbox', { name: 'Request' });
    await page.waitForFunction(() =>
      [...document.querySelectorAll('input')].some(({ value }) => value.startsWith('TLREQ1')),
    );
    await till.answer(await signRequest(wallet, await field.inputValue()));
    await till.result('Accepted offline').waitFor();
    await till.forward();
    const [paid] = await paymentsOf(sandbox, terminal);
    assert.deepEqual([paid?.presentment, paid?.amount], [null, 10_853_143]);
    await till.close();
  } finally {
    await setShop(sandbox, { currency: null });
  }
});

test('a test till acts as if it had no connection while Simulate offline is on', async () => {
  const till = await openOfflineTill(stage());
  const { page } = till;
  await page.getByRole('link', { name: /^Settings/ }).click();
  const simulate = page.getByRole('switch', { name: 'Simulate offline' });
  await simulate.click();
  await till.result('Offline').waitFor();
  await simulate.click();
  await till.result('Offline').waitFor({ state: 'detached' });
  await till.close();
});
