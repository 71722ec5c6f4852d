import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTap, writeCard } from '../../reader/src/index.ts';
import { emulatedChip, MAKER_KEY } from '../../reader/test/emulated-ntag424.ts';
import { PHONE } from '../testing/browser.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal } from '../testing/till.ts';
import { readyWallet, tapPass } from '../testing/wallet.ts';
import { answerWith, issuesPassFiles } from '../testing/wallet-shots.ts';

const stage = sharedStage();

test('if the operator issues pass files, the wallet offers them', async () => {
  const { sandbox, browser } = stage();
  const { wallet } = await readyWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  const open = async () => {
    await wallet.button(/^Show code of Keyring/).click();
    await wallet.dialog().waitFor();
  };
  await open();
  assert.equal(await wallet.button(/^Add to/).count(), 0, 'this operator makes none');
  await wallet.button(/^Close/).click();
  // Responds as the service of an operator with certificates for pass files would. This sandbox has
  // none.
  await answerWith(wallet, 'networks', issuesPassFiles);
  await page.reload();
  await page.getByRole('link', { name: 'Passes' }).click();
  await open();
  await wallet.button(/^Add to Google Wallet/).waitFor();
  await wallet.checkAccessibility();
  await wallet.button(/^Add to Apple Wallet/).click();
  await wallet.sees(/does not issue passes for Apple Wallet/);
  await page.unrouteAll({ behavior: 'wait' });
  await wallet.close();
});

test('a code pays once, and a card pays until it is revoked', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { wallet } = await readyWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  await wallet.button(/^Show code of Keyring/).click();
  await wallet.inDialog(/^New code/).click();
  const code = { type: 'qr', value: await wallet.field('Code').inputValue() };
  await page.getByRole('img', { name: 'Code for the till' }).waitFor();
  await wallet.checkAccessibility();
  const first = await tapPass(sandbox, { terminal, credential: code, amount: 1_000_000 });
  assert.equal(first.status, 'succeeded');
  await page.locator('.pass-code').waitFor({ state: 'detached' });
  const again = await tapPass(sandbox, { terminal, credential: code, amount: 1_000_000 });
  assert.equal(again.status, 'requires_payment_method');

  await page.getByRole('link', { name: 'Cards with a chip' }).click();
  await wallet.sees('No cards yet');
  await wallet.button(/^Add card/).click();
  await wallet.field('Card name').fill('Blue card');
  await wallet.inDialog(/^Add card/).click();
  assert.match(await wallet.field('Meta read key').inputValue(), /^[0-9a-f]{32}$/);
  const line = await wallet.field('For tapline-reader').inputValue();
  const chip = emulatedChip();
  assert.equal((await writeCard(chip.transceive, JSON.parse(line), MAKER_KEY)).status, 'written');
  await wallet.checkAccessibility();
  await wallet.button(/^Done/).click();
  const tapCard = async () => {
    const tap = await readTap(chip.transceive, { collector: null, passType: null });
    assert.ok(tap.status === 'read');
    return tapPass(sandbox, { terminal, credential: tap.credential, amount: 2_000_000 });
  };
  assert.equal((await tapCard()).status, 'succeeded');
  await wallet.button(/^Change Blue card/).click();
  await wallet.field('Maximum per payment (USDC)').fill('1.50');
  await wallet.button(/^Change card/).click();
  await wallet.sees('1.50');
  assert.equal((await tapCard()).status, 'requires_payment_method', 'above its limit');
  await wallet.button(/^Revoke Blue card/).click();
  await wallet.button(/^Revoke card/).click();
  await page.getByText('Revoked', { exact: true }).waitFor();
  await wallet.checkAccessibility();
  wallet.checkClean();
  await wallet.close();
});
