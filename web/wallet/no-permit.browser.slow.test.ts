import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectRpc } from '#sandbox/json-rpc.ts';
import { spawnNetwork, temporaryDataDir } from '#testkit/network/spawn-network.ts';
import { takePermit } from '#testkit/network/token-without-permit.ts';
import { openBrowser, PHONE } from '../testing/browser.ts';
import { giveCoins, passToNode } from '../testing/browser-wallet.ts';
import { addTestTerminal } from '../testing/till.ts';
import {
  addPass,
  createWallet,
  fundWallet,
  openWallet,
  tapPass,
  WALLET_PASSWORD,
} from '../testing/wallet.ts';

test('without permits in USDC, the wallet names the missing gas, approves, and pays', async (t) => {
  const folder = await temporaryDataDir();
  const first = await spawnNetwork({ dataDir: folder.path });
  const { rpc_url, usdc } = first.sandbox.test;
  // The chain continues with another token, which the next start detects.
  await first.kill();
  await takePermit({ rpc: { call: connectRpc(rpc_url) }, usdc });
  const network = await spawnNetwork({ dataDir: folder.path });
  const browser = await openBrowser();
  t.after(async () => {
    await browser.close();
    await network.stop();
    await folder.remove();
  });
  const { sandbox } = network;

  const wallet = await openWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  await createWallet(wallet);
  await fundWallet(wallet);
  const agree = wallet.inDialog(/^Allow payments/);
  await wallet.button(/^Allow payments/).click();
  await agree.click();
  await wallet.sees(/there is no node to send it/);
  await wallet.checkAccessibility();

  await passToNode(page, sandbox);
  await page.reload();
  await wallet.button(/^Allow payments/).click();
  // The key has been encrypted again since the page was loaded.
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await agree.click();
  await wallet.sees(
    /The wallet needs 0\.\d+ of the network’s own coin and has 0\. Add some to the wallet first/,
  );
  await wallet.checkAccessibility();
  await giveCoins(page, sandbox);
  await agree.click();
  await wallet.sees('Ready to pay');
  const pass = await addPass(wallet, 'Keyring');
  const terminal = await addTestTerminal(sandbox);
  const paid = await tapPass(sandbox, { terminal, pass, amount: 2_500_000 });
  assert.equal(paid.status, 'succeeded');
  wallet.checkClean();
  await wallet.close();
});
