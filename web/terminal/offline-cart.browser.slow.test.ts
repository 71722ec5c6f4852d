import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openOfflineTill, signRequest } from '../testing/offline.ts';
import { fundedAccount } from '../testing/payer.ts';
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
  // 10 % of 11.00 is 1.10: 0.70 for the coffees, and 0.40 for the cake in addition to its own 0.20.
  assert.deepEqual(
    lines.map(({ name, quantity, unit_amount, discount }) => [
      name,
      Number(quantity),
      unit_amount,
      discount,
    ]),
    [
      ['Flat white', 2, 3_500_000, 700_000],
      ['Cheesecake', 1, 4_200_000, 600_000],
    ],
  );
  assert.deepEqual([intent?.amount, intent?.status], [9_900_000, 'succeeded']);
  const [paid] = await paymentsOf(sandbox, terminal);
  assert.equal(paid?.amount, 9_900_000);
  const receipt = await (await fetch(`${paid?.receipt_url}.json`)).json();
  assert.deepEqual((receipt as { taxes: unknown }).taxes, [
    { rate: 700, net: 9_252_336, tax: 647_664, gross: 9_900_000 },
  ]);
  await till.close();
});

test('a shop in another currency sells nothing offline, and the till says so', async () => {
  const { sandbox } = stage();
  await setShop(sandbox, { currency: 'eur' });
  try {
    const till = await openOfflineTill(stage());
    const { page } = till;
    await till.cut();
    await till.amount.fill('2.50');
    await till.charge.click();
    await page.getByRole('alert').filter({ hasText: 'Offline sales must be in USDC' }).waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Request' }).count(), 0);
    assert.equal(await page.getByText(/sales? waits?/).count(), 0);
    await till.close();
  } finally {
    await setShop(sandbox, { currency: null });
  }
});
