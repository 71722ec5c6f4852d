import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE } from '../testing/browser.ts';
import { giveCoins, passToNode } from '../testing/browser-wallet.ts';
import { rpc } from '../testing/payer.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal } from '../testing/till.ts';
import { readyWallet, tapPass, WALLET_PASSWORD, type WalletWindow } from '../testing/wallet.ts';

const stage = sharedStage();

/** Opens the page without the service, from the service worker's cache. */
async function openWithoutService({ page, context }: WalletWindow): Promise<void> {
  const isKept = () => navigator.serviceWorker.controller !== null;
  await page.waitForFunction(isKept);
  await context.route('**/*', (route) => route.abort());
  await page.goto(`${stage().sandbox.web_url}/wallet/take-back`);
  await page.getByRole('heading', { name: 'Without this service' }).waitFor();
}

test('the browser wallet’s node shows the allowance, and revokes it', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { wallet, pass } = await readyWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  await passToNode(page, sandbox);
  await openWithoutService(wallet);
  await wallet.button(/^Check the chain/).click();
  await wallet.sees('1,000.00');
  await wallet.sees('The wallet holds less. Send it some first.');
  await wallet.checkAccessibility();
  await giveCoins(page, sandbox);
  await wallet.button(/^Check the chain again/).click();
  await wallet.page.getByText('0.1', { exact: true }).waitFor();
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await wallet.button(/^Sign the transaction/).click();
  await wallet.button(/^Send it with my browser wallet/).click();
  await wallet.sees(/On its way: 0x/);
  // The allowance is unchanged until the transaction is in a block.
  const nothing = page.getByRole('definition').getByText(/^0.00/);
  for (let tries = 0; tries < 60 && (await nothing.count()) === 0; tries++) {
    await wallet.button(/^Check the chain again/).click();
    await page.waitForTimeout(500);
  }
  await nothing.waitFor();
  const refused = await tapPass(sandbox, { terminal, pass, amount: 1_000_000 });
  assert.equal(refused.status, 'requires_payment_method', 'nothing is taken any more');
  await wallet.close();
});

test('a public node shows the allowance if there is no browser wallet', async () => {
  const { sandbox, browser } = stage();
  const { wallet } = await readyWallet(browser, sandbox);
  const { page } = wallet;
  // Simulates a node of the operator, on the page's own origin because of the CSP.
  const node = `${sandbox.web_url}/node-of-the-test`;
  await page.evaluate((url) => {
    const name = 'tapline.wallet.chains';
    const { testnet } = JSON.parse(localStorage.getItem(name) ?? '{}');
    localStorage.setItem(name, JSON.stringify({ testnet: { ...testnet, rpcUrl: url } }));
  }, node);
  await openWithoutService(wallet);
  await wallet.context.route(node, async (route) => {
    const { method, params } = route.request().postDataJSON();
    await route.fulfill({
      json: { jsonrpc: '2.0', id: 1, result: await rpc(sandbox, method, params) },
    });
  });
  await wallet.sees(/a node that this service does not run/);
  await wallet.button(/^Check the chain/).click();
  await wallet.sees('1,000.00');
  await wallet.checkAccessibility();
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await wallet.button(/^Sign the transaction/).click();
  await wallet.button(/^Send it to the public node/).waitFor();
  await wallet.close();
});

test('without a browser wallet the signed transaction can be copied', async () => {
  const { sandbox, browser } = stage();
  const { wallet } = await readyWallet(browser, sandbox);
  const { page } = wallet;
  await giveCoins(page, sandbox);
  await openWithoutService(wallet);
  await wallet.sees(/look up the token in a block explorer/);
  await wallet.field('Transactions sent so far').fill('no idea');
  await wallet.sees('Enter a whole number such as 0 or 12.');
  await wallet.field('Transactions sent so far').fill('0');
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await wallet.button(/^Sign the transaction/).click();
  const raw = await wallet.field('Signed transaction').inputValue();
  await wallet.checkAccessibility();
  const hash = await rpc(sandbox, 'eth_sendRawTransaction', [raw]);
  await page.waitForTimeout(2_500);
  const receipt = (await rpc(sandbox, 'eth_getTransactionReceipt', [hash])) as {
    status: string;
    gasUsed: string;
  };
  assert.equal(receipt.status, '0x1');
  assert.ok(BigInt(receipt.gasUsed) <= 80_000n, `${BigInt(receipt.gasUsed)} gas`);
  await wallet.close();
});
