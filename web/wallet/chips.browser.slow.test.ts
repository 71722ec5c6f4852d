import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { caller } from '#testkit/apis/api-client.ts';
import { haloChip } from '../terminal/counter/virtual-halo-chip.ts';
import { PHONE } from '../testing/browser.ts';
import { addChipDialog, addHeldChip } from '../testing/halo.ts';
import { fund } from '../testing/payer.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal } from '../testing/till.ts';
import { createWallet, walletOf } from '../testing/wallet.ts';

const stage = sharedStage();

const PIN = '4821';

test('a chip is registered, and its limit and block hold at the till', async () => {
  const { sandbox, browser } = stage();
  const account = privateKeyToAccount(generatePrivateKey());
  const wallet = walletOf(await browser.open(PHONE));
  const { page } = wallet;
  await addHeldChip(page, haloChip(account, 'https://example.com/', PIN));
  await page.goto(`${sandbox.web_url}/wallet`);
  await createWallet(wallet);
  await wallet.goTo('Passes');
  await page.getByRole('link', { name: 'Cards with a chip' }).click();
  await wallet.button(/^Register a chip/).click();
  await wallet.field('Chip name').fill('Ring');
  await wallet.field('Maximum per payment').fill('2.00');
  await wallet.checkAccessibility();
  await wallet.button(/^Hold the chip here/).click();
  await wallet.field('Card PIN').fill('0000');
  await wallet.button(/^Use this PIN/).click();
  await wallet.sees('That is not this card’s PIN.');
  await wallet.checkAccessibility();
  await wallet.field('Card PIN').fill(PIN);
  await wallet.button(/^Use this PIN/).click();
  await wallet.button(/^Change Ring/).waitFor();

  await fund(sandbox, account, 20_000_000n);
  const terminal = await addTestTerminal(sandbox);
  const till = caller(`${sandbox.web_url}/api/device/v1`, terminal.deviceKey);
  const pay = async () => {
    const { id } = (await till.post('/payment_intents', { amount: 3_000_000 })).body;
    const path = `/payment_intents/${id}/authorization`;
    const { typed_data } = (await till.get(`${path}?from=${account.address}`)).body;
    const signature = await account.signTypedData(typed_data as never);
    const { body } = await till.post(path, { from: account.address, signature });
    const error = body.last_payment_error as { decline_code?: string } | null;
    return error?.decline_code ?? body.status;
  };
  assert.equal(await pay(), 'limit_exceeded');
  await wallet.button(/^Change Ring/).click();
  await wallet.field('Maximum per payment').fill('');
  await page.getByRole('switch', { name: 'Block this chip' }).click();
  await wallet.checkAccessibility();
  await wallet.button(/^Save chip/).click();
  await page.getByText('Blocked', { exact: true }).waitFor();
  assert.equal(await pay(), 'risk_blocked');
  await wallet.button(/^Change Ring/).click();
  await wallet.button(/^Remove from this wallet/).click();
  await wallet.button(/^Change Ring/).waitFor({ state: 'detached' });
  assert.equal(await pay(), 'succeeded');
  wallet.checkClean();
  await wallet.close();
});

test('on an iPhone each hold of the chip begins with a tap on the screen', async () => {
  const { sandbox, browser } = stage();
  const account = privateKeyToAccount(generatePrivateKey());
  const wallet = walletOf(await browser.open(PHONE));
  const { page } = wallet;
  await addChipDialog(page, haloChip(account, 'https://example.com/'));
  await page.goto(`${sandbox.web_url}/wallet`);
  await createWallet(wallet);
  await wallet.goTo('Passes');
  await page.getByRole('link', { name: 'Cards with a chip' }).click();
  await wallet.button(/^Register a chip/).click();
  await wallet.button(/^Hold the chip here/).click();
  await wallet.button(/^Hold it again/).waitFor();
  await wallet.checkAccessibility();
  await wallet.button(/^Hold it again/).click();
  const ending = account.address.slice(-4);
  await wallet.button(new RegExp(`^Change Chip ending in ${ending}`)).waitFor();
  wallet.checkClean();
  await wallet.close();
});
