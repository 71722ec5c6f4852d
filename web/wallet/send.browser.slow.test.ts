import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE } from '../testing/browser.ts';
import { addressIn, giveCoins, passToNode } from '../testing/browser-wallet.ts';
import { rpc } from '../testing/payer.ts';
import { sharedStage } from '../testing/stage.ts';
import { createWallet, fundWallet, openWallet, WALLET_PASSWORD } from '../testing/wallet.ts';
import { answerWith } from '../testing/wallet-shots.ts';

const stage = sharedStage();

/** Returns this address's on-chain balance in atoms. */
async function balanceOf(address: string): Promise<bigint> {
  const { sandbox } = stage();
  const data = `0x70a08231${address.slice(2).padStart(64, '0')}`;
  const call = [{ to: sandbox.test.usdc, data }, 'latest'];
  return BigInt(String(await rpc(sandbox, 'eth_call', call)));
}

/** An unused address, with a valid checksum. */
const FRIEND = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const SEND_BUTTON = { name: /^Send 2\.50 USDC/ };

test('sending USDC takes two clicks, checks the address, and never pays twice', async () => {
  const { sandbox, browser } = stage();
  const wallet = await openWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  await createWallet(wallet);
  await fundWallet(wallet);
  const before = await balanceOf(FRIEND);
  await wallet.button(/^Send$/).click();
  await wallet.field('Amount (USDC)').fill('2.50');
  const own = await addressIn(page);
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['hello', /isn’t a valid address/],
    [FRIEND.replace('F79', 'f79'), /isn’t a valid address/],
    [sandbox.test.usdc, /the token’s own contract/],
    [sandbox.test.settlement, /this network’s contract/],
    [own, /this wallet’s own address/],
  ];
  for (const [address, words] of wrong) {
    await wallet.field('Recipient').fill(address);
    await wallet.button(/^Review/).click();
    await wallet.sees(words);
  }
  await wallet.field('Recipient').fill(FRIEND);
  await wallet.field('Amount (USDC)').fill('100.01');
  await wallet.button(/^Review/).click();
  await wallet
    .dialog()
    .getByText('Not enough: this wallet holds 100.00 USDC.', { exact: true })
    .waitFor();
  await wallet.field('Amount (USDC)').fill('2.50');
  await wallet.button(/^Review/).click();
  await wallet.sees('None: the network pays the gas');
  await wallet.checkAccessibility();
  await page.getByRole('button', SEND_BUTTON).click();
  await wallet.sees('That isn’t this wallet’s password.');
  assert.equal(await balanceOf(FRIEND), before, 'an open wallet asks again');
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  // Loses the response. A user who returns finds the same transfer, and does not send a second one.
  let lost = 0;
  await wallet.context.route('**/transfers', async (route) => {
    await route.fetch();
    lost++;
    await route.abort();
  });
  await page.getByRole('button', SEND_BUTTON).click();
  await wallet.sees(/^On its way/);
  while (lost === 0) await page.waitForTimeout(50);
  await wallet.context.unroute('**/transfers');
  await page.reload();
  await wallet.button(/^Send$/).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByLabel('Balance').getByText('97.50').waitFor();
  assert.equal((await balanceOf(FRIEND)) - before, 2_500_000n);
  await wallet.close();
});

test('without a sponsor the wallet pays the gas, and reports when it has no coin', async () => {
  const { sandbox, browser } = stage();
  const wallet = await openWallet(browser, sandbox);
  const { page } = wallet;
  await passToNode(page, sandbox);
  await createWallet(wallet);
  await fundWallet(wallet);
  await answerWith(wallet, 'approvals', (body) => ({ ...body, gasless: null }));
  await page.reload();
  const before = await balanceOf(FRIEND);
  const review = async () => {
    await wallet.button(/^Send$/).click();
    await wallet.field('Recipient').fill(FRIEND);
    await wallet.field('Amount (USDC)').fill('2.50');
    await wallet.button(/^Review/).click();
  };
  await review();
  await wallet.sees(/holds 0 of the chain’s coin/);
  assert.equal(await page.getByRole('button', SEND_BUTTON).count(), 0);
  await wallet.button(/^Edit/).click();
  assert.equal(await wallet.field('Recipient').inputValue(), FRIEND, 'what was typed is kept');
  assert.equal(await wallet.field('Amount (USDC)').inputValue(), '2.50');
  await wallet.button(/^Not now/).click();
  await giveCoins(page, sandbox);
  await review();
  await wallet.sees(/^At most 0\.\d+ of the chain’s coin/);
  await wallet.checkAccessibility();
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await page.getByRole('button', SEND_BUTTON).click();
  await wallet.sees('Sent. It has left the wallet.');
  assert.equal((await balanceOf(FRIEND)) - before, 2_500_000n);
  await wallet.close();
});
